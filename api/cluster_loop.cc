#include "api/cluster_loop.h"

#include <algorithm>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::api {
namespace {

absl::Status StoreFails(const absl::Status& cause) {
  return model::Unavailable(absl::StrFormat(
      "nothing can be changed while the store fails: %s; reads go on, and writes are "
      "taken again as soon as it works",
      std::string(cause.message())));
}

absl::Status QueueFull(size_t queue_max) {
  return model::Unavailable(absl::StrFormat(
      "the server is busy: %d calls are waiting already; try again later", queue_max));
}

absl::Status ShuttingDown() { return model::Unavailable("the server is shutting down"); }

}  // namespace

ClusterLoop::ClusterLoop(Parts parts, const LoopLimits& limits)
    : limits_(limits),
      state_(std::move(parts.state)),
      ids_(parts.ids),
      clock_(std::move(parts.clock)),
      committer_(parts.store, parts.effects, parts.metrics, limits, state_.change_number()),
      thread_([this] { Run(); }) {}

void ClusterLoop::Wake::Call(Wake wake) { net::post(wake.executor, *std::move(wake.handler)); }

net::awaitable<void> ClusterLoop::Pass(LoopJob& job, Wake& wake) {
  auto initiation = [this, &job, &wake](auto handler) {
    const net::any_io_executor executor = net::get_associated_executor(handler);
    wake.executor = net::prefer(executor, net::execution::outstanding_work.tracked);
    wake.handler.emplace(std::move(handler));
    if (Enqueue(&job)) return;
    const bool stopping = [this] {
      absl::MutexLock lock(&mutex_);
      return stopping_;
    }();
    job.Refuse(stopping ? ShuttingDown() : QueueFull(limits_.queue_max));
    job.Release();
  };
  co_await net::async_initiate<const net::use_awaitable_t<>&, void()>(std::move(initiation),
                                                                      net::use_awaitable);
}

bool ClusterLoop::Enqueue(LoopJob* job) {
  absl::MutexLock lock(&mutex_);
  if (stopping_ || queue_.size() >= limits_.queue_max) return false;
  queue_.push_back(job);
  if (queue_.size() == 1) arrived_.Signal();
  return true;
}

size_t ClusterLoop::queue_length() const {
  absl::MutexLock lock(&mutex_);
  return queue_.size();
}

void ClusterLoop::Run() {
  absl::Time next_tick = absl::Now() + limits_.tick_interval;
  while (true) {
    if (committer_.IsFull()) committer_.AwaitRoom(next_tick);
    LoopJob* job = committer_.IsFull() ? nullptr : NextJob(next_tick);
    if (job != nullptr) DecideJob(job);
    if (absl::Now() >= next_tick) {
      TickOnce();
      next_tick = absl::Now() + limits_.tick_interval;
    }
    if (job == nullptr) {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
    }
  }
}

// The oldest that waits, or null at `wake_at` or when stopping.
LoopJob* ClusterLoop::NextJob(absl::Time wake_at) {
  absl::MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) {
    if (arrived_.WaitWithDeadline(&mutex_, wake_at)) break;
  }
  if (queue_.empty() || stopping_) return nullptr;
  LoopJob* job = queue_.front();
  queue_.pop_front();
  return job;
}

void ClusterLoop::DecideJob(LoopJob* job) {
  if (!job->reads_only()) {
    if (const absl::Status health = committer_.health(); !health.ok()) {
      job->Refuse(StoreFails(health));
      job->Release();
      return;
    }
  }
  // Never backwards, whatever the machine's clock does.
  latest_ = std::max(latest_, clock_());
  LoopJob::Decided decided = job->Decide(state_, {.now = latest_, .ids = ids_});
  committer_.Add(job, std::move(decided), state_.change_number());
}

void ClusterLoop::TickOnce() {
  committer_.RefuseOverdue(absl::Now());
  const auto nothing = [](const auto&) {};
  DecideJob(new DetachedJob<scheduler::Tick, decltype(nothing)>({}, nothing));
}

void ClusterLoop::Stop() {
  absl::MutexLock one_at_a_time(&stop_mutex_);
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    arrived_.SignalAll();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  committer_.Stop();

  std::deque<LoopJob*> rest;
  {
    absl::MutexLock lock(&mutex_);
    rest.swap(queue_);
  }
  for (LoopJob* job : rest) {
    job->Refuse(ShuttingDown());
    job->Release();
  }
}

}  // namespace berth::api

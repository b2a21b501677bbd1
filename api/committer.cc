#include "api/committer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/errors.h"

namespace berth::api {

Committer::Committer(storage::Store& store, EffectSink& effects, Metrics& metrics,
                     const LoopLimits& limits, uint64_t durable_change)
    : store_(store),
      effects_(effects),
      metrics_(metrics),
      limits_(limits),
      durable_(durable_change),
      thread_([this] { Run(); }) {}

void Committer::Add(LoopJob* job, LoopJob::Decided decided, uint64_t newest_change) {
  const bool changed = !decided.changes.empty();
  {
    absl::MutexLock lock(&mutex_);
    BERTH_CHECK(!stopping_);
    if (changed) {
      if (gathering_.empty() || gathering_.back().changes.size() >= limits_.batch_changes_max) {
        gathering_.emplace_back();
      }
      Batch& batch = gathering_.back();
      uncommitted_ += decided.changes.size();
      batch.newest_change = newest_change;
      if (batch.changes.empty()) {
        batch.changes = std::move(decided.changes);
      } else {
        std::move(decided.changes.begin(), decided.changes.end(),
                  std::back_inserter(batch.changes));
      }
      added_.Signal();
    }
    if (Batch* batch = CoveringBatch(changed ? newest_change : decided.saw_change)) {
      std::move(decided.effects.begin(), decided.effects.end(), std::back_inserter(batch->effects));
      const absl::Duration patience =
          job->reads_only() ? limits_.read_wait_max : limits_.write_wait_max;
      batch->waiters.push_back({job, absl::Now() + patience});
      return;
    }
  }
  for (scheduler::Effect& effect : decided.effects) effects_.Deliver(std::move(effect));
  job->Release();
}

// The batch whose commit makes `change` durable; null when it is.
Committer::Batch* Committer::CoveringBatch(uint64_t change) {
  if (change <= durable_) return nullptr;
  if (committing_ && change <= in_flight_.newest_change) return &in_flight_;
  for (Batch& batch : gathering_) {
    if (change <= batch.newest_change) return &batch;
  }
  BERTH_CHECK(false);  // A reply saw a change that was never handed over.
}

absl::Status Committer::health() const {
  absl::MutexLock lock(&mutex_);
  return health_;
}

bool Committer::IsFull() const {
  absl::MutexLock lock(&mutex_);
  return Full();
}

void Committer::AwaitRoom(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  while (Full()) {
    if (progress_.WaitWithDeadline(&mutex_, deadline)) return;
  }
}

void Committer::RefuseOverdue(absl::Time now) {
  std::vector<Waiter> overdue;
  absl::Status why;
  {
    absl::MutexLock lock(&mutex_);
    const auto take = [&](Batch& batch) {
      const auto late = std::partition(batch.waiters.begin(), batch.waiters.end(),
                                       [&](const Waiter& waiter) { return waiter.deadline > now; });
      overdue.insert(overdue.end(), late, batch.waiters.end());
      batch.waiters.erase(late, batch.waiters.end());
    };
    if (committing_) take(in_flight_);
    for (Batch& batch : gathering_) take(batch);
    why = health_;
  }
  if (overdue.empty()) return;
  const std::string cause = why.ok() ? "it has not answered yet" : std::string(why.message());
  for (const Waiter& waiter : overdue) {
    waiter.job->Refuse(model::Unavailable(
        waiter.job->reads_only()
            ? absl::StrFormat(
                  "the answer would show changes that the store does not have yet (%s); "
                  "try again later",
                  cause)
            : absl::StrFormat("the change is decided, but the store does not have it yet (%s); "
                              "repeat the call later to learn whether it took effect",
                              cause)));
    waiter.job->Release();
  }
}

void Committer::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      while (gathering_.empty() && !stopping_) added_.Wait(&mutex_);
      if (gathering_.empty()) return;
      in_flight_ = std::move(gathering_.front());
      gathering_.pop_front();
      committing_ = true;
    }
    if (!CommitUntilItWorks()) {
      Abandon();
      return;
    }
    Complete();
  }
}

bool Committer::CommitUntilItWorks() {
  absl::Duration delay = limits_.store_retry_first;
  bool last_try = false;
  while (true) {
    const absl::Time begin = absl::Now();
    const absl::Status status = store_.Commit(in_flight_.changes);
    if (status.ok()) {
      metrics_.CountCommit(in_flight_.changes.size(), absl::Now() - begin);
      absl::MutexLock lock(&mutex_);
      if (!health_.ok()) spdlog::info("the store works again; {} changes are kept", uncommitted_);
      health_ = absl::OkStatus();
      return true;
    }
    metrics_.CountFailedCommit();

    absl::MutexLock lock(&mutex_);
    if (health_.ok()) {
      spdlog::error("the store fails: {}; writes are refused until it works again",
                    std::string(status.message()));
    }
    health_ = status;
    progress_.SignalAll();
    if (last_try) return false;
    const absl::Time again = absl::Now() + delay;
    while (!stopping_ && !added_.WaitWithDeadline(&mutex_, again)) {
    }
    last_try = stopping_;
    delay = std::min(delay * 2, limits_.store_retry_max);
  }
}

// Effects go before replies, and durable_ moves in between: whoever is told that a task should run
// or stop has then been preceded by every effect on that task.
void Committer::Complete() {
  for (const model::Change& change : in_flight_.changes) effects_.Observe(change);
  std::vector<Waiter> waiters;
  mutex_.Lock();
  while (!in_flight_.effects.empty()) {
    std::vector<scheduler::Effect> effects = std::exchange(in_flight_.effects, {});
    mutex_.Unlock();
    for (scheduler::Effect& effect : effects) effects_.Deliver(std::move(effect));
    mutex_.Lock();
  }
  durable_ = in_flight_.newest_change;
  uncommitted_ -= in_flight_.changes.size();
  committing_ = false;
  waiters = std::exchange(in_flight_.waiters, {});
  progress_.SignalAll();
  mutex_.Unlock();

  for (const Waiter& waiter : waiters) waiter.job->Release();
  in_flight_ = {};
}

void Committer::Abandon() {
  std::vector<Waiter> waiters;
  size_t lost = 0;
  absl::Status why;
  {
    absl::MutexLock lock(&mutex_);
    why = health_;
    lost = uncommitted_;
    waiters = std::exchange(in_flight_.waiters, {});
    for (Batch& batch : gathering_) {
      waiters.insert(waiters.end(), batch.waiters.begin(), batch.waiters.end());
    }
    gathering_.clear();
    committing_ = false;
  }
  // None of them was acknowledged to anyone.
  spdlog::error("stopped while the store fails ({}): {} changes are not kept",
                std::string(why.message()), lost);
  for (const Waiter& waiter : waiters) {
    waiter.job->Refuse(model::Unavailable(absl::StrFormat(
        "the server stopped and the store failed: %s", std::string(why.message()))));
    waiter.job->Release();
  }
}

void Committer::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    added_.SignalAll();
    progress_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace berth::api

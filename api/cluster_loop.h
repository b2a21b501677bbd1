// The cluster loop: one thread that owns scheduler::State, fed through a bounded queue, and the
// committer behind it: one thread that makes changes durable in groups, then releases the replies
// and effects that waited for them (architecture section 2).
//
// While the store fails, commands that change something are refused with its words, and reads of
// what is durable go on.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/committer.h"
#include "api/limits.h"
#include "api/loop_job.h"
#include "api/metrics.h"
#include "api/net.h"
#include "model/ids.h"
#include "scheduler/state.h"
#include "storage/store.h"

namespace berth::api {

class ClusterLoop {
 public:
  // What it works with. All but the state outlive it.
  struct Parts {
    scheduler::State state;
    model::IdSource& ids;  // used by the loop's thread alone
    storage::Store& store;
    EffectSink& effects;
    Metrics& metrics;
    std::function<absl::Time()> clock = absl::Now;
  };

  explicit ClusterLoop(Parts parts, const LoopLimits& limits = {});
  ~ClusterLoop() { Stop(); }

  // Resumes on the caller's executor, after the commit: what the reply says survives a crash.
  // Unavailable when the queue is full, the store fails (for commands that change), or at shutdown.
  //
  // Trap (style.md 15): build the command on the line before and std::move it in.
  template <class Command>
  net::awaitable<absl::StatusOr<typename Command::Reply>> Submit(Command command) {
    AwaitedJob<Command> job(std::move(command));
    co_await Pass(job, job.wake);
    co_return std::move(job.reply());
  }

  // The same for callers that are no coroutine: `done` gets the reply on one of the loop's threads,
  // so it must be quick. False, and `done` is never called, when the queue is full or at shutdown.
  template <class Command, class Done>
  bool Post(Command command, Done done) {
    auto* job = new DetachedJob<Command, Done>(std::move(command), std::move(done));
    if (Enqueue(job)) return true;
    delete job;
    return false;
  }

  // As Post for a job that is the caller's own. It stays the caller's when false comes back.
  bool Enqueue(LoopJob* job);

  // OK, or why writes are refused at the moment.
  absl::Status health() const { return committer_.health(); }
  size_t queue_length() const;

  // Commits what is decided and refuses the rest. Every Submit has been answered when it returns,
  // though its coroutine may not have run yet. From any thread but the loop's own; may be repeated.
  void Stop();

 private:
  // Wakes a coroutine on its own executor, which has work until then.
  // (Not asio's any_completion_handler: in Boost 1.81 moving one recurses without end.)
  struct Wake {
    using Handler = net::async_result<net::use_awaitable_t<>, void()>::handler_type;
    std::optional<Handler> handler = {};
    net::any_io_executor executor = {};  // with outstanding work
    // By value: once posted, the frame that held it may be gone.
    static void Call(Wake wake);
  };

  // Lives in the frame of the coroutine that waits for it: a command costs no allocation of its
  // own.
  template <class Command>
  struct AwaitedJob final : CommandJob<Command> {
    using CommandJob<Command>::CommandJob;
    void Release() override { Wake::Call(std::move(wake)); }
    Wake wake = {};
  };

  // Enqueues the job, or refuses it at once, and resumes when it is released.
  net::awaitable<void> Pass(LoopJob& job, Wake& wake);

  void Run();
  LoopJob* NextJob(absl::Time wake_at);
  void DecideJob(LoopJob* job);
  void TickOnce();

  const LoopLimits limits_;
  scheduler::State state_;
  model::IdSource& ids_;
  const std::function<absl::Time()> clock_;
  absl::Time latest_ = absl::InfinitePast();

  mutable absl::Mutex mutex_;
  absl::CondVar arrived_;  // or stopping
  std::deque<LoopJob*> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  absl::Mutex stop_mutex_;  // one Stop at a time
  Committer committer_;
  std::thread thread_;
};

}  // namespace berth::api

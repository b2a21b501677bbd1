// Commands that the server gives the loop of its own accord: reports of emulated agents,
// acknowledgements. None is lost: what the loop has no room for waits here, and what it refuses as
// Unavailable (the store fails) is given again. Only so many are in the loop at a time, so that
// clients find room there.
//
// The backlog holds at most a few commands per task, so its bound is the number of tasks.
// Thread-safe. It outlives the loop's work: stop it, then the loop.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "api/cluster_loop.h"
#include "api/limits.h"
#include "api/loop_job.h"
#include "api/net.h"
#include "model/errors.h"

namespace berth::api {

class CommandPump {
 public:
  CommandPump(net::any_io_executor executor, ClusterLoop& loop, const PumpLimits& limits)
      : loop_(loop), limits_(limits), timer_(std::move(executor)) {}

  // `done` gets the reply on one of the loop's threads, so it must be quick; it may push more.
  template <class Command, class Done>
  void Push(Command command, Done done) {
    Give(std::make_unique<Job<Command, Done>>(*this, std::move(command), std::move(done)));
  }
  template <class Command>
  void Push(Command command) {
    Push(std::move(command), [](const absl::StatusOr<typename Command::Reply>&) {});
  }

  size_t backlog() const;
  // Forgets what waits, and gives nothing more.
  void Stop();

 private:
  template <class Command, class Done>
  class Job final : public CommandJob<Command> {
   public:
    Job(CommandPump& pump, Command command, Done done)
        : CommandJob<Command>(std::move(command)), pump_(pump), done_(std::move(done)) {}

    void Release() override {
      std::unique_ptr<LoopJob> self(this);
      if (!this->reply().ok() &&
          model::KindOf(this->reply().status()) == model::ErrorKind::kUnavailable) {
        pump_.TakeBack(std::move(self));
        return;
      }
      done_(std::move(this->reply()));
      pump_.Finished();
    }

   private:
    CommandPump& pump_;
    Done done_;
  };

  void Give(std::unique_ptr<LoopJob> job);
  void TakeBack(std::unique_ptr<LoopJob> job);
  void Finished();
  void Fill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Rest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ClusterLoop& loop_;
  const PumpLimits limits_;

  mutable absl::Mutex mutex_;
  net::steady_timer timer_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<LoopJob>> backlog_ ABSL_GUARDED_BY(mutex_);
  size_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  bool resting_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace berth::api

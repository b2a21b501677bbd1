// One command on its way through the cluster loop: queued, decided, waiting for the commit that
// covers it, released with its reply.
//
// Owned by whoever made it; it must live until Release, which is the last thing done with it. Each
// step happens on one thread at a time, handed on under a lock.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/change.h"
#include "scheduler/decide.h"

namespace berth::api {

class LoopJob {
 public:
  struct Decided {
    std::vector<model::Change> changes = {};
    std::vector<scheduler::Effect> effects = {};
    uint64_t saw_change = 0;
  };

  explicit LoopJob(bool reads_only) : reads_only_(reads_only) {}
  virtual ~LoopJob() = default;
  LoopJob(const LoopJob&) = delete;
  LoopJob& operator=(const LoopJob&) = delete;

  bool reads_only() const { return reads_only_; }

  // Keeps the reply until Release.
  virtual Decided Decide(scheduler::State& state, scheduler::Context context) = 0;
  // Makes `why` the reply instead. Release follows.
  virtual void Refuse(absl::Status why) = 0;
  // Hands the reply over, on any thread. The job may be gone when it returns.
  virtual void Release() = 0;

 private:
  const bool reads_only_;
};

// The command's Decide is found by its argument, in whichever header of scheduler/ it stands.
template <class Command>
auto DecideOne(scheduler::State& state, const Command& command, scheduler::Context context) {
  return Decide(state, command, context);
}

template <class Command>
class CommandJob : public LoopJob {
 public:
  using Reply = absl::StatusOr<typename Command::Reply>;

  explicit CommandJob(Command command)
      : LoopJob(scheduler::kReadsOnly<Command>), command_(std::move(command)) {}

  Decided Decide(scheduler::State& state, scheduler::Context context) final {
    auto outcome = DecideOne(state, command_, context);
    reply_ = std::move(outcome.reply);
    return {.changes = std::move(outcome.changes),
            .effects = std::move(outcome.effects),
            .saw_change = outcome.saw_change};
  }

  void Refuse(absl::Status why) final { reply_ = std::move(why); }

  Reply& reply() { return reply_; }

 private:
  Command command_;
  Reply reply_ = absl::InternalError("not decided yet");
};

// A job of its own, on the heap, that calls `done` with the reply and is gone.
template <class Command, class Done>
class DetachedJob final : public CommandJob<Command> {
 public:
  DetachedJob(Command command, Done done)
      : CommandJob<Command>(std::move(command)), done_(std::move(done)) {}

  void Release() override {
    done_(std::move(this->reply()));
    delete this;
  }

 private:
  Done done_;
};

}  // namespace berth::api

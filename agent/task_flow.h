// One task on this instance, from its payload to STOPPED. Carries out what PlanNext decides, each
// call to the runtime in a coroutine of its own, and plans again when one has ended.
//
// Each task is a flow of its own, so that stopping one never waits for another. One thread, the
// agent's. Kept alive by its owner and by the calls under way. Calls `changed` after each change
// that must be kept or reported.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "agent/net.h"
#include "agent/payload.h"
#include "agent/runtime.h"
#include "agent/task_plan.h"
#include "agent/task_state.h"

namespace berth::agent {

class TaskFlow : public std::enable_shared_from_this<TaskFlow> {
 public:
  struct Settings {
    absl::Duration stop_timeout = absl::Seconds(30);
    absl::Duration health_interval = absl::Seconds(1);  // while somebody waits for it
    absl::Duration stop_retry = absl::Seconds(5);       // after a stop that failed
    absl::Duration tear_down_retry_max = absl::Minutes(1);
    bool quiet = false;  // the ordinary course of a task is logged for debugging only
  };

  TaskFlow(net::any_io_executor executor, TaskPtr task, TaskState state,
           std::shared_ptr<Runtime> runtime, Settings settings, std::function<void()> changed);

  // Begins or, after a restart, goes on. Watches the containers that run.
  void Begin();
  // The server wants it stopped. `reason` is for the log.
  void RequestStop(std::string_view reason);

  // It cannot go on, through no doing of its containers.
  void Fail(const std::string& reason);

  const TaskPayload& task() const { return *task_; }
  const TaskPtr& task_ptr() const { return task_; }
  const TaskState& state() const { return state_; }
  // The server has acknowledged its end.
  bool is_told_stopped() const { return state_.reported == model::TaskStatus::kStopped; }
  // For the reporter and the cleaner, which note in it what they have done.
  TaskState& mutable_state() { return state_; }

 private:
  void Step();
  bool Apply(const Plan& plan);
  void Perform(const Action& action);
  void WakeAt(absl::Time time);
  void WatchContainer(size_t i);
  void OnEnded(size_t i, ContainerExit exit);
  void FailContainer(size_t i, std::string reason);

  net::awaitable<void> Prepare();
  net::awaitable<void> Pull(size_t i);
  net::awaitable<void> Create(size_t i);
  net::awaitable<void> Start(size_t i);
  net::awaitable<void> Stop(size_t i);
  net::awaitable<void> CheckHealth(size_t i);
  net::awaitable<void> TearDown();
  bool MayStillRun() const;
  net::awaitable<void> Wake(absl::Time time);

  net::any_io_executor executor_;
  const TaskPtr task_;
  TaskState state_;
  const std::shared_ptr<Runtime> runtime_;
  const Settings settings_;
  const std::function<void()> changed_;

  bool begun_ = false;
  bool stepping_ = false;
  bool step_again_ = false;
  bool tearing_down_ = false;
  bool torn_down_ = false;
  std::vector<bool> checking_health_;
  absl::Time wake_at_ = absl::InfiniteFuture();
};

// The state of a task that was under way when the agent ended, from what it wrote down and what is
// there now. In-between phases fall back to the last that is certain.
void AdoptContainers(const TaskPayload& task, const std::vector<FoundContainer>& found,
                     absl::Time now, TaskState& state);

}  // namespace berth::agent

#include "agent/task_plan.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace berth::agent {

namespace {

using model::DependencyCondition;

enum class Readiness { kMet, kNotYet, kNever };

bool IsStopped(const ContainerState& container) { return container.phase == Phase::kStopped; }

// Whether a dependency holds, may hold later, or cannot hold any more.
Readiness Judge(DependencyCondition condition, const ContainerState& target) {
  const bool ended = IsStopped(target);
  switch (condition) {
    case DependencyCondition::kStart:
      if (target.has_run) return Readiness::kMet;
      break;
    case DependencyCondition::kComplete:
      if (ended && target.has_run) return Readiness::kMet;
      break;
    case DependencyCondition::kSuccess:
      if (ended && target.has_run && target.exit_code == 0) return Readiness::kMet;
      break;
    case DependencyCondition::kHealthy:
      if (!ended && target.health == model::HealthStatus::kHealthy) return Readiness::kMet;
      break;
  }
  return ended ? Readiness::kNever : Readiness::kNotYet;
}

std::string DescribeUnmet(const std::string& waiting, const std::string& target_name,
                          DependencyCondition condition, const ContainerState& target) {
  std::string what = "it could not be started";
  if (target.has_run) {
    what = target.exit_code ? absl::StrFormat("it ended with exit code %d", *target.exit_code)
                            : std::string("it ended");
  }
  return absl::StrFormat(
      "TaskDependencyError: container %s waits for container %s to reach %s, but %s", waiting,
      target_name, std::string(model::ToString(condition)), what);
}

// The moment at which waiting for `target` becomes hopeless: its startTimeout, counted from its
// start. START is met by then, and has no timeout.
absl::Time StartDeadline(const ContainerPayload& target, const ContainerState& state) {
  if (!target.start_timeout || !state.has_run) return absl::InfiniteFuture();
  return state.started_at + *target.start_timeout;
}

class Planner {
 public:
  Planner(const TaskPayload& task, const TaskState& state, absl::Time now)
      : task_(task), state_(state), now_(now) {}

  Plan Run() {
    plan_.desired = state_.desired;
    plan_.status = state_.status;
    if (plan_.status == model::TaskStatus::kStopped) return plan_;
    if (plan_.desired == model::DesiredStatus::kRunning && EssentialEnded()) Stop();
    if (plan_.desired == model::DesiredStatus::kRunning) PlanForward();
    // Not else: going forward may have found out that the task cannot go on.
    if (plan_.desired == model::DesiredStatus::kStopped) PlanShutdown();
    DecideStatus();
    return plan_;
  }

 private:
  bool EssentialEnded() const {
    bool all_ended = true;
    for (size_t i = 0; i < task_.containers.size(); ++i) {
      const bool ended = IsStopped(state_.containers[i]);
      if (ended && task_.containers[i].essential) return true;
      all_ended = all_ended && ended;
    }
    return all_ended;
  }

  void Stop() { plan_.desired = model::DesiredStatus::kStopped; }

  void Fail(std::string reason, size_t container) {
    Stop();
    plan_.failure = std::move(reason);
    plan_.failed_container = container;
    plan_.actions.clear();
  }

  void PlanForward() {
    if (state_.preparation == Preparation::kNotBegun)
      plan_.actions.push_back({ActionKind::kPrepare});
    for (size_t i = 0; i < task_.containers.size(); ++i) {
      const Phase phase = state_.containers[i].phase;
      if (phase == Phase::kWaiting) plan_.actions.push_back({ActionKind::kPull, i});
      if (phase == Phase::kCreated) plan_.actions.push_back({ActionKind::kStart, i});
      const bool before_creation =
          phase == Phase::kWaiting || phase == Phase::kPulling || phase == Phase::kPulled;
      if (!before_creation) continue;
      const Readiness ready = JudgeAll(i);
      if (ready == Readiness::kNever) return;
      if (ready == Readiness::kMet && phase == Phase::kPulled &&
          state_.preparation == Preparation::kDone) {
        plan_.actions.push_back({ActionKind::kCreate, i});
      }
    }
  }

  // Of all that container i depends on. kNever has failed the plan.
  Readiness JudgeAll(size_t i) {
    Readiness all = Readiness::kMet;
    for (const DependencyPayload& dependency : task_.containers[i].depends_on) {
      const ContainerPayload& target = task_.containers[dependency.container];
      const ContainerState& target_state = state_.containers[dependency.container];
      const Readiness ready = Judge(dependency.condition, target_state);
      if (ready == Readiness::kMet) continue;
      if (ready == Readiness::kNever) {
        Fail(DescribeUnmet(task_.containers[i].name, target.name, dependency.condition,
                           target_state),
             i);
        return Readiness::kNever;
      }
      all = Readiness::kNotYet;
      if (dependency.condition == DependencyCondition::kHealthy &&
          target_state.phase == Phase::kRunning) {
        plan_.watch_health.push_back(dependency.container);
      }
      const absl::Time deadline = StartDeadline(target, target_state);
      if (now_ >= deadline) {
        Fail(absl::StrFormat("TaskDependencyError: container %s did not reach %s within its "
                             "startTimeout of %d s, so container %s was not started",
                             target.name, std::string(model::ToString(dependency.condition)),
                             absl::ToInt64Seconds(*target.start_timeout), task_.containers[i].name),
             i);
        return Readiness::kNever;
      }
      plan_.wake_at = std::min(plan_.wake_at, deadline);
    }
    return all;
  }

  // Whether something that depends on container i still runs, and so must stop first.
  bool IsNeeded(size_t i) const {
    for (size_t j = 0; j < task_.containers.size(); ++j) {
      const ContainerState& other = state_.containers[j];
      // One that never started cannot miss it; PlanShutdown abandons those at once.
      const bool alive = other.phase == Phase::kStarting || other.phase == Phase::kRunning ||
                         other.phase == Phase::kStopping;
      if (!alive) continue;
      for (const DependencyPayload& dependency : task_.containers[j].depends_on) {
        if (dependency.container == i) return true;
      }
    }
    return false;
  }

  void PlanShutdown() {
    plan_.actions.clear();
    plan_.watch_health.clear();
    plan_.wake_at = absl::InfiniteFuture();
    for (size_t i = 0; i < task_.containers.size(); ++i) {
      const ContainerState& container = state_.containers[i];
      switch (container.phase) {
        // A pull under way is let go: its result will find the container STOPPED and be dropped.
        case Phase::kWaiting:
        case Phase::kPulling:
        case Phase::kPulled:
        case Phase::kCreated:
          plan_.actions.push_back({ActionKind::kAbandon, i});
          break;
        case Phase::kRunning:
          if (IsNeeded(i)) break;
          if (now_ >= container.retry_stop_at) {
            plan_.actions.push_back({ActionKind::kStop, i});
          } else {
            plan_.wake_at = std::min(plan_.wake_at, container.retry_stop_at);
          }
          break;
        case Phase::kCreating:
        case Phase::kStarting:
        case Phase::kStopping:
        case Phase::kStopped:
          break;
      }
    }
  }

  void DecideStatus() {
    bool all_stopped = true;
    bool all_up = true;
    for (const ContainerState& container : state_.containers) {
      all_stopped = all_stopped && IsStopped(container);
      all_up = all_up && (container.phase == Phase::kRunning || IsStopped(container));
    }
    if (plan_.desired == model::DesiredStatus::kStopped) {
      if (all_stopped && state_.preparation != Preparation::kUnderWay) {
        plan_.status = model::TaskStatus::kStopped;
      }
    } else if (all_up) {
      plan_.status = model::TaskStatus::kRunning;
    }
  }

  const TaskPayload& task_;
  const TaskState& state_;
  const absl::Time now_;
  Plan plan_ = {};
};

}  // namespace

bool RestartsInPlace(const ContainerPayload& container, const ContainerState& state,
                     model::DesiredStatus desired) {
  if (!container.restart || desired != model::DesiredStatus::kRunning || !state.exit_code) {
    return false;
  }
  const std::vector<int64_t>& ignored = container.restart->ignored_exit_codes;
  if (std::find(ignored.begin(), ignored.end(), *state.exit_code) != ignored.end()) return false;
  return state.finished_at - state.started_at >= container.restart->attempt_period;
}

Plan PlanNext(const TaskPayload& task, const TaskState& state, absl::Time now) {
  return Planner(task, state, now).Run();
}

}  // namespace berth::agent

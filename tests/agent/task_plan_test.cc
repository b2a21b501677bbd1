#include "agent/task_plan.h"

#include <catch2/catch.hpp>

namespace berth::agent {
namespace {

using model::DependencyCondition;
using model::DesiredStatus;
using model::TaskStatus;

const absl::Time kNow = absl::FromUnixSeconds(1'000'000);

ContainerPayload Container(std::string name, bool essential = true) {
  ContainerPayload container;
  container.name = std::move(name);
  container.image = "image";
  container.essential = essential;
  return container;
}

TaskPayload Task(std::vector<ContainerPayload> containers) {
  TaskPayload task;
  task.id = "t";
  task.containers = std::move(containers);
  return task;
}

// "b" depends on "a" in the given way; both are essential unless said otherwise.
TaskPayload BDependsOnA(DependencyCondition condition, bool a_essential = false) {
  TaskPayload task = Task({Container("a", a_essential), Container("b")});
  task.containers[1].depends_on = {{.container = 0, .condition = condition}};
  return task;
}

ContainerState In(Phase phase) {
  ContainerState state;
  state.phase = phase;
  if (phase == Phase::kRunning || phase == Phase::kStopping) {
    state.has_run = true;
    state.started_at = kNow;
  }
  return state;
}

ContainerState Ended(int64_t exit_code) {
  ContainerState state = In(Phase::kStopped);
  state.has_run = true;
  state.exit_code = exit_code;
  state.started_at = kNow;
  state.finished_at = kNow;
  return state;
}

TaskState State(std::vector<ContainerState> containers) {
  TaskState state;
  state.preparation = Preparation::kDone;
  state.containers = std::move(containers);
  return state;
}

bool Has(const Plan& plan, ActionKind kind, size_t container) {
  return std::find(plan.actions.begin(), plan.actions.end(), Action{kind, container}) !=
         plan.actions.end();
}

TEST_CASE("a new task prepares its network and pulls all its images at once", "[agent]") {
  const TaskPayload task = BDependsOnA(DependencyCondition::kSuccess);
  TaskState state = State({In(Phase::kWaiting), In(Phase::kWaiting)});
  state.preparation = Preparation::kNotBegun;

  const Plan plan = PlanNext(task, state, kNow);

  CHECK(plan.actions == std::vector<Action>{{ActionKind::kPrepare, 0},
                                            {ActionKind::kPull, 0},
                                            {ActionKind::kPull, 1}});
  CHECK(plan.status == TaskStatus::kPending);
}

TEST_CASE("no container is created before the task's network is there", "[agent]") {
  TaskState state = State({In(Phase::kPulled)});
  state.preparation = Preparation::kUnderWay;

  CHECK(PlanNext(Task({Container("a")}), state, kNow).actions.empty());

  state.preparation = Preparation::kDone;
  CHECK(Has(PlanNext(Task({Container("a")}), state, kNow), ActionKind::kCreate, 0));
}

struct DependencyCase {
  std::string why;
  DependencyCondition condition;
  ContainerState a;
  bool creates_b;
  bool fails;
};

TEST_CASE("a container is created when what it depends on has come far enough", "[agent]") {
  ContainerState healthy = In(Phase::kRunning);
  healthy.health = model::HealthStatus::kHealthy;
  ContainerState unhealthy = In(Phase::kRunning);
  unhealthy.health = model::HealthStatus::kUnhealthy;
  ContainerState never = In(Phase::kStopped);
  const auto c = GENERATE_COPY(values<DependencyCase>({
      {"START: not before the target runs", DependencyCondition::kStart, In(Phase::kStarting),
       false, false},
      {"START: the target runs", DependencyCondition::kStart, In(Phase::kRunning), true, false},
      {"START: the target has run", DependencyCondition::kStart, Ended(1), true, false},
      {"START: the target could not start", DependencyCondition::kStart, never, false, true},
      {"COMPLETE: not while it runs", DependencyCondition::kComplete, In(Phase::kRunning), false,
       false},
      {"COMPLETE: any exit code will do", DependencyCondition::kComplete, Ended(9), true, false},
      {"COMPLETE: it never ran", DependencyCondition::kComplete, never, false, true},
      {"SUCCESS: not while it runs", DependencyCondition::kSuccess, In(Phase::kRunning), false,
       false},
      {"SUCCESS: exit code 0", DependencyCondition::kSuccess, Ended(0), true, false},
      {"SUCCESS: any other exit code ends the task", DependencyCondition::kSuccess, Ended(1), false,
       true},
      {"HEALTHY: not yet known", DependencyCondition::kHealthy, In(Phase::kRunning), false, false},
      {"HEALTHY: it is", DependencyCondition::kHealthy, healthy, true, false},
      {"HEALTHY: not while unhealthy", DependencyCondition::kHealthy, unhealthy, false, false},
      {"HEALTHY: it ended before", DependencyCondition::kHealthy, Ended(0), false, true},
  }));
  INFO(c.why);

  const Plan plan = PlanNext(BDependsOnA(c.condition), State({c.a, In(Phase::kPulled)}), kNow);

  CHECK(Has(plan, ActionKind::kCreate, 1) == c.creates_b);
  CHECK((plan.desired == DesiredStatus::kStopped) == c.fails);
  CHECK((plan.failure.find("TaskDependencyError: ") == 0) == c.fails);
  if (c.fails) {
    CHECK(plan.failed_container == 1);
    CHECK(Has(plan, ActionKind::kAbandon, 1));
  }
}

TEST_CASE("the health of a container is watched only while another waits for it", "[agent]") {
  const TaskPayload task = BDependsOnA(DependencyCondition::kHealthy);

  CHECK(PlanNext(task, State({In(Phase::kRunning), In(Phase::kPulled)}), kNow).watch_health ==
        std::vector<size_t>{0});
  CHECK(
      PlanNext(task, State({In(Phase::kRunning), In(Phase::kRunning)}), kNow).watch_health.empty());
}

TEST_CASE("a startTimeout ends the wait for a container, and the task", "[agent]") {
  TaskPayload task = BDependsOnA(DependencyCondition::kHealthy);
  task.containers[0].start_timeout = absl::Seconds(5);
  const TaskState state = State({In(Phase::kRunning), In(Phase::kPulled)});

  const Plan before = PlanNext(task, state, kNow + absl::Seconds(4));
  CHECK(before.desired == DesiredStatus::kRunning);
  CHECK(before.wake_at == kNow + absl::Seconds(5));

  const Plan at = PlanNext(task, state, kNow + absl::Seconds(5));
  CHECK(at.desired == DesiredStatus::kStopped);
  CHECK(at.failure.find("startTimeout of 5 s") != std::string::npos);
  CHECK(Has(at, ActionKind::kStop, 0));
}

struct StatusCase {
  std::string why;
  std::vector<ContainerState> containers;
  bool b_essential;
  TaskStatus status;
  DesiredStatus desired;
};

TEST_CASE("a task is what its containers make it", "[agent]") {
  const auto c = GENERATE(values<StatusCase>({
      {"one is still starting",
       {In(Phase::kRunning), In(Phase::kStarting)},
       true,
       TaskStatus::kPending,
       DesiredStatus::kRunning},
      {"all run",
       {In(Phase::kRunning), In(Phase::kRunning)},
       true,
       TaskStatus::kRunning,
       DesiredStatus::kRunning},
      {"one that is not essential has ended",
       {In(Phase::kRunning), Ended(1)},
       false,
       TaskStatus::kRunning,
       DesiredStatus::kRunning},
      {"one that is not essential could not start",
       {In(Phase::kRunning), In(Phase::kStopped)},
       false,
       TaskStatus::kRunning,
       DesiredStatus::kRunning},
      {"an essential one has ended, with 0 even",
       {In(Phase::kRunning), Ended(0)},
       true,
       TaskStatus::kPending,
       DesiredStatus::kStopped},
      {"all have ended", {Ended(0), Ended(0)}, true, TaskStatus::kStopped, DesiredStatus::kStopped},
  }));
  INFO(c.why);

  const Plan plan =
      PlanNext(Task({Container("a"), Container("b", c.b_essential)}), State(c.containers), kNow);

  CHECK(plan.status == c.status);
  CHECK(plan.desired == c.desired);
}

TEST_CASE("a task of which nothing is essential ends when all of it has", "[agent]") {
  const TaskPayload task = Task({Container("a", false), Container("b", false)});

  CHECK(PlanNext(task, State({Ended(0), In(Phase::kRunning)}), kNow).desired ==
        DesiredStatus::kRunning);
  CHECK(PlanNext(task, State({Ended(0), Ended(0)}), kNow).status == TaskStatus::kStopped);
}

TEST_CASE("shutdown goes in reverse order of dependency", "[agent]") {
  const TaskPayload task = BDependsOnA(DependencyCondition::kStart, true);
  TaskState state = State({In(Phase::kRunning), In(Phase::kRunning)});
  state.desired = DesiredStatus::kStopped;

  CHECK(PlanNext(task, state, kNow).actions == std::vector<Action>{{ActionKind::kStop, 1}});

  state.containers[1] = In(Phase::kStopping);
  CHECK(PlanNext(task, state, kNow).actions.empty());

  state.containers[1] = Ended(143);
  CHECK(PlanNext(task, state, kNow).actions == std::vector<Action>{{ActionKind::kStop, 0}});
}

struct StopCase {
  std::string why;
  Phase phase;
  std::vector<Action> actions;
};

TEST_CASE("a stop takes each container as it is", "[agent]") {
  const auto c = GENERATE(values<StopCase>({
      {"nothing has begun", Phase::kWaiting, {{ActionKind::kAbandon, 0}}},
      {"a pull is not waited for", Phase::kPulling, {{ActionKind::kAbandon, 0}}},
      {"its image is there", Phase::kPulled, {{ActionKind::kAbandon, 0}}},
      {"a call that is under way is waited for", Phase::kCreating, {}},
      {"it was created and not started", Phase::kCreated, {{ActionKind::kAbandon, 0}}},
      {"a start is waited for, and then stopped", Phase::kStarting, {}},
      {"it runs", Phase::kRunning, {{ActionKind::kStop, 0}}},
      {"it is being stopped", Phase::kStopping, {}},
      {"it has ended", Phase::kStopped, {}},
  }));
  INFO(c.why);
  TaskState state = State({In(c.phase)});
  state.desired = DesiredStatus::kStopped;

  const Plan plan = PlanNext(Task({Container("a")}), state, kNow);

  CHECK(plan.actions == c.actions);
  CHECK((plan.status == TaskStatus::kStopped) == (c.phase == Phase::kStopped));
}

TEST_CASE("a stop that failed is tried again, and not before its time", "[agent]") {
  TaskState state = State({In(Phase::kRunning)});
  state.desired = DesiredStatus::kStopped;
  state.containers[0].retry_stop_at = kNow + absl::Seconds(5);

  const Plan early = PlanNext(Task({Container("a")}), state, kNow);
  CHECK(early.actions.empty());
  CHECK(early.wake_at == kNow + absl::Seconds(5));

  CHECK(
      Has(PlanNext(Task({Container("a")}), state, kNow + absl::Seconds(5)), ActionKind::kStop, 0));
}

TEST_CASE("a task whose network is being made is not STOPPED before that call is over", "[agent]") {
  TaskState state = State({In(Phase::kStopped)});
  state.desired = DesiredStatus::kStopped;
  state.preparation = Preparation::kUnderWay;

  CHECK(PlanNext(Task({Container("a")}), state, kNow).status == TaskStatus::kPending);
}

TEST_CASE("STOPPED is final", "[agent]") {
  TaskState state = State({Ended(0)});
  state.status = TaskStatus::kStopped;
  state.desired = DesiredStatus::kStopped;

  const Plan plan = PlanNext(Task({Container("a")}), state, kNow);

  CHECK(plan.actions.empty());
  CHECK(plan.status == TaskStatus::kStopped);
}

TEST_CASE("a container starts again only as its restart policy says", "[agent]") {
  struct RestartCase {
    std::string why;
    std::optional<RestartPayload> policy;
    std::optional<int64_t> exit_code;
    absl::Duration ran;
    DesiredStatus desired;
    bool restarts;
  };
  const RestartPayload policy = {.ignored_exit_codes = {0}, .attempt_period = absl::Seconds(60)};
  const auto c = GENERATE_COPY(values<RestartCase>({
      {"long enough", policy, 1, absl::Seconds(60), DesiredStatus::kRunning, true},
      {"a moment too short", policy, 1, absl::Seconds(59), DesiredStatus::kRunning, false},
      {"an ignored code", policy, 0, absl::Hours(1), DesiredStatus::kRunning, false},
      {"its task is to stop", policy, 1, absl::Hours(1), DesiredStatus::kStopped, false},
      {"nobody knows how it ended", policy, std::nullopt, absl::Hours(1), DesiredStatus::kRunning,
       false},
      {"no policy", std::nullopt, 1, absl::Hours(1), DesiredStatus::kRunning, false},
  }));
  INFO(c.why);
  ContainerPayload container = Container("a");
  container.restart = c.policy;
  ContainerState state = Ended(0);
  state.exit_code = c.exit_code;
  state.finished_at = state.started_at + c.ran;

  CHECK(RestartsInPlace(container, state, c.desired) == c.restarts);
}

}  // namespace
}  // namespace berth::agent

#include <algorithm>

#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ContainerStatus;
using model::DesiredStatus;
using model::StopCode;
using model::TaskStatus;

// One task of an essential `app` and a `log` that is not.
struct OneTask {
  OneTask() {
    id = world.Register({});
    model::TaskSpec spec = Spec({Container("app"), Container("log")});
    spec.containers[1].essential = false;
    task = world.Run(spec);
  }
  ReportTask About(std::optional<TaskStatus> status,
                   std::vector<ContainerReport> containers = {}) const {
    return {.cluster = {"default"},
            .task = task->id,
            .status = status,
            .containers = std::move(containers)};
  }
  model::TaskRecord Now() { return world.Task(task->id); }

  World world;
  model::InstanceId id;
  model::TaskRecord task;
};

ContainerReport Exited(const std::string& name, int64_t code, const std::string& reason = "") {
  return {.name = name, .status = ContainerStatus::kStopped, .exit_code = code, .reason = reason};
}

}  // namespace

TEST_CASE_METHOD(OneTask, "RUNNING starts the task and brings what the agent found out") {
  world.now += absl::Seconds(9);
  ReportTask report =
      About(TaskStatus::kRunning,
            {{.name = "app",
              .status = ContainerStatus::kRunning,
              .runtime_id = "d0c",
              .image_digest = "sha256:1",
              .network_bindings =
                  std::vector<model::NetworkBinding>{
                      {.bind_ip = "0.0.0.0", .container_port = 80, .host_port = 32768}}},
             {.name = "log", .status = ContainerStatus::kRunning}});
  report.pull_started_at = kStart + absl::Seconds(1);
  report.pull_stopped_at = kStart + absl::Seconds(2);

  world.Ok(report);

  CHECK(Now()->last_status == TaskStatus::kRunning);
  CHECK(Now()->started_at == world.now);
  CHECK(Now()->pull_started_at == kStart + absl::Seconds(1));
  CHECK(Now()->pull_stopped_at == kStart + absl::Seconds(2));
  CHECK(Now()->connectivity);
  CHECK(Now()->version == 2);
  CHECK(Now()->containers[0].runtime_id == "d0c");
  CHECK(Now()->containers[0].image_digest == "sha256:1");
  CHECK(Now()->containers[0].network_bindings == *report.containers[0].network_bindings);
  CHECK(Now()->containers[1].last_status == ContainerStatus::kRunning);
  CHECK(world.Instance(id).running_tasks == 1);
  CHECK(world.Instance(id).pending_tasks == 0);
  CHECK(world.Cluster().running_tasks == 1);
}

TEST_CASE_METHOD(OneTask, "a report that comes twice changes nothing the second time") {
  const ReportTask running =
      About(TaskStatus::kRunning, {{.name = "app", .status = ContainerStatus::kRunning}});
  const ReportTask stopped = About(TaskStatus::kStopped, {Exited("app", 3)});
  for (const ReportTask& report : {running, stopped}) {
    world.Ok(report);
    const std::string before = Portrait(world);
    world.now += absl::Minutes(1);

    const auto again = world.Do(report);

    CHECK(again.reply.ok());
    CHECK(again.changes.empty());
    CHECK(again.effects.empty());
    CHECK(Portrait(world) == before);
  }
}

TEST_CASE_METHOD(OneTask, "a task never goes back: reports that were overtaken change nothing") {
  world.Ok(About(TaskStatus::kRunning));
  world.Ok(About(TaskStatus::kPending));
  CHECK(Now()->last_status == TaskStatus::kRunning);

  world.Ok(About(TaskStatus::kStopped, {Exited("app", 0)}));
  const model::TaskRecord stopped = Now();
  world.Ok(About(TaskStatus::kRunning));
  world.Ok(About(std::nullopt, {{.name = "app", .status = ContainerStatus::kRunning}}));
  world.Ok(About(TaskStatus::kStopped, {Exited("app", 9, "other")}));

  CHECK(Now() == stopped);
}

TEST_CASE_METHOD(OneTask, "a container never goes back, and its end is final") {
  world.Ok(About(TaskStatus::kRunning));
  const ContainerReport overtaken{
      .name = "app", .status = ContainerStatus::kPending, .image_digest = "sha256:old"};
  CHECK(world.Do(About(std::nullopt, {overtaken})).changes.empty());
  CHECK(Now()->containers[0].last_status == ContainerStatus::kRunning);
  world.Ok(About(std::nullopt, {Exited("log", 4, "done")}));
  world.Ok(About(std::nullopt, {{.name = "log", .status = ContainerStatus::kRunning}}));
  world.Ok(About(std::nullopt, {Exited("log", 5, "again")}));

  CHECK(Now()->containers[1].last_status == ContainerStatus::kStopped);
  CHECK(Now()->containers[1].exit_code == 4);
  CHECK(Now()->containers[1].reason == "done");
  CHECK(Now()->desired_status == DesiredStatus::kRunning);
}

TEST_CASE_METHOD(OneTask, "one report may list a container twice, in order of time") {
  world.Ok(About(TaskStatus::kStopped,
                 {{.name = "app", .status = ContainerStatus::kRunning, .runtime_id = "d0c"},
                  Exited("app", 7)}));

  CHECK(Now()->containers[0].runtime_id == "d0c");
  CHECK(Now()->containers[0].exit_code == 7);
}

TEST_CASE_METHOD(OneTask, "an essential container that ends stops the task, before it is STOPPED") {
  world.Ok(About(TaskStatus::kRunning));
  world.now += absl::Minutes(2);

  world.Ok(About(std::nullopt, {Exited("app", 0)}));

  CHECK(Now()->last_status == TaskStatus::kRunning);
  CHECK(Now()->desired_status == DesiredStatus::kStopped);
  CHECK(Now()->stop_code == StopCode::kEssentialContainerExited);
  CHECK(Now()->stopped_reason == "Essential container in task exited");
  CHECK(Now()->stopping_at == world.now);
  CHECK(Now()->execution_stopped_at == world.now);
  const absl::Time ended = world.now;
  world.now += absl::Minutes(1);
  world.Ok(About(TaskStatus::kStopped));
  CHECK(Now()->last_status == TaskStatus::kStopped);
  CHECK(Now()->stopped_at == world.now);
  CHECK(Now()->stopping_at == ended);
  CHECK(Now()->execution_stopped_at == ended);
  CHECK(Now()->stop_code == StopCode::kEssentialContainerExited);
  CHECK(Now()->containers[0].exit_code == 0);
}

TEST_CASE_METHOD(OneTask, "containers without a last report end without an exit code") {
  world.Ok(About(TaskStatus::kRunning));
  world.Ok(About(TaskStatus::kStopped, {Exited("app", 137, "OutOfMemoryError: killed")}));

  CHECK(Now()->containers[0].exit_code == 137);
  CHECK(Now()->containers[0].reason == "OutOfMemoryError: killed");
  CHECK(Now()->containers[1].last_status == ContainerStatus::kStopped);
  CHECK_FALSE(Now()->containers[1].exit_code.has_value());
}

TEST_CASE("the stop code and the reason follow from how far the task came") {
  struct Case {
    std::string why;
    bool ran;
    std::string reason;  // of the task, from the agent
    std::vector<ContainerReport> containers;
    StopCode code;
    std::string text;
  };
  const auto c = GENERATE(values<Case>({
      {"an ordinary exit",
       true,
       "",
       {Exited("app", 0)},
       StopCode::kEssentialContainerExited,
       "Essential container in task exited"},
      {"the agent knows better",
       true,
       "MPS control daemon died",
       {Exited("app", 1)},
       StopCode::kEssentialContainerExited,
       "MPS control daemon died"},
      {"the image cannot be pulled",
       false,
       "",
       {{.name = "app",
         .status = ContainerStatus::kStopped,
         .reason = "CannotPullContainerError: no such image"}},
       StopCode::kTaskFailedToStart,
       "CannotPullContainerError: no such image"},
      {"an engine gives an exit code to what it could not start",
       false,
       "",
       {Exited("app", 128, "CannotStartContainerError: port is taken")},
       StopCode::kTaskFailedToStart,
       "CannotStartContainerError: port is taken"},
      {"a reason without a name gets one",
       false,
       "",
       {{.name = "log", .status = ContainerStatus::kStopped, .reason = "no space left"}},
       StopCode::kTaskFailedToStart,
       "TaskFailedToStart: no space left"},
      {"the task's reason goes first",
       false,
       "ResourceInitializationError: no network",
       {{.name = "app", .status = ContainerStatus::kStopped, .reason = "other"}},
       StopCode::kTaskFailedToStart,
       "ResourceInitializationError: no network"},
      {"nobody says why", false, "", {}, StopCode::kTaskFailedToStart, "Task failed to start"},
      {"it ran and ended before RUNNING was told",
       false,
       "",
       {{.name = "app", .status = ContainerStatus::kRunning}, Exited("app", 0)},
       StopCode::kEssentialContainerExited,
       "Essential container in task exited"},
      {"it ended before anything was told",
       false,
       "",
       {Exited("app", 1)},
       StopCode::kEssentialContainerExited,
       "Essential container in task exited"},
      {"a helper that fails keeps the task from starting",
       false,
       "",
       {Exited("log", 1)},
       StopCode::kTaskFailedToStart,
       "Task failed to start"},
  }));
  INFO(c.why);
  OneTask t;
  if (c.ran) t.world.Report(t.task, TaskStatus::kRunning);
  ReportTask report = t.About(TaskStatus::kStopped, c.containers);
  report.reason = c.reason;

  t.world.Ok(report);

  CHECK(t.Now()->stop_code == c.code);
  CHECK(t.Now()->stopped_reason == c.text);
  CHECK(t.Now()->last_status == TaskStatus::kStopped);
  CHECK(t.Now()->desired_status == DesiredStatus::kStopped);
  CHECK((t.Now()->started_at != absl::InfinitePast()) == c.ran);
}

TEST_CASE_METHOD(OneTask, "a container that cannot start is the cause that stays") {
  world.Ok(About(std::nullopt, {{.name = "app",
                                 .status = ContainerStatus::kStopped,
                                 .reason = "CannotPullContainerError: no such image"}}));
  CHECK(Now()->desired_status == DesiredStatus::kStopped);
  CHECK(Now()->stop_code == StopCode::kTaskFailedToStart);

  world.Ok(About(TaskStatus::kStopped));

  CHECK(Now()->stop_code == StopCode::kTaskFailedToStart);
  CHECK(Now()->stopped_reason == "CannotPullContainerError: no such image");
}

TEST_CASE_METHOD(OneTask, "a task that should stop may still reach RUNNING, and is stopped again") {
  world.Ok(StopTask{.cluster = {"default"}, .task = task->id});

  const auto outcome = world.Do(About(TaskStatus::kRunning));

  CHECK(Now()->last_status == TaskStatus::kRunning);
  CHECK(Now()->desired_status == DesiredStatus::kStopped);
  const auto told = EffectsOf<StopTaskOnAgent>(outcome.effects);
  REQUIRE(told.size() == 1);
  CHECK(told[0].instance == id);
}

TEST_CASE_METHOD(OneTask, "a task that nobody knows and that is alive is told to stop") {
  ReportTask report = About(TaskStatus::kRunning);
  report.task = {"feed"};
  auto outcome = world.Do(report);
  CHECK(outcome.reply.ok());
  CHECK(outcome.changes.empty());
  REQUIRE(EffectsOf<StopTaskOnAgent>(outcome.effects).size() == 1);
  CHECK(EffectsOf<StopTaskOnAgent>(outcome.effects)[0].instance.empty());

  report.status = TaskStatus::kStopped;
  outcome = world.Do(report);
  CHECK(outcome.reply.ok());
  CHECK(outcome.effects.empty());

  report.cluster = {"nowhere"};
  CHECK(world.Do(report).reply.ok());
}

TEST_CASE_METHOD(OneTask, "a report of a container that the task does not have changes nothing") {
  const auto outcome = world.Do(About(std::nullopt, {Exited("nope", 1)}));
  CHECK(outcome.reply.ok());
  CHECK(outcome.changes.empty());
}

TEST_CASE_METHOD(OneTask, "texts are cut at the lengths that the official agent keeps to") {
  world.Ok(About(std::nullopt, {{.name = "app",
                                 .status = ContainerStatus::kRunning,
                                 .reason = std::string(2000, 'r'),
                                 .runtime_id = std::string(2000, 'i'),
                                 .image_digest = std::string(2000, 'd')}}));
  CHECK(Now()->containers[0].reason.size() == 1024);
  CHECK(Now()->containers[0].runtime_id.size() == 255);
  CHECK(Now()->containers[0].image_digest.size() == 255);
  ReportTask stopped = About(TaskStatus::kStopped);
  stopped.reason = std::string(2000, 'r');
  world.Ok(stopped);
  CHECK(Now()->stopped_reason.size() == 1024);
}

TEST_CASE_METHOD(OneTask, "health is taken over as reported") {
  world.Ok(About(TaskStatus::kRunning));
  world.Ok(
      About(std::nullopt, {{.name = "app", .health_status = model::HealthStatus::kUnhealthy}}));
  CHECK(Now()->containers[0].health_status == model::HealthStatus::kUnhealthy);
  CHECK(Now()->containers[0].last_status == ContainerStatus::kRunning);
}

TEST_CASE_METHOD(OneTask, "pull times are those of the first report that has them") {
  ReportTask report = About(TaskStatus::kPending);
  report.pull_started_at = kStart + absl::Seconds(1);
  world.Ok(report);
  report.pull_started_at = kStart + absl::Seconds(5);
  world.Ok(report);
  CHECK(Now()->pull_started_at == kStart + absl::Seconds(1));
}

TEST_CASE("whatever the order of the reports, the task ends STOPPED and gives back what it held") {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    OneTask t;
    const ReportTask reports[] = {
        t.About(TaskStatus::kPending),
        t.About(TaskStatus::kRunning, {{.name = "app", .status = ContainerStatus::kRunning}}),
        t.About(std::nullopt, {Exited("app", 3)}),
        t.About(TaskStatus::kStopped, {Exited("app", 3)}),
    };
    for (const int i : order) t.world.Ok(reports[i]);

    CHECK(t.Now()->last_status == TaskStatus::kStopped);
    CHECK(t.Now()->stop_code == StopCode::kEssentialContainerExited);
    CHECK(t.Now()->containers[0].exit_code == 3);
    CHECK(t.world.Instance(t.id).state.remaining_memory_mib == 256 * 1024);
    CHECK(t.world.Cluster().running_tasks + t.world.Cluster().pending_tasks == 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace berth::scheduler

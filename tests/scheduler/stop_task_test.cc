#include "absl/strings/match.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::DesiredStatus;
using model::ErrorKind;
using model::StopCode;
using model::TaskStatus;

StopTask Stop(const model::TaskRecord& task, std::optional<std::string> reason = std::nullopt) {
  return {.cluster = {"default"}, .task = task->id, .reason = std::move(reason)};
}

}  // namespace

TEST_CASE("a running task that is asked to stop still runs, and its agent is told") {
  World world;
  const model::InstanceId id = world.Register({});
  RunTask command = world.Running(world.Define(Spec()));
  command.tags = {{.key = "a", .value = "b"}};
  const model::TaskRecord task = world.Ok(command).tasks.at(0);
  world.Report(task, TaskStatus::kRunning);
  const int64_t version = world.Task(task->id)->version;
  world.now += absl::Seconds(5);

  const model::TaskRecord stopping = world.Ok(Stop(task, "enough"));

  CHECK(stopping->last_status == TaskStatus::kRunning);
  CHECK(stopping->desired_status == DesiredStatus::kStopped);
  CHECK(stopping->stop_code == StopCode::kUserInitiated);
  CHECK(stopping->stopped_reason == "enough");
  CHECK(stopping->stopping_at == world.now);
  CHECK(stopping->stopped_at == absl::InfinitePast());
  CHECK(stopping->tags.empty());
  CHECK(stopping->version == version + 1);
  const auto told = EffectsOf<StopTaskOnAgent>(world.effects);
  REQUIRE(told.size() == 1);
  CHECK(told[0].instance == id);
  CHECK(told[0].task == task->id);
  CHECK(world.Instance(id).running_tasks == 1);
}

TEST_CASE("without a reason the task was stopped by the user") {
  World world;
  world.Register({});
  CHECK(world.Ok(Stop(world.Run(Spec())))->stopped_reason == "Task stopped by user");
  CHECK(world.Ok(Stop(world.Run(Spec()), ""))->stopped_reason == "Task stopped by user");
}

TEST_CASE("asked twice, the task stops once, for the first reason") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  const model::TaskRecord first = world.Ok(Stop(task, "first"));
  world.now += absl::Minutes(1);

  const auto second = world.Do(Stop(task, "second"));

  CHECK(second.reply.value() == first);
  CHECK(second.changes.empty());
  CHECK(second.effects.empty());
}

TEST_CASE("a task that is STOPPED already is returned unchanged") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Stop(task);
  const model::TaskRecord stopped = world.Task(task->id);

  CHECK(world.Ok(Stop(task, "late")) == stopped);
}

TEST_CASE("a task that never started is stopped for the user's reason, not for failing to start") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Ok(Stop(task, "enough"));

  world.Ok(ReportTask{.cluster = {"default"},
                      .task = task->id,
                      .status = TaskStatus::kStopped,
                      .reason = "TaskStoppedBeforePullBeginError: task stopped"});

  CHECK(world.Task(task->id)->last_status == TaskStatus::kStopped);
  CHECK(world.Task(task->id)->stop_code == StopCode::kUserInitiated);
  CHECK(world.Task(task->id)->stopped_reason == "enough");
}

TEST_CASE("what a stopping task holds is held until it is STOPPED") {
  World world;
  const model::InstanceId id = world.Register({.memory_mib = 128});
  const model::TaskRecord task = world.Run(Spec());
  world.Ok(Stop(task));
  CHECK(world.Instance(id).state.remaining_memory_mib == 0);
  CHECK(world.Ok(world.Running(task->definition)).tasks.empty());

  world.Report(task, TaskStatus::kStopped);

  CHECK(world.Instance(id).state.remaining_memory_mib == 128);
  world.Run(task->definition);
}

namespace {

// So many characters, of two bytes each.
std::string Letters(size_t count) {
  std::string letters;
  for (size_t i = 0; i < count; ++i) letters += "\xC3\xA9";
  return letters;
}

}  // namespace

TEST_CASE("StopTask refuses what it cannot find, and a reason that is too long") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());

  CHECK(world.Refusal(StopTask{.cluster = {"default"}, .task = {"feed"}}) ==
        "The referenced task was not found.");
  CHECK(world.Refusal(StopTask{.cluster = {"nowhere"}, .task = task->id},
                      ErrorKind::kClusterNotFound) == "Cluster not found.");
  world.Ok(CreateCluster{.name = {"other"}});
  CHECK(world.Refusal(StopTask{.cluster = {"other"}, .task = task->id}) ==
        "The referenced task was not found.");
  CHECK(absl::StrContains(world.Refusal(Stop(task, std::string(1025, 'x'))), "1024"));
  CHECK(absl::StrContains(world.Refusal(Stop(task, Letters(1025))), "1025 characters"));
  CHECK(world.Ok(Stop(task, Letters(1024)))->stopped_reason == Letters(1024));
}

}  // namespace berth::scheduler

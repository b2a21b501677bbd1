#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::InstanceStatus;
using model::TaskStatus;

DeregisterContainerInstance Out(const model::InstanceId& id, bool force) {
  return {.cluster = {"default"}, .id = id, .force = force};
}

}  // namespace

TEST_CASE("an instance without tasks leaves, is shown INACTIVE, and its channel is closed") {
  World world;
  const model::InstanceId id = world.Register({.gpus = Gpus(2)});

  const InstanceSnapshot gone = world.Ok(Out(id, false));

  CHECK(gone.record->status == InstanceStatus::kInactive);
  CHECK_FALSE(gone.agent_connected);
  CHECK(gone.record->version == 2);
  CHECK(gone.record->deregistered_at == world.now);
  CHECK(gone.state.gpus.size() == 2);
  const auto closed = EffectsOf<CloseAgentChannel>(world.effects);
  REQUIRE(closed.size() == 1);
  CHECK(closed[0].instance == id);
  CHECK(world.Cluster().registered_instances == 0);
  CHECK(world.Ok(ListContainerInstances{.cluster = {"default"}, .limit = 9}).ids.empty());
  CHECK(world.Instance(id).record->status == InstanceStatus::kInactive);
}

TEST_CASE("an instance with tasks leaves only by force, and then they are STOPPED") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::TaskRecord running = world.Run(Spec());
  const model::TaskRecord pending = world.Run(Spec());
  const model::TaskRecord stopping = world.Run(Spec());
  world.Report(running, TaskStatus::kRunning);
  world.Ok(StopTask{.cluster = {"default"}, .task = stopping->id, .reason = "enough"});

  CHECK(world.Refusal(Out(id, false)) == "Found running tasks on the instance.");
  CHECK(world.Instance(id).record->status == InstanceStatus::kActive);
  world.Ok(Out(id, true));

  for (const model::TaskRecord& task : {running, pending}) {
    const model::TaskRecord stopped = world.Task(task->id);
    CHECK(stopped->last_status == TaskStatus::kStopped);
    CHECK(stopped->stopped_reason == "Container instance deregistration forced by user.");
    CHECK(stopped->stopped_at == world.now);
  }
  CHECK(world.Task(stopping->id)->last_status == TaskStatus::kStopped);
  CHECK(world.Task(stopping->id)->stopped_reason == "enough");
  CHECK(world.Cluster().running_tasks + world.Cluster().pending_tasks == 0);
  CHECK(world.Instance(id).running_tasks == 0);
}

TEST_CASE("an instance whose last task was reported STOPPED leaves without force") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Ok(StopTask{.cluster = {"default"}, .task = task->id});
  CHECK(world.Refusal(Out(id, false)) == "Found running tasks on the instance.");

  world.Report(task, TaskStatus::kStopped);

  CHECK(world.Ok(Out(id, false)).record->status == InstanceStatus::kInactive);
}

TEST_CASE("deregistering twice does it once") {
  World world;
  const model::InstanceId id = world.Register({});
  world.Ok(Out(id, true));
  const std::string before = Portrait(world);
  world.now += absl::Minutes(1);

  const auto second = world.Do(Out(id, true));

  REQUIRE(second.reply.ok());
  CHECK(second.reply->record->status == InstanceStatus::kInactive);
  CHECK(second.changes.empty());
  CHECK(second.effects.empty());
  CHECK(Portrait(world) == before);
}

TEST_CASE("deregistering what is not there is refused") {
  World world;
  world.Refusal(Out({"feed"}, true), ErrorKind::kInvalidParameter);
  DeregisterContainerInstance elsewhere = Out({"feed"}, true);
  elsewhere.cluster = {"nowhere"};
  CHECK(world.Refusal(elsewhere, ErrorKind::kClusterNotFound) == "Cluster not found.");
}

TEST_CASE("no task goes to an instance that has left") {
  World world;
  world.Ok(Out(world.Register({}), false));

  CHECK(world.Refusal(world.Running(world.Define(Spec()))) ==
        "No Container Instances were found in your cluster.");
}

TEST_CASE("what an agent says late of a task that was forced out changes nothing") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Ok(Out(id, true));
  const std::string before = Portrait(world);

  world.Report(task, TaskStatus::kRunning);
  world.Report(task, TaskStatus::kStopped);

  CHECK(Portrait(world) == before);
}

}  // namespace berth::scheduler

#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::InstanceId;
using model::InstanceStatus;
using model::TaskStatus;

UpdateContainerInstancesState To(InstanceStatus status, std::vector<InstanceId> ids) {
  return {.cluster = {"default"}, .ids = std::move(ids), .status = status};
}
UpdateContainerInstancesState Draining(const InstanceId& id) {
  return To(InstanceStatus::kDraining, {id});
}
UpdateContainerInstancesState Active(const InstanceId& id) {
  return To(InstanceStatus::kActive, {id});
}

}  // namespace

TEST_CASE("a DRAINING instance takes no tasks, keeps its own, and takes more once ACTIVE again") {
  World world;
  const InstanceId id = world.Register({});
  const InstanceId other = world.Register({.memory_mib = 100});
  const model::TaskRecord task = world.Run(Spec());
  world.Report(task, TaskStatus::kRunning);

  const auto reply = world.Ok(Draining(id));

  REQUIRE(reply.instances.size() == 1);
  CHECK(reply.instances[0].record->status == InstanceStatus::kDraining);
  CHECK(reply.instances[0].running_tasks == 1);
  CHECK(reply.instances[0].agent_connected);
  CHECK(world.Task(task->id)->desired_status == model::DesiredStatus::kRunning);
  const RunTask::Reply refused = world.Ok(world.Running(task->definition));
  REQUIRE(refused.failures.size() == 1);  // DRAINING ones are no news
  CHECK(refused.failures[0].instance == other);
  CHECK(world.Cluster().registered_instances == 2);

  world.Ok(Active(id));

  CHECK(world.Run(task->definition)->instance == id);
}

TEST_CASE("with none but DRAINING instances there is none to run on") {
  World world;
  world.Ok(Draining(world.Register({})));

  CHECK(world.Refusal(world.Running(world.Define(Spec()))) ==
        "No Container Instances were found in your cluster.");
}

TEST_CASE("a DRAINING instance stays so over a lost agent, a new registration and a restart") {
  World world;
  const InstanceId id = world.Register({.emulated = false});
  world.Connect(id);
  world.Ok(Draining(id));

  world.Ok(DisconnectAgent{.cluster = {"default"}, .instance = id});
  world.Connect(id);
  CHECK(world.Instance(id).record->status == InstanceStatus::kDraining);
  world.Ok(World::Registration({.existing = id, .emulated = false}));
  CHECK(world.Instance(id).record->status == InstanceStatus::kDraining);
  world.Restart();
  world.Connect(id);
  CHECK(world.Instance(id).record->status == InstanceStatus::kDraining);
  CHECK(world.Refusal(world.Running(world.Define(Spec()))) ==
        "No Container Instances were found in your cluster.");
}

TEST_CASE("each change of status is a version, and a repeat is none") {
  World world;
  const InstanceId id = world.Register({});
  CHECK(world.Instance(id).record->version == 1);

  CHECK(world.Ok(Draining(id)).instances[0].record->version == 2);
  const auto again = world.Do(Draining(id));
  CHECK(again.changes.empty());
  CHECK(again.reply->instances[0].record->version == 2);
  CHECK(world.Ok(Active(id)).instances[0].record->version == 3);
}

TEST_CASE("unknown and INACTIVE instances are named beside those that were changed") {
  World world;
  const InstanceId id = world.Register({});
  const InstanceId gone = world.Register({});
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = gone});

  const auto reply = world.Ok(To(InstanceStatus::kDraining, {gone, {"feed"}, id, id}));

  CHECK(reply.missing == std::vector<InstanceId>{{"feed"}});
  CHECK(reply.inactive == std::vector<InstanceId>{gone});
  CHECK(reply.instances.size() == 1);
  CHECK(world.Instance(gone).record->status == InstanceStatus::kInactive);
}

TEST_CASE("a change of status is refused in ECS's order") {
  World world;
  const InstanceId id = world.Register({});
  auto command = To(InstanceStatus::kInactive, {});
  command.cluster = {"nowhere"};
  CHECK(world.Refusal(command, ErrorKind::kClusterNotFound) == "Cluster not found.");
  command.cluster = {"default"};
  CHECK(world.Refusal(command) == "Container instance status should be one of [ACTIVE, DRAINING]");
  command.status = InstanceStatus::kDraining;
  CHECK(world.Refusal(command, ErrorKind::kClient) == "Container Instances cannot be empty.");
  command.ids = std::vector<InstanceId>(11, id);
  CHECK(world.Refusal(command) == "instanceIds can have at most 10 items.");
  command.ids.pop_back();
  CHECK(world.Ok(command).instances.size() == 1);
}

TEST_CASE("instances are listed by their status") {
  World world;
  const InstanceId active = world.Register({});
  const InstanceId draining = world.Register({});
  world.Ok(Draining(draining));
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = world.Register({})});
  const auto listed = [&](std::optional<InstanceStatus> status) {
    return world.Ok(ListContainerInstances{.cluster = {"default"}, .status = status, .limit = 9})
        .ids;
  };

  CHECK(listed(std::nullopt) == std::vector<InstanceId>{active, draining});
  CHECK(listed(InstanceStatus::kActive) == std::vector<InstanceId>{active});
  CHECK(listed(InstanceStatus::kDraining) == std::vector<InstanceId>{draining});
  CHECK_THAT(world.Refusal(ListContainerInstances{
                 .cluster = {"default"}, .status = InstanceStatus::kInactive, .limit = 9}),
             Catch::StartsWith("status is INACTIVE"));
}

}  // namespace berth::scheduler

// Which change a reply has to wait for (Outcome::saw_change).
#include "tests/scheduler/world.h"

namespace berth::scheduler {

using model::TaskStatus;

TEST_CASE("a reply waits for the changes that its own command made") {
  World world;
  CHECK(world.state.change_number() == 1);

  const auto registered = world.Do(World::Registration({}));
  CHECK(registered.changes.size() == 1);
  CHECK(registered.saw_change == 2);

  const DefinitionRecord definition = world.Define(Spec());  // the family, and the revision
  CHECK(world.state.change_number() == 4);
  const auto run = world.Do(world.Running(definition, 3));
  CHECK(run.changes.size() == 3);
  CHECK(run.saw_change == 7);
}

TEST_CASE("a read waits for what it shows and no longer") {
  World world;
  world.Register({});
  const DefinitionRecord definition = world.Define(Spec());
  const auto first = world.Do(world.Running(definition));
  const auto second = world.Do(world.Running(definition));
  const model::TaskId first_id = first.reply->tasks.at(0)->id;
  const model::TaskId second_id = second.reply->tasks.at(0)->id;

  const auto show = [&](std::vector<model::TaskId> ids) {
    return world.Do(DescribeTasks{.cluster = {"default"}, .ids = std::move(ids)}).saw_change;
  };
  CHECK(show({first_id}) == first.saw_change);
  CHECK(show({second_id, first_id}) == second.saw_change);
  CHECK(show({{"feed"}}) == 0);
  CHECK(world.Do(DescribeTaskDefinition{.definition = {.family = "web"}}).saw_change ==
        first.saw_change - 1);
}

TEST_CASE("an instance, a cluster and a list show the newest change to a task in them") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::InstanceId other = world.Register({.memory_mib = 1});
  const uint64_t other_registered = world.state.change_number();
  const uint64_t newest = world.Do(world.Running(world.Define(Spec()))).saw_change;

  const auto describe = [&](const model::InstanceId& which) {
    return world.Do(DescribeContainerInstances{.cluster = {"default"}, .ids = {which}}).saw_change;
  };
  CHECK(describe(id) == newest);
  CHECK(describe(other) == other_registered);
  CHECK(world.Do(DescribeClusters{.names = {{"default"}}}).saw_change == newest);
  CHECK(world.Do(ListTasks{.cluster = {"default"}, .limit = 9}).saw_change == newest);
  CHECK(world.Do(ListClusters{.limit = 9}).saw_change == 1);
}

TEST_CASE("a repeat that changes nothing waits for what the first call did") {
  World world;
  world.Register({});
  RunTask command = world.Running(world.Define(Spec()));
  command.client_token = "t";
  const auto first = world.Do(command);
  const model::TaskId id = first.reply->tasks.at(0)->id;
  CHECK(world.Do(command).saw_change == first.saw_change);
  command.fingerprint = "other";
  CHECK(world.Do(command).saw_change == first.saw_change);

  const ReportTask report{.cluster = {"default"}, .task = id, .status = TaskStatus::kRunning};
  const uint64_t reported = world.Do(report).saw_change;
  CHECK(reported == first.saw_change + 1);
  CHECK(world.Do(report).saw_change == reported);

  const StopTask stop{.cluster = {"default"}, .task = id};
  const uint64_t stopped = world.Do(stop).saw_change;
  CHECK(stopped == reported + 1);
  CHECK(world.Do(stop).saw_change == stopped);

  const CreateCluster create{.name = {"other"}};
  const uint64_t created = world.Do(create).saw_change;
  CHECK(world.Do(create).saw_change == created);
}

TEST_CASE("who is told that something is gone waits for its deletion") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Stop(task);
  world.now += absl::Hours(24);
  world.Ok(Tick{});
  const uint64_t deleted = world.state.change_number() - 1;  // then the instance's version

  CHECK(world.Do(DescribeTasks{.cluster = {"default"}, .ids = {task->id}}).saw_change == deleted);
  CHECK(world.Do(StopTask{.cluster = {"default"}, .task = task->id}).saw_change == deleted);
}

TEST_CASE("after a restart there is nothing to wait for") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Restart();

  CHECK(world.state.change_number() == 0);
  CHECK(world.Do(DescribeTasks{.cluster = {"default"}, .ids = {task->id}}).saw_change == 0);
  CHECK(world.Do(DescribeContainerInstances{.cluster = {"default"}, .ids = {id}}).saw_change == 0);
  CHECK(world.Do(ListTasks{.cluster = {"default"}, .limit = 9}).saw_change == 0);
}

}  // namespace berth::scheduler

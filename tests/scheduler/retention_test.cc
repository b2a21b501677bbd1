#include <algorithm>
#include <numeric>

#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::TaskId;
using model::TaskStatus;

bool IsThere(World& world, const TaskId& id) {
  return world.Ok(DescribeTasks{.cluster = {"default"}, .ids = {id}}).missing.empty();
}

}  // namespace

TEST_CASE("a STOPPED task is described for its retention, and then MISSING") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Stop(task);

  world.now = kStart + absl::Hours(24) - absl::Seconds(1);
  world.Ok(Tick{});
  CHECK(IsThere(world, task->id));
  world.now += absl::Seconds(1);
  world.Ok(Tick{});

  CHECK_FALSE(IsThere(world, task->id));
  CHECK(world.store.tasks.empty());
  ListTasks list{.cluster = {"default"}, .desired_status = model::DesiredStatus::kStopped};
  list.limit = 9;
  CHECK(world.Ok(list).ids.empty());
}

TEST_CASE("a task that lives, or only should stop, is never forgotten") {
  World world;
  world.Register({});
  const model::TaskRecord running = world.Run(Spec());
  const model::TaskRecord stopping = world.Run(Spec());
  world.Ok(StopTask{.cluster = {"default"}, .task = stopping->id});

  world.now += absl::Hours(24 * 365);
  world.Ok(Tick{});

  CHECK(IsThere(world, running->id));
  CHECK(IsThere(world, stopping->id));
}

TEST_CASE("above the greatest number the task that stopped first goes first, whatever its age") {
  World world({.stopped_tasks_max = 2});
  world.Register({});
  const DefinitionRecord definition = world.Define(Spec());
  std::vector<model::TaskRecord> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(world.Run(definition));
  for (const int i : {2, 0, 1}) {
    world.now += absl::Seconds(1);
    world.Stop(tasks[i]);
  }

  world.Ok(Tick{});

  CHECK(IsThere(world, tasks[0]->id));
  CHECK(IsThere(world, tasks[1]->id));
  CHECK_FALSE(IsThere(world, tasks[2]->id));
}

TEST_CASE("retention goes on from before a restart") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Stop(task);
  const model::InstanceId gone = world.Register({});
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = gone});

  world.Restart();
  world.now += absl::Hours(24);
  world.Ok(Tick{});

  CHECK(world.store.tasks.empty());
  CHECK(world.store.instances.size() == 1);
}

TEST_CASE("an INACTIVE instance is described for an hour; its tasks may outlive it") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = id, .force = true});

  world.now = kStart + absl::Hours(1) - absl::Seconds(1);
  world.Ok(Tick{});
  CHECK(world.Instance(id).record->status == model::InstanceStatus::kInactive);
  world.now += absl::Seconds(1);
  world.Ok(Tick{});

  CHECK(world.Ok(DescribeContainerInstances{.cluster = {"default"}, .ids = {id}}).missing.size() ==
        1);
  CHECK(world.store.instances.empty());
  CHECK(world.Task(task->id)->last_status == TaskStatus::kStopped);
  world.Restart();
  CHECK(world.Task(task->id)->instance == id);
  world.now += absl::Hours(24);
  world.Ok(Tick{});
  CHECK(world.store.tasks.empty());
}

TEST_CASE("an instance's version does not go back when its tasks are forgotten") {
  World world;
  const model::InstanceId id = world.Register({});
  const DefinitionRecord definition = world.Define(Spec());
  for (int i = 0; i < 3; ++i) world.Stop(world.Run(definition));
  CHECK(world.Instance(id).record->version == 7);

  world.now += absl::Hours(24);
  world.Ok(Tick{});

  CHECK(world.Instance(id).record->version == 7);
  world.Restart();
  CHECK(world.Instance(id).record->version == 7);
}

TEST_CASE("a tick does a bounded part, and the next ones the rest") {
  World world;
  world.Register({.memory_mib = 1'000'000'000});
  const DefinitionRecord definition = world.Define(Spec({Container("app", 6)}));
  // Without the audit, which looks at everything each time.
  const Context context{.now = world.now, .ids = world.ids};
  constexpr int kTasks = 2'500;
  for (int n = 0; n < kTasks; n += 10) {
    const auto reply = Decide(world.state, world.Running(definition, 10), context).reply;
    for (const model::TaskRecord& task : reply->tasks) {
      REQUIRE(Decide(world.state,
                     ReportTask{
                         .cluster = {"default"}, .task = task->id, .status = TaskStatus::kStopped},
                     context)
                  .reply.ok());
    }
  }
  const Context later{.now = world.now + absl::Hours(24), .ids = world.ids};

  std::vector<size_t> steps;
  do {
    steps.push_back(Decide(world.state, Tick{}, later).changes.size());
  } while (steps.back() > 0);

  // Each also writes down the instance.
  CHECK(*std::max_element(steps.begin(), steps.end()) == 1'001);
  CHECK(std::accumulate(steps.begin(), steps.end(), size_t{0}) == kTasks + steps.size() - 1);
  CHECK(world.state.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("an INACTIVE cluster is described for its retention, and then MISSING with all in it") {
  World world({.stopped_tasks = absl::Hours(1000),
               .inactive_instances = absl::Hours(1000),
               .inactive_clusters = absl::Hours(5)});
  const model::InstanceId id = world.Register({});
  RunTask run = world.Running(world.Define(Spec()));
  run.client_token = "t";
  const model::TaskRecord task = world.Ok(run).tasks.at(0);
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = id, .force = true});
  world.Ok(DeleteCluster{.name = {"default"}});

  world.now += absl::Hours(5) - absl::Seconds(1);
  world.Ok(Tick{});
  CHECK(IsThere(world, task->id));
  world.Restart();
  world.now += absl::Seconds(1);
  world.Ok(Tick{});

  CHECK(world.Ok(DescribeClusters{.names = {{"default"}}}).missing.size() == 1);
  CHECK(world.store.clusters.empty());
  CHECK(world.store.instances.empty());
  CHECK(world.store.tasks.empty());
  CHECK(world.store.tokens.empty());
  world.Restart();
  CHECK(world.Ok(CreateCluster{.name = {"default"}}).record->status ==
        model::ClusterStatus::kActive);
}

TEST_CASE("clusters go oldest first, and one that has come back stays") {
  World world({.inactive_clusters = absl::Hours(1)});
  for (const char* name : {"a", "b", "c"}) {
    world.Ok(CreateCluster{.name = {name}});
    world.Ok(DeleteCluster{.name = {name}});
    world.now += absl::Minutes(10);
  }
  world.Ok(CreateCluster{.name = {"a"}});

  world.now = kStart + absl::Minutes(70);
  world.Ok(Tick{});

  const auto described = world.Ok(DescribeClusters{.names = {{"a"}, {"b"}, {"c"}}});
  CHECK(described.clusters.size() == 2);
  CHECK(described.missing == std::vector<model::ClusterName>{{"b"}});
}

TEST_CASE("a large cluster is forgotten in bounded parts, the cluster itself last") {
  World world;
  world.Register({.memory_mib = 1'000'000'000});
  const DefinitionRecord definition = world.Define(Spec({Container("app", 6)}));
  const Context context{.now = world.now, .ids = world.ids};
  for (int n = 0; n < 1'010; n += 10) {
    REQUIRE(Decide(world.state, world.Running(definition, 10), context).reply.ok());
  }
  const auto listed = world.Ok(ListContainerInstances{.cluster = {"default"}, .limit = 1});
  Decide(world.state,
         DeregisterContainerInstance{.cluster = {"default"}, .id = listed.ids.at(0), .force = true},
         context);
  REQUIRE(Decide(world.state, DeleteCluster{.name = {"default"}}, context).reply.ok());
  const auto is_there = [&] {
    return Decide(world.state, DescribeClusters{.names = {{"default"}}}, context)
        .reply->missing.empty();
  };
  const Context later{.now = world.now + absl::Hours(24), .ids = world.ids};

  Decide(world.state, Tick{}, later);
  CHECK(is_there());
  CHECK(world.state.FindViolations() == std::vector<std::string>{});
  Decide(world.state, Tick{}, later);

  CHECK_FALSE(is_there());
  CHECK(world.state.FindViolations() == std::vector<std::string>{});
}

}  // namespace berth::scheduler

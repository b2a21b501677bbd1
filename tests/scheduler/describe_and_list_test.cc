#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::DesiredStatus;
using model::ErrorKind;
using model::LaunchType;
using model::TaskId;
using model::TaskStatus;

ListTasks Listing() { return {.cluster = {"default"}, .limit = 100}; }

// Two families, two instances, two callers.
struct SomeTasks {
  SomeTasks() {
    a = world.Register({.memory_mib = 512});
    b = world.Register({.memory_mib = 4096});
    world.now += absl::Seconds(1);
    web_on_a = Run("web", "alice");
    web_on_b = Run("web", "");
    api_on_b = Run("api", "alice");
    stopping = Run("api", "bob");
    stopped = Run("web", "bob");
    world.Ok(StopTask{.cluster = {"default"}, .task = stopping->id});
    world.Stop(stopped);
  }
  model::TaskRecord Run(const std::string& family, const std::string& by) {
    // Larger than what is left on `a` after the first.
    model::TaskSpec spec = Spec({Container("app", 300)});
    spec.family = family;
    RunTask command = world.Running(world.Define(spec));
    command.started_by = by;
    return world.Ok(command).tasks.at(0);
  }
  std::vector<TaskId> List(const ListTasks& command) { return world.Ok(command).ids; }

  World world;
  model::InstanceId a;
  model::InstanceId b;
  model::TaskRecord web_on_a;
  model::TaskRecord web_on_b;
  model::TaskRecord api_on_b;
  model::TaskRecord stopping;
  model::TaskRecord stopped;
};

}  // namespace

TEST_CASE_METHOD(SomeTasks,
                 "tasks are described in the order asked for, repeats once, missing named") {
  const auto reply = world.Ok(DescribeTasks{
      .cluster = {"default"}, .ids = {stopped->id, {"feed"}, web_on_a->id, stopped->id, {"feed"}}});

  REQUIRE(reply.tasks.size() == 2);
  CHECK(reply.tasks[0]->id == stopped->id);
  CHECK(reply.tasks[1]->id == web_on_a->id);
  CHECK(reply.missing == std::vector<TaskId>{{"feed"}});
}

TEST_CASE_METHOD(SomeTasks, "a task of another cluster is missing here") {
  world.Ok(CreateCluster{.name = {"other"}});
  CHECK(world.Ok(DescribeTasks{.cluster = {"other"}, .ids = {web_on_a->id}}).missing.size() == 1);
}

TEST_CASE_METHOD(SomeTasks, "Describe refuses nothing, too much, and a cluster that is not there") {
  CHECK(world.Refusal(DescribeTasks{.cluster = {"default"}}) == "Tasks cannot be empty.");
  CHECK(world.Refusal(
            DescribeTasks{.cluster = {"default"}, .ids = std::vector<TaskId>(101, {"feed"})}) ==
        "taskIds can have at most 100 items.");
  CHECK(world.Ok(DescribeTasks{.cluster = {"default"}, .ids = std::vector<TaskId>(100, {"feed"})})
            .missing.size() == 1);
  CHECK(world.Refusal(DescribeContainerInstances{.cluster = {"default"}}, ErrorKind::kClient) ==
        "Container Instances cannot be empty.");
  CHECK(world.Refusal(DescribeContainerInstances{
            .cluster = {"default"}, .ids = std::vector<model::InstanceId>(101, {"feed"})}) ==
        "instanceIds can have at most 100 items.");
  world.Refusal(DescribeTasks{.cluster = {"no"}, .ids = {{"x"}}}, ErrorKind::kClusterNotFound);
  world.Refusal(DescribeContainerInstances{.cluster = {"no"}, .ids = {{"x"}}},
                ErrorKind::kClusterNotFound);
  world.Refusal(ListTasks{.cluster = {"no"}, .limit = 1}, ErrorKind::kClusterNotFound);
  world.Refusal(ListContainerInstances{.cluster = {"no"}, .limit = 1}, ErrorKind::kClusterNotFound);
}

TEST_CASE_METHOD(SomeTasks, "instances are described in the order asked for, missing named") {
  const auto reply =
      world.Ok(DescribeContainerInstances{.cluster = {"default"}, .ids = {b, {"feed"}, a, b}});

  REQUIRE(reply.instances.size() == 2);
  CHECK(reply.instances[0].record->id == b);
  CHECK(reply.instances[0].pending_tasks == 3);
  CHECK(reply.instances[0].state.remaining_memory_mib == 4096 - 3 * 300);
  CHECK(reply.instances[1].record->id == a);
  CHECK(reply.missing == std::vector<model::InstanceId>{{"feed"}});
}

TEST_CASE_METHOD(SomeTasks, "tasks are listed by what should run, and filters all have to match") {
  const auto with = [](auto change) {
    ListTasks command = Listing();
    change(command);
    return command;
  };
  using Filter = ListTasks;
  const auto stop = DesiredStatus::kStopped;

  CHECK(List(Listing()) == std::vector{web_on_a->id, web_on_b->id, api_on_b->id});
  CHECK(List(with([&](Filter& c) { c.desired_status = stop; })) ==
        std::vector{stopping->id, stopped->id});
  CHECK(List(with([](Filter& c) { c.pending = true; })).empty());
  CHECK(List(with([](Filter& c) { c.family = "web"; })) == std::vector{web_on_a->id, web_on_b->id});
  CHECK(List(with([](Filter& c) { c.family = "we"; })).empty());
  CHECK(List(with([](Filter& c) { c.started_by = "alice"; })) ==
        std::vector{web_on_a->id, api_on_b->id});
  CHECK(List(with([](Filter& c) { c.started_by = "carol"; })).empty());
  CHECK(List(with([&](Filter& c) { c.instance = b; })) == std::vector{web_on_b->id, api_on_b->id});
  CHECK(List(with([&](Filter& c) {
          c.instance = b;
          c.family = "web";
        })) == std::vector{web_on_b->id});
  CHECK(List(with([&](Filter& c) {
          c.started_by = "bob";
          c.family = "web";
          c.desired_status = stop;
        })) == std::vector{stopped->id});
  CHECK(List(with([](Filter& c) { c.launch_type = LaunchType::kExternal; })).empty());
  CHECK(List(with([](Filter& c) { c.launch_type = LaunchType::kEc2; })).size() == 3);
}

TEST_CASE_METHOD(SomeTasks, "a filter by an instance that is not there is refused") {
  ListTasks command = Listing();
  command.instance = model::InstanceId{"feed"};
  world.Refusal(command, ErrorKind::kInvalidParameter);
}

TEST_CASE_METHOD(SomeTasks, "pages join without a gap while tasks come and go between them") {
  ListTasks command = Listing();
  command.limit = 2;
  auto page = world.Ok(command);
  CHECK(page.ids == std::vector{web_on_a->id, web_on_b->id});
  CHECK(page.more);

  world.Ok(StopTask{.cluster = {"default"}, .task = web_on_b->id});
  const model::TaskRecord later = Run("web", "");
  command.after = page.ids.back().value;
  page = world.Ok(command);

  CHECK(page.ids == std::vector{api_on_b->id, later->id});
  CHECK_FALSE(page.more);
}

TEST_CASE_METHOD(SomeTasks, "a page that ends with the last match says so, whatever else follows") {
  ListTasks command = Listing();
  command.family = "web";
  command.launch_type = LaunchType::kEc2;
  command.limit = 2;
  CHECK_FALSE(world.Ok(command).more);
  command.limit = 1;
  CHECK(world.Ok(command).more);
}

TEST_CASE_METHOD(SomeTasks, "instances are listed by id, without the INACTIVE") {
  CHECK(world.Ok(ListContainerInstances{.cluster = {"default"}, .limit = 1}).ids == std::vector{a});
  CHECK(world.Ok(ListContainerInstances{.cluster = {"default"}, .limit = 1}).more);
  const ListContainerInstances second{.cluster = {"default"}, .after = a.value, .limit = 1};
  CHECK(world.Ok(second).ids == std::vector{b});
  CHECK_FALSE(world.Ok(second).more);

  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = b, .force = true});

  CHECK_FALSE(world.Ok(ListContainerInstances{.cluster = {"default"}, .limit = 1}).more);
  CHECK(world
            .Ok(ListContainerInstances{
                .cluster = {"default"}, .status = model::InstanceStatus::kDraining, .limit = 9})
            .ids.empty());
  CHECK(world
            .Ok(ListContainerInstances{
                .cluster = {"default"}, .status = model::InstanceStatus::kActive, .limit = 9})
            .ids == std::vector{a});
  world.Refusal(ListContainerInstances{
      .cluster = {"default"}, .status = model::InstanceStatus::kInactive, .limit = 9});
}

}  // namespace berth::scheduler

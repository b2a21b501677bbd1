// Constraints and strategies of RunTask: the definition's and the request's together.
#include <set>
#include <string>
#include <vector>

#include "placement/query.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::TaskStatus;
using placement::Strategy;

std::shared_ptr<const placement::Query> Compiled(const std::string& text) {
  const auto query = placement::Query::Compile(text);
  INFO(query.status().ToString());
  REQUIRE(query.ok());
  return *query;
}

Machine Coloured(const std::string& color) {
  return {.attributes = {{.name = "color", .value = color}}};
}

model::TaskSpec Constrained(const std::string& expression) {
  model::TaskSpec spec = Spec();
  spec.placement_constraints = {{.type = "memberOf", .expression = expression}};
  return spec;
}

TEST_CASE("the constraints of a definition hold for each of its tasks", "[rules]") {
  World world;
  world.Register(Coloured("red"));
  const model::InstanceId blue = world.Register(Coloured("blue"));
  const DefinitionRecord definition = world.Define(Constrained("attribute:color == blue"));

  const RunTask::Reply reply = world.Ok(world.Running(definition, 3));

  REQUIRE(reply.tasks.size() == 3);
  for (const model::TaskRecord& task : reply.tasks) CHECK(task->instance == blue);
}

TEST_CASE("the constraints of a definition hold after a restart too", "[rules]") {
  World world;
  world.Register(Coloured("red"));
  const model::InstanceId blue = world.Register(Coloured("blue"));
  const DefinitionRecord definition = world.Define(Constrained("attribute:color == blue"));

  world.Restart();

  CHECK(world.Ok(world.Running(definition)).tasks.at(0)->instance == blue);
}

TEST_CASE("a definition's and a request's constraints hold both", "[rules]") {
  World world;
  const model::InstanceId id = world.Register(Coloured("blue"));
  RunTask command = world.Running(world.Define(Constrained("attribute:color == blue")));
  command.rules.member_of = {Compiled("attribute:ecs.os-type == windows")};

  const RunTask::Reply reply = world.Ok(command);

  CHECK(reply.tasks.empty());
  REQUIRE(reply.failures.size() == 1);
  CHECK(reply.failures[0].instance == id);
  CHECK(reply.failures[0].reason == "MemberOf placement constraint unsatisfied.");
  CHECK(reply.failures[0].detail ==
        "needs an instance for which 'attribute:ecs.os-type == windows' holds; for instance " +
            id.value + " it does not");
}

TEST_CASE("an expression that does not compile is not registered", "[rules]") {
  World world;
  const model::TaskSpec spec = Constrained("attribute:color = blue");

  const std::string refusal =
      world.Refusal(RegisterTaskDefinition{.family = "web",
                                           .document = std::make_shared<const std::string>("{}"),
                                           .spec = std::make_shared<const model::TaskSpec>(spec)},
                    model::ErrorKind::kClient);

  CHECK_THAT(refusal, Catch::StartsWith("placementConstraints[0].expression: the expression "
                                        "'attribute:color = blue' is not valid at character 17:"));
  CHECK(world.store.definitions.empty());
}

// Versions before this one kept expressions without reading them.
TEST_CASE("a kept definition whose expression does not compile runs no task", "[rules]") {
  World world;
  world.Register({});
  const DefinitionRecord definition = world.Define(Spec());
  auto damaged = std::make_shared<model::TaskDefinition>(*definition);
  damaged->spec = std::make_shared<const model::TaskSpec>(Constrained("a == b"));
  world.store.definitions[definition->sequence] = damaged;

  world.Restart();

  CHECK_THAT(world.Refusal(world.Running(definition)),
             Catch::StartsWith("task definition web:1: placementConstraints[0].expression: "));
  CHECK(world.Ok(DescribeTaskDefinition{.definition = {.family = "web"}}) != nullptr);
}

TEST_CASE("distinctInstance counts the tasks placed earlier in the same call", "[rules]") {
  World world;
  for (int i = 0; i < 3; ++i) world.Register({});
  RunTask command = world.Running(world.Define(Spec()), 5);
  command.rules.distinct_instance = true;

  const RunTask::Reply reply = world.Ok(command);

  std::set<std::string> instances;
  for (const model::TaskRecord& task : reply.tasks) instances.insert(task->instance.value);
  CHECK(reply.tasks.size() == 3);
  CHECK(instances.size() == 3);
  REQUIRE(reply.failures.size() == 3);
  CHECK(reply.failures[0].reason == "DistinctInstance placement constraint unsatisfied.");
  CHECK_THAT(reply.failures[0].detail, Catch::Contains("group family:web"));
}

TEST_CASE("distinctInstance holds until a task is STOPPED, and over a restart", "[rules]") {
  World world;
  world.Register({});
  const DefinitionRecord definition = world.Define(Spec());
  RunTask command = world.Running(definition);
  command.rules.distinct_instance = true;
  const model::TaskRecord task = world.Ok(command).tasks.at(0);
  world.Report(task, TaskStatus::kRunning);

  CHECK(world.Ok(command).tasks.empty());
  world.Restart();
  CHECK(world.Ok(command).tasks.empty());
  world.Ok(StopTask{.cluster = task->cluster, .task = task->id});
  CHECK(world.Ok(command).tasks.empty());
  world.Report(task, TaskStatus::kStopped);
  CHECK(world.Ok(command).tasks.size() == 1);
}

TEST_CASE("another group may be where a group is", "[rules]") {
  World world;
  world.Register({});
  RunTask command = world.Running(world.Define(Spec()));
  command.rules.distinct_instance = true;
  CHECK(world.Ok(command).tasks.size() == 1);

  command.group = "batch";

  CHECK(world.Ok(command).tasks.size() == 1);
}

TEST_CASE("the tasks of one call are spread", "[rules]") {
  World world;
  for (int i = 0; i < 4; ++i) world.Register(Coloured(i < 3 ? "red" : "blue"));
  RunTask command = world.Running(world.Define(Spec()), 10);
  command.rules.strategies = {
      {.kind = Strategy::Kind::kSpread, .field = Strategy::Field::kAttribute, .attribute = "color"},
      {.kind = Strategy::Kind::kSpread, .field = Strategy::Field::kInstanceId}};

  const RunTask::Reply reply = world.Ok(command);

  std::map<std::string, int> tasks;
  for (const model::TaskRecord& task : reply.tasks) ++tasks[task->instance.value];
  std::multiset<int> counts;
  for (const auto& [instance, count] : tasks) counts.insert(count);
  CHECK(counts == std::multiset<int>{1, 2, 2, 5});
}

TEST_CASE("random tasks land in different places, and the same from the same ids", "[rules]") {
  const auto run = [] {
    World world;
    for (int i = 0; i < 5; ++i) world.Register({});
    RunTask command = world.Running(world.Define(Spec()), 10);
    command.rules.strategies = {{.kind = Strategy::Kind::kRandom}};
    std::vector<std::string> where;
    for (const auto& task : world.Ok(command).tasks) where.push_back(task->instance.value);
    return where;
  };

  const std::vector<std::string> where = run();

  CHECK(where == run());
  CHECK(std::set<std::string>(where.begin(), where.end()).size() > 1);
}

TEST_CASE("a repeated call with rules is answered with its tasks", "[rules]") {
  World world;
  world.Register({});
  RunTask command = world.Running(world.Define(Spec()));
  command.rules.distinct_instance = true;
  command.client_token = "once";

  const model::TaskRecord task = world.Ok(command).tasks.at(0);

  CHECK(world.Ok(command).tasks.at(0)->id == task->id);
}

// --- ListContainerInstances
// -----------------------------------------------------------------------

std::vector<model::InstanceId> Listed(World& world, const std::string& filter,
                                      std::optional<model::InstanceStatus> status = std::nullopt) {
  return world
      .Ok(ListContainerInstances{
          .cluster = {"default"}, .status = status, .filter = Compiled(filter), .limit = 100})
      .ids;
}

TEST_CASE("instances are listed by what a filter says of them", "[rules]") {
  World world;
  const model::InstanceId red = world.Register(Coloured("red"));
  const model::InstanceId blue = world.Register(Coloured("blue"));

  CHECK(Listed(world, "attribute:color == blue") == std::vector{blue});
  CHECK(Listed(world, "attribute:color in [red, blue]") == std::vector{red, blue});
  CHECK(Listed(world, "attribute:color == green").empty());
}

TEST_CASE("a filter sees connections and counts as they are now", "[rules]") {
  World world;
  const model::InstanceId id = world.Register({.emulated = false});
  CHECK(Listed(world, "agentConnected == true").empty());

  world.Connect(id);
  CHECK(Listed(world, "agentConnected == true") == std::vector{id});
  const model::TaskRecord task = world.Run(Spec());
  CHECK(Listed(world, "runningTasksCount == 0 and task:group == family:web") == std::vector{id});
  world.Report(task, TaskStatus::kRunning);
  CHECK(Listed(world, "runningTasksCount == 1") == std::vector{id});
  world.Restart();
  CHECK(Listed(world, "runningTasksCount == 1 and agentConnected == false") == std::vector{id});
  world.Connect(id);
  world.Stop(task);
  CHECK(Listed(world, "runningTasksCount == 0 and not(task:group =~ .*)") == std::vector{id});
}

TEST_CASE("a filter and a status hold both, page by page", "[rules]") {
  World world;
  std::vector<model::InstanceId> ids;
  for (int i = 0; i < 6; ++i) {
    const model::InstanceId id = world.Register(Coloured(i % 2 == 0 ? "red" : "blue"));
    if (i % 2 == 0) ids.push_back(id);
  }
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = ids[1]});
  ids.erase(ids.begin() + 1);

  ListContainerInstances command{.cluster = {"default"},
                                 .status = model::InstanceStatus::kActive,
                                 .filter = Compiled("attribute:color == red"),
                                 .limit = 1};
  const auto first = world.Ok(command);
  command.after = first.ids.at(0).value;
  const auto second = world.Ok(command);

  CHECK(first.more);
  CHECK(std::vector{first.ids.at(0), second.ids.at(0)} == ids);
  CHECK_FALSE(second.more);
  CHECK(Listed(world, "attribute:color == red", model::InstanceStatus::kDraining).empty());
}

}  // namespace
}  // namespace berth::scheduler

#include "absl/strings/str_format.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::DefinitionId;
using model::ErrorKind;

DefinitionRecord Define(World& world, const std::string& family) {
  model::TaskSpec spec = Spec();
  spec.family = family;
  return world.Define(spec);
}

std::vector<std::string> Names(const ListTaskDefinitions::Reply& reply) {
  std::vector<std::string> names;
  for (const DefinitionId& id : reply.ids) {
    names.push_back(absl::StrFormat("%s:%d", id.family, id.revision));
  }
  return names;
}

std::vector<std::string> NamesOf(World& world, model::DefinitionStatus status) {
  return Names(world.Ok(ListTaskDefinitions{.status = status, .limit = 100}));
}

std::vector<std::string> Families(World& world, ListTaskDefinitionFamilies::Filter filter,
                                  const std::string& prefix = "") {
  return world.Ok(ListTaskDefinitionFamilies{.prefix = prefix, .filter = filter, .limit = 100})
      .families;
}

DefinitionRecord Deregister(World& world, const DefinitionRecord& definition) {
  return world.Ok(DeregisterTaskDefinition{.definition = definition->id});
}

DeleteTaskDefinitions::Deleted Delete(World& world, const DefinitionRecord& definition) {
  return world.Ok(DeleteTaskDefinitions{.definitions = {definition->id}}).results.at(0);
}

using Texts = std::vector<std::string>;
using model::DefinitionStatus;
using Filter = ListTaskDefinitionFamilies::Filter;
using Refusal = DeleteTaskDefinitions::Refusal;

}  // namespace

TEST_CASE("registering the same definition again makes the next revision") {
  World world;

  CHECK(Define(world, "web")->id.revision == 1);
  CHECK(Define(world, "web")->id.revision == 2);
  CHECK(Define(world, "other")->id.revision == 1);
}

TEST_CASE("a registered definition carries what follows from its spec") {
  World world;
  model::TaskSpec spec = GpuSpec({Mps(1000)});

  const DefinitionRecord definition =
      world.Ok(RegisterTaskDefinition{.family = "web",
                                      .document = std::make_shared<const std::string>("{}"),
                                      .spec = std::make_shared<const model::TaskSpec>(spec),
                                      .tags = {{.key = "a", .value = "b"}},
                                      .registered_by = "arn:aws:iam::0:user/x"});

  CHECK(definition->status == model::DefinitionStatus::kActive);
  CHECK(definition->registered_at == kStart);
  CHECK(definition->registered_by == "arn:aws:iam::0:user/x");
  CHECK(definition->tags == model::Tags{{.key = "a", .value = "b"}});
  CHECK(definition->compatibilities == model::ComputeCompatibilities(spec));
  CHECK(definition->requires_attributes == model::ComputeRequiredAttributes(spec));
}

TEST_CASE("a revision number is never used again, not even after every revision is gone") {
  World world;
  for (int i = 0; i < 3; ++i) Define(world, "web");
  world.store.definitions.clear();

  world.Restart();

  CHECK(Define(world, "web")->id.revision == 4);
}

TEST_CASE("a family alone means its latest ACTIVE revision") {
  World world;
  Define(world, "web");
  const DefinitionRecord second = Define(world, "web");
  const DefinitionRecord third = Define(world, "web");
  Define(world, "web2");
  const DescribeTaskDefinition bare{.definition = {.family = "web"}};
  CHECK(world.Ok(bare)->id.revision == 3);

  Deregister(world, third);
  CHECK(world.Ok(bare)->id.revision == 2);
  Deregister(world, second);
  CHECK(world.Ok(bare)->id.revision == 1);

  // By number all of them are still described.
  for (const int64_t revision : {1, 2, 3}) {
    CHECK(world.Ok(DescribeTaskDefinition{.definition = {.family = "web", .revision = revision}})
              ->id.revision == revision);
  }
}

TEST_CASE("what cannot be described is a ClientException") {
  World world;
  const DefinitionRecord only = Define(world, "web");
  const std::string text = "Unable to describe task definition.";

  CHECK(world.Refusal(DescribeTaskDefinition{.definition = {.family = "we"}}, ErrorKind::kClient) ==
        text);
  CHECK(world.Refusal(DescribeTaskDefinition{.definition = {.family = "web", .revision = 2}},
                      ErrorKind::kClient) == text);
  Deregister(world, only);
  CHECK(world.Refusal(DescribeTaskDefinition{.definition = {.family = "web"}},
                      ErrorKind::kClient) == text);
}

TEST_CASE("definitions are listed by family, then by revision as a number, both ways") {
  World world;
  for (int i = 0; i < 11; ++i) Define(world, "web");
  Define(world, "api");
  Define(world, "web-2");

  CHECK(Names(world.Ok(ListTaskDefinitions{.limit = 4})) ==
        std::vector<std::string>{"api:1", "web:1", "web:2", "web:3"});
  CHECK(Names(world.Ok(ListTaskDefinitions{.after = DefinitionId{"web", 9}, .limit = 10})) ==
        std::vector<std::string>{"web:10", "web:11", "web-2:1"});
  CHECK(Names(world.Ok(ListTaskDefinitions{.descending = true, .limit = 3})) ==
        std::vector<std::string>{"web-2:1", "web:11", "web:10"});
  CHECK(Names(world.Ok(ListTaskDefinitions{
            .descending = true, .after = DefinitionId{"web", 2}, .limit = 9})) ==
        std::vector<std::string>{"web:1", "api:1"});
}

TEST_CASE("a page says whether another follows") {
  World world;
  for (int i = 0; i < 4; ++i) Define(world, "web");
  for (const bool descending : {false, true}) {
    CHECK(world.Ok(ListTaskDefinitions{.descending = descending, .limit = 3}).more);
    CHECK_FALSE(world.Ok(ListTaskDefinitions{.descending = descending, .limit = 4}).more);
    CHECK(
        world.Ok(ListTaskDefinitions{.family = "web", .descending = descending, .limit = 3}).more);
    CHECK_FALSE(
        world.Ok(ListTaskDefinitions{.family = "web", .descending = descending, .limit = 4}).more);
  }
}

TEST_CASE("familyPrefix is the whole family name, also with a key of another family") {
  World world;
  for (const char* family : {"a", "web", "web", "web", "webb", "z"}) Define(world, family);
  using List = ListTaskDefinitions;
  struct Case {
    std::string why;
    List command;
    std::vector<std::string> names;
  };
  const auto c = GENERATE(values<Case>({
      {"the family", List{.family = "web", .limit = 9}, {"web:1", "web:2", "web:3"}},
      {"a prefix is no family", List{.family = "we", .limit = 9}, {}},
      {"after one",
       List{.family = "web", .after = DefinitionId{"web", 1}, .limit = 9},
       {"web:2", "web:3"}},
      {"after a lower family",
       List{.family = "web", .after = DefinitionId{"a", 1}, .limit = 9},
       {"web:1", "web:2", "web:3"}},
      {"after a higher family",
       List{.family = "web", .after = DefinitionId{"z", 1}, .limit = 9},
       {}},
      {"down", List{.family = "web", .descending = true, .limit = 9}, {"web:3", "web:2", "web:1"}},
      {"down after one",
       List{.family = "web", .descending = true, .after = DefinitionId{"web", 2}, .limit = 9},
       {"web:1"}},
      {"down after a lower family",
       List{.family = "web", .descending = true, .after = DefinitionId{"a", 1}, .limit = 9},
       {}},
      {"down after a higher family",
       List{.family = "web", .descending = true, .after = DefinitionId{"z", 1}, .limit = 9},
       {"web:3", "web:2", "web:1"}},
  }));
  INFO(c.why);

  CHECK(Names(world.Ok(c.command)) == c.names);
}

TEST_CASE("definitions are listed by status, ACTIVE unless asked otherwise") {
  World world;
  const DefinitionRecord first = Define(world, "web");
  Define(world, "web");
  Deregister(world, first);

  CHECK(Names(world.Ok(ListTaskDefinitions{.limit = 9})) == std::vector<std::string>{"web:2"});
  CHECK(Names(world.Ok(ListTaskDefinitions{.status = model::DefinitionStatus::kInactive,
                                           .limit = 9})) == std::vector<std::string>{"web:1"});
}

TEST_CASE("a deregistered revision is INACTIVE: described, listed as such, and not run anew") {
  World world;
  world.Register({});
  const DefinitionRecord first = Define(world, "web");
  const DefinitionRecord second = Define(world, "web");
  const model::TaskRecord running = world.Run(second);
  world.now += absl::Minutes(1);

  const DefinitionRecord inactive = Deregister(world, second);

  CHECK(inactive->status == DefinitionStatus::kInactive);
  CHECK(inactive->deregistered_at == world.now);
  CHECK(inactive->delete_requested_at == absl::InfinitePast());
  CHECK(NamesOf(world, DefinitionStatus::kActive) == Texts{"web:1"});
  CHECK(NamesOf(world, DefinitionStatus::kInactive) == Texts{"web:2"});
  CHECK(world.Ok(DescribeTaskDefinition{.definition = {.family = "web", .revision = 2}}) ==
        inactive);
  CHECK(world.Refusal(world.Running(second)) == "TaskDefinition is inactive");
  CHECK(world.Task(running->id)->desired_status == model::DesiredStatus::kRunning);
  world.Restart();
  CHECK(NamesOf(world, DefinitionStatus::kInactive) == Texts{"web:2"});
}

TEST_CASE("a revision deregistered twice is as after the first time") {
  World world;
  const DefinitionRecord definition = Define(world, "web");
  const DefinitionRecord inactive = Deregister(world, definition);
  const size_t changes = world.changes.size();
  world.now += absl::Minutes(1);

  CHECK(Deregister(world, definition) == inactive);

  CHECK(world.changes.size() == changes);
  CHECK(world.Refusal(DeregisterTaskDefinition{.definition = {.family = "web", .revision = 2}},
                      ErrorKind::kClient) == "Unable to describe task definition.");
}

TEST_CASE("a deleted revision that nothing refers to is gone at once, and its number for good") {
  World world;
  const DefinitionRecord definition = Define(world, "web");
  Deregister(world, definition);
  world.now += absl::Minutes(1);

  const auto deleted = Delete(world, definition);

  CHECK(deleted.refusal == Refusal::kNone);
  CHECK(deleted.record->status == DefinitionStatus::kDeleteInProgress);
  CHECK(deleted.record->delete_requested_at == world.now);
  CHECK(world.store.definitions.empty());
  CHECK(Families(world, Filter::kAll).empty());
  CHECK(Delete(world, definition).refusal == Refusal::kUnknown);
  world.Restart();
  CHECK(Define(world, "web")->id.revision == 2);
}

TEST_CASE("a deleted revision is described until the last task that is a run of it is forgotten") {
  World world;
  world.Register({});
  const DefinitionRecord definition = Define(world, "web");
  const model::TaskRecord early = world.Run(definition);
  const model::TaskRecord late = world.Run(definition);
  world.Stop(early);
  Deregister(world, definition);
  Delete(world, definition);
  const auto is_there = [&] {
    return NamesOf(world, DefinitionStatus::kDeleteInProgress) == Texts{"web:1"};
  };
  CHECK(is_there());
  CHECK(world.Refusal(world.Running(definition)) == "TaskDefinition is inactive");
  CHECK(Families(world, Filter::kInactive) == Texts{"web"});

  world.now += absl::Hours(1);
  world.Stop(late);
  world.now = kStart + absl::Hours(24);
  world.Ok(Tick{});
  CHECK(is_there());
  world.Restart();
  CHECK(is_there());
  // Deleted again meanwhile, it is as it was.
  CHECK(Delete(world, definition).record->delete_requested_at == kStart);
  world.now += absl::Hours(1);
  const auto tick = world.Do(Tick{});

  // The task, the revision, and the version that the instance owes to the task.
  CHECK(tick.changes.size() == 3);
  CHECK(world.store.definitions.empty());
  CHECK(world.store.tasks.empty());
  CHECK(Families(world, Filter::kAll).empty());
}

TEST_CASE("each revision that cannot be deleted says why, and does not keep others from it") {
  World world;
  const DefinitionRecord active = Define(world, "web");
  const DefinitionRecord inactive = Define(world, "web");
  Deregister(world, inactive);

  const auto results =
      world
          .Ok(DeleteTaskDefinitions{
              .definitions = {active->id, {"ghost", 1}, inactive->id, inactive->id}})
          .results;

  REQUIRE(results.size() == 4);
  CHECK(results[0].refusal == Refusal::kStillActive);
  CHECK(results[1].refusal == Refusal::kUnknown);
  CHECK(results[2].record->status == DefinitionStatus::kDeleteInProgress);
  CHECK(results[3].record == results[2].record);  // named twice: the same answer twice
  CHECK(NamesOf(world, DefinitionStatus::kActive) == Texts{"web:1"});
}

TEST_CASE("a family is ACTIVE while it has an ACTIVE revision, and listed while it has any") {
  World world;
  const DefinitionRecord web1 = Define(world, "web");
  const DefinitionRecord web2 = Define(world, "web");
  Define(world, "api");
  CHECK(Families(world, Filter::kAll) == Texts{"api", "web"});
  CHECK(Families(world, Filter::kInactive).empty());

  Deregister(world, web1);
  CHECK(Families(world, Filter::kActive) == Texts{"api", "web"});
  Deregister(world, web2);
  CHECK(Families(world, Filter::kActive) == Texts{"api"});
  CHECK(Families(world, Filter::kInactive) == Texts{"web"});
  CHECK(Families(world, Filter::kAll) == Texts{"api", "web"});
  Delete(world, web1);
  CHECK(Families(world, Filter::kInactive) == Texts{"web"});
  Delete(world, web2);
  CHECK(Families(world, Filter::kAll) == Texts{"api"});
}

TEST_CASE("the prefix of a family is a real one, and pages go on behind the last name") {
  World world;
  for (const char* family : {"a", "ab", "ab-c", "abd", "ac", "b", "A"}) Define(world, family);
  ListTaskDefinitionFamilies list{.prefix = "ab", .limit = 2};

  const auto first = world.Ok(list);
  CHECK(first.families == Texts{"ab", "ab-c"});
  CHECK(first.more);
  list.after = "ab-c";
  const auto second = world.Ok(list);
  CHECK(second.families == Texts{"abd"});
  CHECK_FALSE(second.more);
  list.after = "zz";  // which no page ended with
  CHECK(world.Ok(list).families.empty());
  list.after = "A";
  CHECK(world.Ok(list).families == Texts{"ab", "ab-c"});
  CHECK(Families(world, Filter::kAll, "nobody").empty());
  CHECK(Families(world, Filter::kAll) == Texts{"A", "a", "ab", "ab-c", "abd", "ac", "b"});
}

TEST_CASE("that a revision is gone is told when its deletion is durable") {
  World world;
  const DefinitionRecord definition = Define(world, "web");
  Deregister(world, definition);
  const uint64_t deregistered = world.state.change_number();
  CHECK(world.Do(DescribeTaskDefinition{.definition = {.family = "web"}}).saw_change ==
        deregistered);
  Delete(world, definition);
  const uint64_t deleted = world.state.change_number();

  CHECK(
      world.Do(DescribeTaskDefinition{.definition = {.family = "web", .revision = 1}}).saw_change ==
      deleted);
  CHECK(world.Do(world.Running(definition)).saw_change == deleted);
  CHECK(world.Do(ListTaskDefinitionFamilies{.limit = 1}).saw_change == deleted);
}

}  // namespace berth::scheduler

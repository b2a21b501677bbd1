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

// Marks a revision in the store, as a deregistration will, and restarts.
void SetStatus(World& world, const DefinitionRecord& definition, model::DefinitionStatus status) {
  auto changed = std::make_shared<model::TaskDefinition>(*definition);
  changed->status = status;
  world.store.Apply(model::PutTaskDefinition{changed});
  world.Restart();
}

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

  SetStatus(world, third, model::DefinitionStatus::kInactive);
  CHECK(world.Ok(bare)->id.revision == 2);
  SetStatus(world, second, model::DefinitionStatus::kInactive);
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
  SetStatus(world, only, model::DefinitionStatus::kInactive);
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
  SetStatus(world, first, model::DefinitionStatus::kInactive);

  CHECK(Names(world.Ok(ListTaskDefinitions{.limit = 9})) == std::vector<std::string>{"web:2"});
  CHECK(Names(world.Ok(ListTaskDefinitions{.status = model::DefinitionStatus::kInactive,
                                           .limit = 9})) == std::vector<std::string>{"web:1"});
}

}  // namespace berth::scheduler

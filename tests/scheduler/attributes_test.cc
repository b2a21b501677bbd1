#include "absl/strings/str_format.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::Attribute;
using model::ErrorKind;
using model::InstanceId;
using Targets = std::vector<PutAttributes::Target>;

PutAttributes Put(Targets targets) {
  return {.cluster = {"default"}, .attributes = std::move(targets)};
}
DeleteAttributes Delete(Targets targets) {
  return {.cluster = {"default"}, .attributes = std::move(targets)};
}

// Named for what the value is, or "(none)" when there is no value, "(absent)" when no attribute.
std::string Value(World& world, const InstanceId& id, const std::string& name) {
  const InstanceSnapshot instance = world.Instance(id);
  const Attribute* attribute = model::FindAttribute(*instance.record, name);
  return attribute == nullptr ? "(absent)" : attribute->value.value_or("(none)");
}

Targets Numbered(const InstanceId& id, int from, int to) {
  Targets targets;
  for (int i = from; i < to; ++i) targets.push_back({id, {.name = absl::StrFormat("a%d", i)}});
  return targets;
}

}  // namespace

TEST_CASE("attributes are put on several instances at once, new ones and in place of others") {
  World world;
  const InstanceId a = world.Register({.attributes = {{.name = "stack", .value = "blue"}}});
  const InstanceId b = world.Register({});

  world.Ok(Put({{a, {.name = "stack", .value = "green"}},
                {b, {.name = "stack", .value = "red"}},
                {b, {.name = "gpu/ready"}}}));

  CHECK(Value(world, a, "stack") == "green");
  CHECK(Value(world, b, "stack") == "red");
  CHECK(Value(world, b, "gpu/ready") == "(none)");
  CHECK(Value(world, b, "ecs.os-type") == "linux");
  CHECK(world.Instance(a).record->version == 2);
  CHECK(world.Instance(b).record->version == 2);
}

TEST_CASE("putting what is there changes nothing; the last of two for one name counts") {
  World world;
  const InstanceId id = world.Register({});
  world.Ok(Put({{id, {.name = "a", .value = "1"}}}));

  CHECK(world.Do(Put({{id, {.name = "a", .value = "1"}}})).changes.empty());
  world.Ok(Put({{id, {.name = "a", .value = "2"}}, {id, {.name = "a", .value = "3"}}}));
  CHECK(Value(world, id, "a") == "3");
}

TEST_CASE("attributes of an operator outlive registrations and restarts") {
  World world;
  const InstanceId id = world.Register({.emulated = false});
  world.Ok(Put({{id, {.name = "stack", .value = "green"}}}));

  world.Ok(World::Registration({.existing = id, .emulated = false}));
  CHECK(Value(world, id, "stack") == "green");
  world.Restart();
  CHECK(Value(world, id, "stack") == "green");
}

TEST_CASE("one bad entry spoils the call, and none of it is done") {
  World world;
  const InstanceId id = world.Register({});
  const InstanceId gone = world.Register({});
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = gone});
  const std::string before = Portrait(world);
  const auto with = [&](PutAttributes::Target bad) {
    return Put({{id, {.name = "good"}}, std::move(bad)});
  };

  CHECK_THAT(world.Refusal(with({id, {.name = "a b"}})), Catch::Contains("'a b'"));
  CHECK_THAT(world.Refusal(with({id, {.name = "a", .value = ""}})), Catch::Contains("is empty"));
  CHECK_THAT(world.Refusal(with({id, {.name = "ecs.os-type", .value = "dos"}})),
             Catch::StartsWith("attribute ecs.os-type cannot be changed"));
  CHECK(world.Refusal(with({{"feed"}, {.name = "a"}}), ErrorKind::kTargetNotFound) ==
        "Could not find feed");
  CHECK(world.Refusal(with({gone, {.name = "a"}}), ErrorKind::kTargetNotFound) ==
        "Could not find " + gone.value);

  CHECK(Portrait(world) == before);
}

TEST_CASE("an instance has at most ten attributes of an operator's, changes not counted") {
  World world;
  const InstanceId id = world.Register({});
  const InstanceId other = world.Register({});
  world.Ok(Put(Numbered(id, 0, 9)));
  world.Ok(Put(Numbered(id, 9, 10)));

  CHECK_THAT(world.Refusal(Put(Numbered(id, 10, 11)), ErrorKind::kAttributeLimitExceeded),
             Catch::Contains("11 attributes"));
  world.Ok(Put({{id, {.name = "a3", .value = "other"}}}));
  world.Ok(Put(Numbered(other, 0, 10)));
  world.Ok(Delete({{id, {.name = "a3"}}}));
  world.Ok(Put(Numbered(id, 10, 11)));
}

TEST_CASE("an agent that brought more than ten can still have them changed") {
  World world;
  std::vector<Attribute> many;
  for (int i = 0; i < 12; ++i) many.push_back({.name = absl::StrFormat("a%d", i)});
  const InstanceId id = world.Register({.attributes = many});

  world.Ok(Put({{id, {.name = "a1", .value = "x"}}}));
  CHECK(Value(world, id, "a1") == "x");
  world.Refusal(Put(Numbered(id, 12, 13)), ErrorKind::kAttributeLimitExceeded);
}

TEST_CASE("deleting says what was deleted; what is not there is no error") {
  World world;
  const InstanceId id = world.Register(
      {.attributes = {{.name = "a", .value = "1"}, {.name = "b", .value = "2"}, {.name = "c"}}});

  const DeleteAttributes::Reply reply = world.Ok(Delete({{id, {.name = "a"}},
                                                         {id, {.name = "b", .value = "other"}},
                                                         {id, {.name = "c", .value = "x"}},
                                                         {id, {.name = "zzz"}}}));

  REQUIRE(reply.deleted.size() == 1);
  CHECK(reply.deleted[0].attribute == Attribute{.name = "a", .value = "1"});
  CHECK(Value(world, id, "a") == "(absent)");
  CHECK(Value(world, id, "b") == "2");
  CHECK(Value(world, id, "c") == "(none)");
  CHECK(world.Ok(Delete({{id, {.name = "b", .value = "2"}}})).deleted.size() == 1);
  CHECK(world.Do(Delete({{id, {.name = "b"}}})).changes.empty());
  CHECK_THAT(world.Refusal(Delete({{id, {.name = "ecs.os-type"}}})),
             Catch::Contains("cannot be changed"));
  world.Refusal(Delete({{{"feed"}, {.name = "a"}}}), ErrorKind::kTargetNotFound);
}

TEST_CASE("lists of attributes have one to ten entries") {
  World world;
  const InstanceId id = world.Register({});

  CHECK(world.Refusal(Put({})) == "attributes can not be empty");
  CHECK(world.Refusal(Delete({})) == "attributes can not be empty");
  world.Ok(Put(Numbered(id, 0, 10)));
  world.Ok(Delete(Numbered(id, 0, 10)));
  CHECK(world.Refusal(Put(Numbered(id, 0, 11))) == "attributes can have at most 10 items.");
  CHECK(world.Refusal(Delete(Numbered(id, 0, 11))) == "attributes can have at most 10 items.");
  PutAttributes elsewhere = Put({});
  elsewhere.cluster = {"nowhere"};
  CHECK(world.Refusal(elsewhere, ErrorKind::kClusterNotFound) == "Cluster not found.");
}

TEST_CASE("attributes are listed by instance and name, in pages of any size") {
  World world;
  const InstanceId a = world.Register({.attributes = {{.name = "stack", .value = "blue"}}});
  const InstanceId b = world.Register({.attributes = {{.name = "stack", .value = "green"}}});
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = world.Register({})});
  const size_t all = world.Instance(a).record->attributes.size() * 2;
  const int64_t size = GENERATE(1, 2, 7, 1000);
  INFO("pages of " << size);

  std::vector<std::string> rows;
  ListAttributes list{.cluster = {"default"}, .limit = size};
  for (bool more = true; more;) {
    const ListAttributes::Reply page = world.Ok(list);
    more = page.more;
    for (const ListAttributes::Row& row : page.rows) {
      rows.push_back(row.instance.value + " " + row.attribute.name);
    }
    list.after_instance = page.rows.back().instance.value;
    list.after_name = page.rows.back().attribute.name;
  }

  CHECK(rows.size() == all);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  CHECK(rows.back().substr(0, b.value.size()) == b.value);
}

TEST_CASE("attributes are listed by name, and by name and value") {
  World world;
  const InstanceId a = world.Register({.attributes = {{.name = "stack", .value = "blue"}}});
  const InstanceId b = world.Register({.attributes = {{.name = "stack", .value = "green"}}});
  ListAttributes list{.cluster = {"default"}, .name = "stack", .limit = 1};

  const ListAttributes::Reply first = world.Ok(list);
  CHECK(first.rows.at(0).instance == a);
  CHECK(first.more);
  list.limit = 2;
  CHECK(world.Ok(list).rows.size() == 2);
  CHECK_FALSE(world.Ok(list).more);
  list.value = "green";
  CHECK(world.Ok(list).rows.at(0).instance == b);
  list.value = "red";
  CHECK(world.Ok(list).rows.empty());
  list.name = std::nullopt;
  CHECK_THAT(world.Refusal(list), Catch::StartsWith("attributeValue is given without"));
}

}  // namespace berth::scheduler

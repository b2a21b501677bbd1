// Placement constraints bind: where they do not hold there is no place, and it is said why.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "placement/explanation.h"
#include "placement/query.h"
#include "rules.h"

namespace berth::placement {
namespace {

TEST_CASE("a task goes only where its expression holds", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "b"), In("i-3", "c")});

  CHECK(world.Run("t1", MemberOf({"attribute:zone == b"})) == "i-2");
  CHECK(world.Run("t2", MemberOf({"attribute:zone == d"})) == "nowhere");
  CHECK(world.Run("t3", MemberOf({"attribute:zone != a", "attribute:zone != b"})) == "i-3");
}

TEST_CASE("an expression is asked before the task is there", "[placement]") {
  RuledWorld world({In("i-1", "a")});

  CHECK(world.Run("t1", MemberOf({"not(task:group == web)"})) == "i-1");
  CHECK(world.Run("t2", MemberOf({"not(task:group == web)"})) == "nowhere");
  world.Stop("t1");
  CHECK(world.Run("t3", MemberOf({"not(task:group == web)"})) == "i-1");
}

TEST_CASE("what an agent says and how it stands can be asked for", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a")});
  model::ContainerInstance record = Record(In("i-2", "a"));
  record.version_info.agent_version = "1.80.0";
  record.ec2_instance_id = "machine-2";
  record.registered_at = absl::FromUnixSeconds(1'800'000'000);
  world.inventory.Put(record);
  const auto matches = [&](const std::string& id, const std::string& text) {
    return world.inventory.Matches({id}, **Query::Compile(text));
  };

  CHECK(matches("i-2", "agentVersion >= 1.80"));
  CHECK_FALSE(matches("i-1", "agentVersion >= 1.80"));
  CHECK(matches("i-2", "ec2InstanceId == machine-2"));
  CHECK(matches("i-2", "registeredAt > 2027-01-01"));
  CHECK_FALSE(matches("i-2", "agentConnected == true"));
  world.inventory.SetConnected({"i-2"}, true);
  CHECK(matches("i-2", "agentConnected == true"));
  CHECK(matches("i-2", "runningTasksCount == 0"));
  world.inventory.SetRunningTasks({"i-2"}, 3);
  CHECK(matches("i-2", "runningTasksCount == 3"));
  world.inventory.Put(record);
  CHECK(matches("i-2", "runningTasksCount == 3 and agentConnected == true"));
}

TEST_CASE("a capability that is registered and not offered can still be asked for", "[placement]") {
  RuledWorld world({{.id = "i-1", .gpus = {Gpu("g0", 0)}}});

  CHECK(world.inventory.Matches(
      {"i-1"}, **Query::Compile("attribute:ecs.capability.gpu-sharing-mps exists")));
}

TEST_CASE("distinctInstance keeps the tasks of a group apart", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a")});
  const Rules apart{.distinct_instance = true};

  CHECK(world.Run("t1", apart) == "i-1");
  CHECK(world.Run("t2", apart) == "i-2");
  CHECK(world.Run("t3", apart) == "nowhere");
  CHECK(world.Run("t4", apart, "other") == "i-1");
  world.Stop("t1");
  CHECK(world.Run("t5", apart) == "i-1");
}

TEST_CASE("distinctInstance sees tasks that were placed without it", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a")});

  CHECK(world.Run("t1", Rules{}) == "i-1");
  CHECK(world.Run("t2", Rules{.distinct_instance = true}) == "i-2");
}

TEST_CASE("groups are counted anew after a restart", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a")});

  CHECK(world.inventory.Restore({"i-1"}, {.cpu_units = 1, .group = "web"}));

  CHECK(world.Run("t1", Rules{.distinct_instance = true}) == "i-2");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("a group's number is used again once its last task is gone", "[placement]") {
  RuledWorld world({In("i-1", "a")});

  for (int i = 0; i < 100; ++i) {
    const std::string group = "group-" + std::to_string(i);
    CHECK(world.Run("t", Rules{}, group) == "i-1");
    CHECK(world.inventory.Facts({"i-1"}).tasks_by_group ==
          std::map<std::string, int64_t>{{group, 1}});
    world.Stop("t");
    CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
  }
}

TEST_CASE("an unsatisfied constraint is told after what is short", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "b"), {.id = "i-3", .cpu_units = 10}});
  world.Run("t1", Rules{});
  world.Run("t2", Rules{});
  Rules rules = MemberOf({"attribute:zone exists", "attribute:zone == a"});
  rules.distinct_instance = true;

  const Explanation why = Explain(Plain(1024, 64), world.inventory, rules, "web");

  REQUIRE(why.turned_away.size() == 3);
  const auto reason = [&](int i) {
    return std::string(EcsReason(why.turned_away[i].shortfall.dimension));
  };
  CHECK(reason(0) == "DistinctInstance placement constraint unsatisfied.");
  CHECK(why.Detail(why.turned_away[0]) ==
        "needs an instance without a task of group web; instance i-1 has 2 tasks of it");
  CHECK(reason(1) == "MemberOf placement constraint unsatisfied.");
  CHECK(why.Detail(why.turned_away[1]) ==
        "needs an instance for which 'attribute:zone == a' holds; for instance i-2 it does not");
  CHECK(reason(2) == "RESOURCE:CPU");
  CHECK(why.verdict == Verdict::kForbidden);
}

}  // namespace
}  // namespace berth::placement

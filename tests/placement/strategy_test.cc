// Strategies: each keeps the best of what the one before it left; what is still equal goes where a
// task without any would go.
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "rules.h"

namespace berth::placement {
namespace {

using Field = Strategy::Field;

TEST_CASE("spread over instances goes where fewest tasks of the group are", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a"), In("i-3", "a")});
  const Rules rules{.strategies = {SpreadOverInstances()}};

  CHECK(world.Run("t1", rules) == "i-1");
  CHECK(world.Run("t2", rules) == "i-2");
  CHECK(world.Run("t3", rules) == "i-3");
  world.Stop("t2");
  CHECK(world.Run("t4", rules) == "i-2");
  CHECK(world.Run("t5", rules, "other") == "i-1");
}

TEST_CASE("spread over an attribute counts the tasks of all instances of a value", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a"), In("i-3", "b")});
  const Rules rules{.strategies = {Spread("zone")}};

  CHECK(world.Run("t1", rules) == "i-1");
  CHECK(world.Run("t2", rules) == "i-3");
  CHECK(world.Run("t3", rules) == "i-1");
  // Those on an instance that takes no tasks now are there all the same.
  world.inventory.SetEligible({"i-1"}, false);
  CHECK(world.Run("t4", rules) == "i-3");
  CHECK(world.Run("t5", rules) == "i-3");
  CHECK(world.Run("t6", rules) == "i-2");
}

TEST_CASE("instances without the attribute share one value, which is not the empty one",
          "[placement]") {
  RuledWorld world({In("i-1", ""), {.id = "i-2"}, {.id = "i-3"}});
  const Rules rules{.strategies = {Spread("zone"), SpreadOverInstances()}};

  CHECK(world.Run("t1", rules) == "i-1");
  CHECK(world.Run("t2", rules) == "i-2");
  CHECK(world.Run("t3", rules) == "i-3");
  CHECK(world.Run("t4", rules) == "i-1");
}

TEST_CASE("binpack goes where least remains before the task is there", "[placement]") {
  RuledWorld world({{.id = "i-1", .cpu_units = 1000, .memory_mib = 500},
                    {.id = "i-2", .cpu_units = 500, .memory_mib = 1000},
                    {.id = "i-3", .cpu_units = 100, .memory_mib = 100}});

  CHECK(world.Run("t1", {.strategies = {Binpack(Field::kCpu)}}, "web", Plain(200, 200)) == "i-2");
  CHECK(world.Run("t2", {.strategies = {Binpack(Field::kMemory)}}, "web", Plain(200, 200)) ==
        "i-1");
  CHECK(world.Run("t3", {.strategies = {Binpack(Field::kCpu)}}, "web", Plain(0, 0)) == "i-3");
}

TEST_CASE("a strategy decides only among what the one before left equal", "[placement]") {
  RuledWorld world({{.id = "i-1", .memory_mib = 9000, .values = {{"zone", "a"}}},
                    {.id = "i-2", .memory_mib = 1000, .values = {{"zone", "a"}}},
                    {.id = "i-3", .memory_mib = 5000, .values = {{"zone", "b"}}},
                    {.id = "i-4", .memory_mib = 3000, .values = {{"zone", "b"}}}});
  const Rules rules{.strategies = {Spread("zone"), Binpack(Field::kMemory)}};

  CHECK(world.Run("t1", rules) == "i-2");
  CHECK(world.Run("t2", rules) == "i-4");
  CHECK(world.Run("t3", rules) == "i-2");
  CHECK(world.Run("t4", rules) == "i-4");
  CHECK(world.Run("t5", {.strategies = {Binpack(Field::kMemory), Spread("zone")}}) == "i-2");
}

TEST_CASE("binpack of GPU memory fills the GPU with least left that fits", "[placement]") {
  RuledWorld world(
      {{.id = "i-1", .gpus = {Gpu("g0", 16000)}}, {.id = "i-2", .gpus = {Gpu("g0", 8000)}}});
  const Rules rules{.strategies = {Binpack(Field::kGpuMemory)}};

  CHECK(world.Run("t1", Rules{}, "web", Shared(10000)) == "i-1/g0");
  CHECK(world.Run("t2", rules, "web", Shared(3000)) == "i-1/g0");
  CHECK(world.Run("t3", rules, "web", Shared(4000)) == "i-2/g0");
  CHECK(world.Run("t4", rules, "web", Shared(3000)) == "i-1/g0");
}

TEST_CASE("binpack of GPU memory gives whole GPUs where fewest are idle", "[placement]") {
  RuledWorld world({{.id = "i-1", .gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2")}},
                    {.id = "i-2", .gpus = {Gpu("g0"), Gpu("g1")}}});
  const Rules rules{.strategies = {Binpack(Field::kGpuMemory)}};

  CHECK(world.Run("t1", rules, "web", Dedicated(1)) == "i-2/g0");
  CHECK(world.Run("t2", rules, "web", Dedicated(2)) == "i-1/g0,g1");
  CHECK(world.Run("t3", rules, "web", AllGpus()) == "nowhere");
}

TEST_CASE("on the instance that strategies chose, whole GPUs stay whole", "[placement]") {
  RuledWorld world({{.id = "i-1", .gpus = {Gpu("g0", 8000), Gpu("g1", 16000)}},
                    {.id = "i-2", .gpus = {Gpu("g0", 8000), Gpu("g1", 16000)}}});
  const Rules rules{.strategies = {SpreadOverInstances()}};

  CHECK(world.Run("t1", Rules{}, "a", Shared(9000)) == "i-1/g1");
  CHECK(world.Run("t2", rules, "b", Shared(1000)) == "i-1/g1");  // shared before idle
  CHECK(world.Run("t3", rules, "b", Shared(1000)) == "i-2/g0");  // the tightest of two idle
  CHECK(world.Run("t4", rules, "b", Shared(1000)) == "i-1/g1");
}

TEST_CASE("what strategies leave equal goes where a task without any goes", "[placement]") {
  RuledWorld world({{.id = "i-1", .gpus = {Gpu("g0")}},
                    {.id = "i-2", .memory_mib = 9000},
                    {.id = "i-3", .memory_mib = 8000}});

  CHECK(world.Run("t1", {.strategies = {Spread("zone")}}) == "i-3");
  CHECK(world.Run("t2", {.strategies = {Binpack(Field::kGpuMemory)}}) == "i-3");
}

TEST_CASE("random takes any that fit, and the same for the same seed", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "a"), In("i-3", "b"), {.id = "i-4", .cpu_units = 1}});
  const Rules rules{.strategies = {Random()}};
  std::set<std::string> chosen;

  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string where = world.Run("t", rules, "web", Plain(64, 64), seed);
    world.Stop("t");
    CHECK(world.Run("t", rules, "web", Plain(64, 64), seed) == where);
    world.Stop("t");
    chosen.insert(where);
  }

  CHECK(chosen == std::set<std::string>{"i-1", "i-2", "i-3"});
}

TEST_CASE("random takes any of those that the strategy before it left", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "b"), In("i-3", "b")});
  world.Run("first", Rules{});  // goes to i-1
  std::set<std::string> chosen;

  for (uint64_t seed = 0; seed < 50; ++seed) {
    chosen.insert(
        world.Run("t", {.strategies = {Spread("zone"), Random()}}, "web", Plain(64, 64), seed));
    world.Stop("t");
  }

  CHECK(chosen == std::set<std::string>{"i-2", "i-3"});
}

TEST_CASE("without rules a task with a group goes where one without goes", "[placement]") {
  RuledWorld world({{.id = "i-1", .memory_mib = 9000}, {.id = "i-2", .memory_mib = 8000}});

  CHECK(world.Run("t1", Rules{}) == Where(Place(Plain(64, 64), world.inventory)));
  CHECK(world.inventory.Facts({"i-2"}).tasks_by_group.at("web") == 1);
}

}  // namespace
}  // namespace berth::placement

// Many tasks at once, and many demands in turn.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "model/rng.h"
#include "placement/inventory_impl.h"
#include "rules.h"

namespace berth::placement {
namespace {

using model::Rng;

std::vector<Machine> Machines(Rng& rng) {
  std::vector<Machine> machines;
  for (int i = 0; i < 12; ++i) {
    Machine machine = In("i-" + std::to_string(i), std::string(1, "abc"[rng.Below(3)]));
    machine.cpu_units = static_cast<int64_t>(1 + rng.Below(4)) * 1024;
    machine.memory_mib = static_cast<int64_t>(1 + rng.Below(4)) * 2048;
    for (uint64_t gpu = rng.Below(4); gpu > 0; --gpu) {
      machine.gpus.push_back(Gpu("g" + std::to_string(gpu), rng.Below(2) == 0 ? 8000 : 16000));
    }
    machines.push_back(machine);
  }
  return machines;
}

Demand RandomDemand(Rng& rng) {
  Demand demand =
      Plain(static_cast<int64_t>(rng.Below(4)) * 64, static_cast<int64_t>(rng.Below(4)) * 64);
  switch (rng.Below(4)) {
    case 0:
      demand.gpu = Dedicated(static_cast<int64_t>(1 + rng.Below(2))).gpu;
      break;
    case 1:
      demand.gpu = AllGpus().gpu;
      break;
    case 2:
      demand.gpu = Shared(static_cast<int64_t>(1 + rng.Below(5)) * 1000).gpu;
      break;
    default:
      break;
  }
  if (rng.Below(4) == 0) demand.tcp_ports = {60000};
  return demand;
}

TEST_CASE("many tasks at once go where they would go one by one", "[placement]") {
  Rng rng(3);
  int64_t placed = 0;
  for (int i = 0; i < 200; ++i) {
    Rng same = rng.Fork();
    const std::vector<Machine> machines = Machines(same);
    RuledWorld at_once(machines);
    RuledWorld one_by_one(machines);
    // All but random, which draws.
    const auto policy = rng.Below(2 * GpuPolicyKinds().size());
    if (policy > 0 && policy < GpuPolicyKinds().size()) {
      at_once.inventory.SetGpuPolicy({.kind = GpuPolicyKinds()[policy]});
      one_by_one.inventory.SetGpuPolicy({.kind = GpuPolicyKinds()[policy]});
    }
    Rules rules;
    if (rng.Below(2) == 0) rules.strategies = {Spread("zone"), SpreadOverInstances()};
    if (rng.Below(4) == 0) rules.distinct_instance = true;
    for (int call = 0; call < 4; ++call) {
      const Demand demand = RandomDemand(rng);
      const auto count = static_cast<int64_t>(rng.Below(20));
      std::vector<std::string> expected;
      for (int64_t task = 0; task < count; ++task) {
        const std::string where = one_by_one.Run(std::to_string(task), rules, "web", demand);
        if (where == "nowhere") break;
        expected.push_back(where);
      }

      std::vector<std::string> got;
      for (const Placement& placement :
           PlaceMany(demand, at_once.inventory, rules, {.group = "web"}, count)) {
        CHECK(placement.reservation.group == "web");
        got.push_back(Where(placement));
      }

      REQUIRE(got == expected);
      placed += static_cast<int64_t>(got.size());
    }
    REQUIRE(at_once.inventory.FindViolations() == std::vector<std::string>{});
  }
  CHECK(placed > 1000);
}

TEST_CASE("a ranking that made room for others is built anew", "[placement]") {
  RuledWorld world({In("i-1", "a"), In("i-2", "b")});
  const Rules rules{.strategies = {Spread("zone")}};
  const auto place = [&](int64_t cpu_units) {
    return Where(Place(Plain(cpu_units, 64), world.inventory, rules, {.group = "web"}));
  };
  CHECK(place(1) == "i-1");
  CHECK(world.Run("t1", rules) == "i-1");

  const auto more_than_are_kept = static_cast<int64_t>(kRankingsMax) + 10;
  for (int64_t cpu_units = 2; cpu_units < more_than_are_kept; ++cpu_units) place(cpu_units);

  CHECK(world.inventory.impl().rankings.size() == static_cast<int64_t>(kRankingsMax));
  CHECK(place(1) == "i-2");
}

}  // namespace
}  // namespace berth::placement

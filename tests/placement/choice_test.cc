// Why a place was chosen rather than the runner-up: on hand-made clusters, and on random ones where
// what is said must agree with what Place does.
#include "placement/choice.h"

#include <catch2/catch.hpp>

#include "model/rng.h"
#include "scene.h"

namespace berth::placement {
namespace {

struct Chosen {
  Placement placement = {};
  Choice why = {};
};

Chosen Choose(const Demand& demand, Inventory& inventory, const Rules& rules = {},
              uint64_t seed = 0) {
  const TaskToPlace task{.group = "web", .seed = seed};
  const auto placement = Place(demand, inventory, rules, task);
  REQUIRE(placement);
  auto other = PlaceElsewhere(demand, inventory, rules, task, placement->instance);
  return {*placement, Compare(demand, inventory, rules, task, *placement, std::move(other))};
}

Rules By(std::vector<Strategy> strategies) { return {.strategies = std::move(strategies)}; }

struct Case {
  std::string why;
  std::function<Scene()> make;
  Demand demand;
  Rules rules;
  std::string where;
  std::string criterion;
  std::string text;
};

TEST_CASE("the reason is the first criterion that tells the two apart", "[placement][choice]") {
  const std::vector<Case> cases = {
      {"only one has room",
       [] {
         return Scene({{.id = "a"}, {.id = "b", .cpu_units = 1}});
       },
       Plain(2, 2),
       {},
       "a",
       "ONLY_ONE",
       "no other instance has room"},
      {"all alike",
       [] {
         return Scene({{.id = "b"}, {.id = "a"}});
       },
       Plain(2, 2),
       {},
       "a",
       "LOWEST_ID",
       "instance b is as good; the lowest id goes first"},
      {"least memory",
       [] {
         return Scene({{.id = "a", .memory_mib = 200}, {.id = "b", .memory_mib = 100}});
       },
       Plain(2, 2),
       {},
       "b",
       "LEAST_MEMORY",
       "100 MiB of memory are left there, 200 MiB on instance a"},
      {"no GPU to block",
       [] {
         return Scene({{.id = "a", .gpus = {Gpu("g0")}}, {.id = "b"}});
       },
       Plain(2, 2),
       {},
       "b",
       "WITHOUT_GPUS",
       "it has no GPU, instance a has"},
      {"a GPU that is shared already",
       [] {
         Scene scene(
             {{.id = "a", .gpus = {Gpu("g0", 9000)}}, {.id = "b", .gpus = {Gpu("g0", 9000)}}});
         scene.Run("t", "b", Shared(1000));
         return scene;
       },
       Shared(2000),
       {},
       "b/g0",
       "SHARED_GPU",
       "its GPU is shared already, that of instance a is idle"},
      {"the tightest of two GPUs",
       [] {
         return Scene(
             {{.id = "a", .gpus = {Gpu("g0", 9000)}}, {.id = "b", .gpus = {Gpu("g0", 8000)}}});
       },
       Shared(2000),
       {},
       "b/g0",
       "TIGHTEST_GPU",
       "8000 MiB are left on its GPU, 9000 MiB on that of instance a"},
      {"whole GPUs where fewest are idle",
       [] {
         return Scene(
             {{.id = "a", .gpus = {Gpu("g0"), Gpu("g1")}}, {.id = "b", .gpus = {Gpu("g0")}}});
       },
       Dedicated(1),
       {},
       "b/g0",
       "FEWEST_IDLE_GPUS",
       "1 of its GPUs are idle, 2 of instance a"},
      {"the GPU policy's score",
       [] {
         Scene scene(
             {{.id = "a", .gpus = {Gpu("g0", 9000)}}, {.id = "b", .gpus = {Gpu("g0", 8000)}}});
         scene.inventory.SetGpuPolicy({.kind = GpuPolicyKind::kBestFit});
         return scene;
       },
       Shared(2000),
       {},
       "b/g0",
       "GPU_POLICY",
       "best-fit: less of it is left (score 16, against 11 of instance a)"},
      {"no GPU to block, under a GPU policy",
       [] {
         Scene scene({{.id = "a", .gpus = {Gpu("g0")}}, {.id = "b"}});
         scene.inventory.SetGpuPolicy({.kind = GpuPolicyKind::kWorth});
         return scene;
       },
       Plain(2, 2),
       {},
       "b",
       "WITHOUT_GPUS",
       "it has no GPU, instance a has"},
      {"a GPU policy that draws",
       [] {
         Scene scene({{.id = "a", .gpus = {Gpu("g0")}}, {.id = "b", .gpus = {Gpu("g0")}}});
         scene.inventory.SetGpuPolicy({.kind = GpuPolicyKind::kRandom});
         scene.Run("t", "a", Dedicated(1));
         scene.Add({.id = "c", .cpu_units = 1});
         return scene;
       },
       Dedicated(1),
       {},
       "b/g0",
       "ONLY_ONE",
       "no other instance has room"},
      {"spread over instances",
       [] {
         Scene scene({{.id = "a", .memory_mib = 500}, {.id = "b"}});
         scene.Run("t", "a", Plain(1, 1), "web");
         return scene;
       },
       Plain(1, 1), By({SpreadOverInstances()}), "b", "SPREAD",
       "spread: 0 tasks of the group are there, 1 on instance a"},
      {"spread over a zone, where the tasks are on another machine of it",
       [] {
         Scene scene({In("a", "z1"), In("b", "z1"), In("c", "z2")});
         scene.Run("t", "b", Plain(1, 1), "web");
         return scene;
       },
       Plain(1, 1), By({Spread("zone")}), "c", "SPREAD",
       "spread over zone: 0 tasks of the group are with its value, 1 with that of instance b"},
      {"binpack by CPU",
       [] {
         return Scene({{.id = "a", .cpu_units = 200}, {.id = "b", .cpu_units = 100}});
       },
       Plain(1, 1), By({Binpack(Strategy::Field::kCpu)}), "b", "BINPACK",
       "binpack: 100 CPU units are left there, 200 on instance a"},
      {"a strategy that finds them equal leaves it to the next",
       [] {
         return Scene({{.id = "a", .memory_mib = 200}, {.id = "b", .memory_mib = 100}});
       },
       Plain(1, 1), By({SpreadOverInstances(), Binpack(Strategy::Field::kMemory)}), "b", "BINPACK",
       "binpack: 100 MiB of memory are left there, 200 on instance a"},
      {"strategies that find them equal leave it to the order without rules",
       [] {
         return Scene({{.id = "a", .memory_mib = 200}, {.id = "b", .memory_mib = 100}});
       },
       Plain(1, 1), By({SpreadOverInstances()}), "b", "LEAST_MEMORY",
       "100 MiB of memory are left there, 200 MiB on instance a"},
  };
  const size_t i = GENERATE_COPY(range<size_t>(0, cases.size()));
  const Case& c = cases[i];
  INFO(c.why);
  Scene scene = c.make();

  const Chosen chosen = Choose(c.demand, scene.inventory, c.rules);

  CHECK(Where(chosen.placement) == c.where);
  CHECK(ToString(chosen.why.criterion) == c.criterion);
  CHECK(Describe(chosen.why) == c.text);
}

TEST_CASE("what was drawn is said to be drawn", "[placement][choice]") {
  Scene scene({{.id = "a"}, {.id = "b"}});

  const Chosen chosen = Choose(Plain(1, 1), scene.inventory, By({Random()}), 7);

  CHECK(chosen.why.criterion == Choice::Criterion::kRandom);
  REQUIRE(chosen.why.runner_up);
  CHECK(chosen.why.runner_up->instance.value != chosen.placement.instance.value);
}

TEST_CASE("asking for the runner-up changes nothing", "[placement][choice]") {
  Scene scene({{.id = "a"}, {.id = "b", .memory_mib = 10}});
  const Chosen first = Choose(Plain(1, 1), scene.inventory);

  const Chosen second = Choose(Plain(1, 1), scene.inventory);

  CHECK(Where(first.placement) == Where(second.placement));
  CHECK(scene.inventory.FindViolations() == std::vector<std::string>{});
}

// Were a criterion measured otherwise than Place does, or in another order, the chosen place would
// sooner or later come out as the worse of the two.
TEST_CASE("no reason says that the runner-up is better", "[placement][choice]") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 301));
  INFO("seed " << seed);
  model::Rng rng(seed);
  Scene scene({});
  for (int m = 0; m < 6; ++m) {
    Machine machine{.id = "i-" + std::to_string(m),
                    .cpu_units = static_cast<int64_t>(3 + rng.Below(2)) * 100,
                    .memory_mib = static_cast<int64_t>(3 + rng.Below(2)) * 100,
                    .values = {{"zone", rng.Below(2) == 0 ? "z1" : "z2"}}};
    for (uint64_t g = rng.Below(3); g > 0; --g) {
      machine.gpus.push_back(
          Gpu("g" + std::to_string(g), static_cast<int64_t>(1 + rng.Below(2)) * 4000));
    }
    scene.Add(machine);
  }
  const auto policy = rng.Below(2 * GpuPolicyKinds().size());
  const bool draws = policy == 0;
  if (policy < GpuPolicyKinds().size()) {
    scene.inventory.SetGpuPolicy({.kind = GpuPolicyKinds()[policy]});
  }
  int names = 0;
  const auto random_demand = [&rng] {
    Demand demand = Plain(static_cast<int64_t>(1 + rng.Below(2)) * 50, 50);
    const uint64_t kind = rng.Below(4);
    if (kind == 0) demand.gpu = Dedicated(1).gpu;
    if (kind == 1) demand.gpu = Shared(static_cast<int64_t>(1 + rng.Below(2)) * 1000).gpu;
    return demand;
  };
  for (int step = 0; step < 12; ++step) {
    const Demand demand = random_demand();
    std::vector<Strategy> strategies;
    for (uint64_t n = rng.Below(3); n > 0; --n) {
      const std::vector<Strategy> all = {
          SpreadOverInstances(), Spread("zone"), Binpack(Strategy::Field::kCpu),
          Binpack(Strategy::Field::kMemory), Binpack(Strategy::Field::kGpuMemory)};
      strategies.push_back(all[rng.Below(all.size())]);
    }
    const Rules rules = By(strategies);
    if (!Place(demand, scene.inventory, rules, {.group = "web"})) continue;

    const Chosen chosen = Choose(demand, scene.inventory, rules);

    INFO(Describe(chosen.why));
    using Criterion = Choice::Criterion;
    const Criterion criterion = chosen.why.criterion;
    if (criterion == Criterion::kRandom) {
      CHECK(draws);
    } else if (criterion == Criterion::kGpuPolicy) {
      CHECK(chosen.why.chosen > chosen.why.other);
    } else if (criterion == Criterion::kLowestId) {
      CHECK(chosen.placement.instance < chosen.why.runner_up->instance);
    } else if (criterion != Criterion::kOnlyOne) {
      CHECK(chosen.why.chosen < chosen.why.other);
    }
    const std::string name = "t" + std::to_string(names++);
    scene.Run(name, chosen.placement.instance.value, demand, rng.Below(2) == 0 ? "web" : "x");
  }
}

}  // namespace
}  // namespace berth::placement

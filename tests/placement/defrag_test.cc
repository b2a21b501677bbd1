// Defrag plans on hand-made clusters where the fewest moves are known. Each plan is carried out,
// move by move, and must then keep its word.
#include "placement/defrag.h"

#include <catch2/catch.hpp>

#include "model/rng.h"
#include "placement/place_on.h"
#include "placement/query.h"
#include "scene.h"

namespace berth::placement {
namespace {

using Texts = std::vector<std::string>;
using Outcome = DefragPlan::Outcome;

Machine WithGpus(std::string id, int gpus, int64_t mib = 1000) {
  Machine machine{.id = std::move(id), .cpu_units = 1000, .memory_mib = 1000};
  for (int i = 0; i < gpus; ++i) machine.gpus.push_back(Gpu("g" + std::to_string(i), mib));
  return machine;
}
Demand WithCpu(Demand demand, int64_t cpu_units) {
  demand.cpu_units = cpu_units;
  return demand;
}
Demand OnPort(int64_t port) { return {.cpu_units = 10, .tcp_ports = {port}}; }

// "t: a/g0 -> b/g1"
std::string Text(const DefragMove& move) {
  const auto place = [](const model::InstanceId& id, const std::vector<model::GpuId>& gpus) {
    Placement placement{.instance = id};
    placement.reservation.gpus = gpus;
    return Where(placement);
  };
  return move.task + ": " + place(move.from, move.from_gpus) + " -> " +
         place(move.to, move.to_gpus);
}
Texts TextsOf(const std::vector<DefragMove>& moves) {
  Texts texts;
  for (const DefragMove& move : moves) texts.push_back(Text(move));
  return texts;
}

// All tasks may be moved but those whose name begins with "protected".
DefragPlan Plan(Scene& scene, const DefragDemand& wanted, int64_t moves_max = kDefragMovesDefault) {
  ClusterFragmentation fragmentation;
  const auto movable = [&scene](const model::InstanceId& id) {
    std::vector<Holder> holders = scene.HoldersOn(id);
    std::erase_if(holders, [](const Holder& h) { return h.id.starts_with("protected"); });
    return holders;
  };
  return PlanRoom(wanted, moves_max, movable, fragmentation, scene.inventory);
}

// Requires that all of it now finds room, as RunTask places it.
void CheckRoom(Scene& scene, const DefragDemand& wanted, const std::vector<Placement>& places) {
  REQUIRE(std::ssize(places) == wanted.count);
  std::vector<Placement> placed;
  for (const Placement& expected : places) {
    const auto place = Place(wanted.demand, scene.inventory, wanted.rules, {.group = wanted.group});
    REQUIRE(place.has_value());
    CHECK(Where(place) == Where(expected));
    scene.inventory.Reserve(place->instance, place->reservation);
    placed.push_back(*place);
  }
  for (const Placement& place : placed) {
    scene.inventory.Release(place.instance, place.reservation);
  }
}

struct Case {
  std::string why;
  std::function<Scene()> make;
  DefragDemand wanted;
  int64_t moves_max;
  Outcome outcome;
  Texts moves;
};

std::vector<Case> Cases() {
  return {
      {"it fits as it is",
       [] { return Scene({WithGpus("a", 1)}); },
       {.demand = Shared(600)},
       5,
       Outcome::kNoMoveNeeded,
       {}},
      {"one move to another instance",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         scene.Run("u", "b", Shared(500));
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kMoves,
       {"t: a/g0 -> b/g0"}},
      {"one move to the other GPU of the same instance",
       [] {
         Scene scene({WithGpus("a", 2)});
         scene.Run("t", "a", Shared(300));
         scene.Run("pad", "a", Shared(500));
         scene.Run("u", "a", Shared(600));
         scene.Stop("pad");
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kMoves,
       {"t: a/g0 -> a/g1"}},
      {"one move, of the smaller of two tasks that are each enough",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("small", "a", Shared(100));
         scene.Run("large", "a", Shared(300));
         scene.Run("other", "b", Shared(500));
         scene.Run("protected", "b", Shared(100));
         return scene;
       },
       {.demand = Shared(650)},
       5,
       Outcome::kMoves,
       {"small: a/g0 -> b/g0"}},
      {"two tasks must leave the GPU",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(200));
         scene.Run("u", "a", Shared(250));
         scene.Run("protected", "b", Shared(500));
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kMoves,
       {"u: a/g0 -> b/g0", "t: a/g0 -> b/g0"}},
      {"two moves are one too many",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(200));
         scene.Run("u", "a", Shared(250));
         scene.Run("protected", "b", Shared(500));
         return scene;
       },
       {.demand = Dedicated(1)},
       1,
       Outcome::kNoPlan,
       {}},
      {"no move is allowed",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         scene.Run("u", "b", Shared(500));
         return scene;
       },
       {.demand = Dedicated(1)},
       0,
       Outcome::kNoPlan,
       {}},
      {"a task makes way for the one that makes way, and goes first",
       [] {
         // `u` can only go to b, where it has room once `v` has gone to c.
         Scene scene({WithGpus("a", 1, 1000), WithGpus("b", 1, 800), WithGpus("c", 1, 300)});
         scene.Run("u", "a", Shared(700));
         scene.Run("v", "b", Shared(200));
         return scene;
       },
       {.demand = Shared(900)},
       5,
       Outcome::kMoves,
       {"v: b/g0 -> c/g0", "u: a/g0 -> b/g0"}},
      {"never large enough",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         return scene;
       },
       {.demand = Shared(1001)},
       5,
       Outcome::kNoPlan,
       {}},
      {"all is full",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(900));
         scene.Run("u", "b", Shared(900));
         return scene;
       },
       {.demand = Shared(200)},
       5,
       Outcome::kNoPlan,
       {}},
      {"a protected task stays",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("protected-1", "a", Shared(400));
         scene.Run("protected-2", "b", Shared(500));
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kNoPlan,
       {}},
      {"an instance that drains takes none",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         scene.Drain("b");
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kNoPlan,
       {}},
      {"nor one whose agent is away",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         scene.Disconnect("b");
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kNoPlan,
       {}},
      {"a moved task keeps its constraint",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1), In("c", "east")});
         scene.Run("t", "a", Shared(400), "others", MemberOf({"attribute:zone == west"}));
         scene.Run("protected", "b", Dedicated(1));
         return scene;
       },
       {.demand = Dedicated(1)},
       5,
       Outcome::kNoPlan,
       {}},
      {"and goes where it holds",
       [] {
         Machine west = WithGpus("c", 1);
         west.values = {{"zone", "west"}};
         Scene scene({WithGpus("a", 2), west});
         scene.Run("t", "a", Shared(400), "others", MemberOf({"attribute:zone == west"}));
         scene.Run("protected", "a", Dedicated(1));
         return scene;
       },
       {.demand = Shared(700), .rules = MemberOf({"attribute:zone !exists"})},
       5,
       Outcome::kMoves,
       {"t: a/g0 -> c/g0"}},
      {"the demand's own constraint",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         return scene;
       },
       {.demand = Dedicated(1), .rules = MemberOf({"ec2InstanceId == other"})},
       5,
       Outcome::kNoPlan,
       {}},
      {"a task of the group makes way for distinctInstance",
       [] {
         Scene scene({WithGpus("a", 0), WithGpus("b", 1)});
         scene.Run("t", "b", Plain(10, 10), "web");
         return scene;
       },
       {.demand = Shared(500), .rules = {.distinct_instance = true}, .group = "web"},
       5,
       Outcome::kMoves,
       {"t: b -> a"}},
      {"a task makes way on a port",
       [] {
         Scene scene({WithGpus("a", 0), WithGpus("b", 0)});
         scene.Run("t", "a", WithCpu(OnPort(80), 100));
         scene.Run("u", "b", Plain(850, 1));
         return scene;
       },
       {.demand = WithCpu(OnPort(80), 600)},
       5,
       Outcome::kMoves,
       {"t: a -> b"}},
      {"nowhere to take the port",
       [] {
         Scene scene({WithGpus("a", 0), WithGpus("b", 0)});
         scene.Run("t", "a", OnPort(80));
         scene.Run("u", "b", OnPort(80));
         return scene;
       },
       {.demand = OnPort(80)},
       5,
       Outcome::kNoPlan,
       {}},
      {"several tasks of the demand",
       [] {
         Scene scene({WithGpus("a", 2), WithGpus("b", 1), WithGpus("c", 1)});
         scene.Run("t", "a", Shared(100));
         scene.Run("u", "b", Shared(200));
         scene.Run("protected", "c", Shared(600));
         return scene;
       },
       {.demand = Dedicated(1), .count = 3},
       5,
       Outcome::kMoves,
       {"t: a/g0 -> c/g0", "u: b/g0 -> c/g0"}},
      {"and one more than there can be",
       [] {
         Scene scene({WithGpus("a", 2), WithGpus("b", 1), WithGpus("c", 1)});
         scene.Run("t", "a", Shared(100));
         scene.Run("u", "b", Shared(200));
         scene.Run("protected", "c", Shared(600));
         return scene;
       },
       {.demand = Dedicated(1), .count = 4},
       5,
       Outcome::kNoPlan,
       {}},
  };
}

TEST_CASE("the fewest moves make room, and do when made", "[defrag]") {
  const std::vector<Case> cases = Cases();
  const size_t i = GENERATE_COPY(range<size_t>(0, cases.size()));
  const Case& c = cases[i];
  INFO(c.why);
  Scene scene = c.make();

  const DefragPlan plan = Plan(scene, c.wanted, c.moves_max);

  CHECK(ToString(plan.outcome) == ToString(c.outcome));
  CHECK(TextsOf(plan.moves) == c.moves);
  CHECK_FALSE(plan.limited);
  CHECK(scene.inventory.FindViolations().empty());
  for (const DefragMove& move : plan.moves) scene.Make(move);
  if (plan.outcome != Outcome::kNoPlan) CheckRoom(scene, c.wanted, plan.places);
}

// Small clusters of equal GPUs, where whatever one move can do is found.
Scene RandomScene(model::Rng& rng) {
  Scene scene({WithGpus("a", 2), WithGpus("b", 2), WithGpus("c", 1)});
  const auto tasks = 3 + rng.Below(8);
  for (uint64_t i = 0; i < tasks; ++i) {
    const Demand demand =
        rng.Below(5) == 0 ? Dedicated(1) : Shared(100 * (1 + static_cast<int64_t>(rng.Below(8))));
    const auto place = Place(demand, scene.inventory);
    if (place) scene.Run("t" + std::to_string(i), place->instance.value, demand);
  }
  const auto stops = rng.Below(tasks);
  for (uint64_t i = 0; i < stops; ++i) scene.StopIfThere("t" + std::to_string(rng.Below(tasks)));
  return scene;
}

// Whether some task, moved to any place that is free, makes room for the demand.
bool OneMoveIsEnough(Scene& scene, const Demand& demand) {
  Inventory& inventory = scene.inventory;
  for (const std::string from : {"a", "b", "c"}) {
    for (const Holder& holder : scene.HoldersOn({from})) {
      inventory.Release({from}, holder.reservation);
      bool enough = false;
      for (const std::string to : {"a", "b", "c"}) {
        for (const GpuState& gpu : inventory.Find({to}).gpus) {
          Reservation moved = holder.reservation;
          moved.gpus = {gpu.id};
          const bool free = moved.gpu_use == model::GpuUse::kDedicated
                                ? gpu.use == model::GpuUse::kIdle
                                : gpu.remaining_memory_mib >= moved.gpu_memory_mib;
          if (!free) continue;
          inventory.Reserve({to}, moved);
          enough = enough || Place(demand, inventory).has_value();
          inventory.Release({to}, moved);
        }
      }
      inventory.Reserve({from}, holder.reservation);
      if (enough) return true;
    }
  }
  return false;
}

TEST_CASE("no fewer moves would do, and every plan can be carried out", "[defrag]") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 301));
  INFO("seed " << seed);
  model::Rng rng(seed);
  Scene scene = RandomScene(rng);
  const DefragDemand wanted{.demand = rng.Below(3) == 0
                                          ? Dedicated(1 + static_cast<int64_t>(rng.Below(2)))
                                          : Shared(100 * (4 + static_cast<int64_t>(rng.Below(7)))),
                            .count = 1};
  const bool fits = Place(wanted.demand, scene.inventory).has_value();
  const bool one_is_enough = !fits && OneMoveIsEnough(scene, wanted.demand);

  const DefragPlan plan = Plan(scene, wanted);

  CHECK(fits == (plan.outcome == Outcome::kNoMoveNeeded));
  CHECK(one_is_enough == (plan.moves.size() == 1));
  CHECK_FALSE(plan.limited);
  CHECK(scene.inventory.FindViolations().empty());
  CHECK(plan.moves.size() <= kDefragMovesDefault);
  CHECK((plan.outcome == Outcome::kMoves) == !plan.moves.empty());
  for (const DefragMove& move : plan.moves) scene.Make(move);
  if (plan.outcome != Outcome::kNoPlan) CheckRoom(scene, wanted, plan.places);
}

struct LessCase {
  std::string why;
  std::function<Scene()> make;
  int64_t moves_max;
  Outcome outcome;
  Texts moves;
  int64_t before_mib;
  int64_t after_mib;
};

// Of a mix that wants one whole GPU.
ClusterFragmentation WholeGpusWanted() {
  ClusterFragmentation fragmentation;
  fragmentation.Note({.gpu_use = model::GpuUse::kDedicated, .gpus = {{"any"}}});
  return fragmentation;
}

TEST_CASE("moves lower fragmentation as far as they can", "[defrag]") {
  const LessCase c = GENERATE(values<LessCase>({
      {"nothing is fragmented",
       [] { return Scene({WithGpus("a", 1)}); },
       5,
       Outcome::kNoMoveNeeded,
       {},
       0,
       0},
      {"two halves become a whole",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         scene.Run("u", "b", Shared(500));
         return scene;
       },
       5,
       Outcome::kMoves,
       {"t: a/g0 -> b/g0"},
       1100,
       100},
      {"the one that yields most, where one is allowed",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1), WithGpus("c", 1)});
         scene.Run("t", "a", Shared(200));
         scene.Run("u", "b", Shared(300));
         scene.Run("v", "c", Shared(400));
         return scene;
       },
       1,
       Outcome::kMoves,
       {"t: a/g0 -> b/g0"},
       2100,
       1100},
      {"and two",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1), WithGpus("c", 1)});
         scene.Run("t", "a", Shared(200));
         scene.Run("u", "b", Shared(300));
         scene.Run("v", "c", Shared(400));
         return scene;
       },
       2,
       Outcome::kMoves,
       {"t: a/g0 -> b/g0", "v: c/g0 -> b/g0"},
       2100,
       100},
      {"no move helps",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(600));
         scene.Run("u", "b", Shared(500));
         return scene;
       },
       5,
       Outcome::kNoPlan,
       {},
       900,
       900},
      {"a protected task stays",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("protected-1", "a", Shared(400));
         scene.Run("protected-2", "b", Shared(500));
         return scene;
       },
       5,
       Outcome::kNoPlan,
       {},
       1100,
       1100},
      {"what drains is no target",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         scene.Run("t", "a", Shared(400));
         scene.Run("u", "b", Shared(500));
         scene.Drain("b");
         return scene;
       },
       5,
       Outcome::kNoPlan,
       {},
       600,
       600},
      {"a task goes where its constraint holds, or stays",
       [] {
         Scene scene({WithGpus("a", 1), WithGpus("b", 1)});
         const Rules rules = MemberOf({"attribute:zone == west"});
         scene.Run("t", "a", Shared(400), "others", rules);
         scene.Run("u", "b", Shared(500), "others", rules);
         return scene;
       },
       5,
       Outcome::kNoPlan,
       {},
       1100,
       1100},
      {"to the other GPU of the same instance",
       [] {
         Scene scene({WithGpus("a", 2)});
         scene.Run("t", "a", Shared(300));
         scene.Run("pad", "a", Shared(500));
         scene.Run("u", "a", Shared(600));
         scene.Stop("pad");
         return scene;
       },
       5,
       Outcome::kMoves,
       {"t: a/g0 -> a/g1"},
       1100,
       100},
  }));
  INFO(c.why);
  Scene scene = c.make();
  ClusterFragmentation fragmentation = WholeGpusWanted();
  const auto movable = [&scene](const model::InstanceId& id) {
    std::vector<Holder> holders = scene.HoldersOn(id);
    std::erase_if(holders, [](const Holder& h) { return h.id.starts_with("protected"); });
    return holders;
  };

  const DefragPlan plan =
      PlanLessFragmentation(c.moves_max, movable, fragmentation, scene.inventory);

  CHECK(ToString(plan.outcome) == ToString(c.outcome));
  CHECK(TextsOf(plan.moves) == c.moves);
  CHECK(plan.before.fragmented_milli_mib == 1000 * c.before_mib);
  CHECK(plan.after.fragmented_milli_mib == 1000 * c.after_mib);
  CHECK_FALSE(plan.limited);
  CHECK(fragmentation.Read(scene.inventory) == plan.before);
  for (const DefragMove& move : plan.moves) scene.Make(move);
  CHECK(fragmentation.Read(scene.inventory) == plan.after);
}

TEST_CASE("a random cluster is never more fragmented after the moves", "[defrag]") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 51));
  INFO("seed " << seed);
  model::Rng rng(seed);
  Scene scene = RandomScene(rng);
  ClusterFragmentation fragmentation;
  for (int i = 0; i < 20; ++i) {
    fragmentation.Note({.gpu_use = model::GpuUse::kNvidiaMps,
                        .gpus = {{"any"}},
                        .gpu_memory_mib = 100 * (1 + static_cast<int64_t>(rng.Below(9))),
                        .gpu_containers = 1});
  }
  const auto movable = [&scene](const model::InstanceId& id) { return scene.HoldersOn(id); };

  const DefragPlan plan = PlanLessFragmentation(5, movable, fragmentation, scene.inventory);

  CHECK(plan.after.fragmented_milli_mib <=
        plan.before.fragmented_milli_mib - std::ssize(plan.moves) * 1000 * kDefragGainMinMib);
  CHECK(scene.inventory.FindViolations().empty());
  for (const DefragMove& move : plan.moves) scene.Make(move);
  CHECK(fragmentation.Read(scene.inventory) == plan.after);
}

TEST_CASE("a search that a limit cuts short says so", "[defrag]") {
  std::vector<Machine> machines;
  for (int i = 0; i <= kDefragInstancesMax; ++i) machines.push_back(WithGpus(std::to_string(i), 1));
  Scene scene(machines);
  for (int i = 0; i <= kDefragInstancesMax; ++i) {
    scene.Run("t" + std::to_string(i), std::to_string(i), Shared(600));
  }

  const DefragPlan plan = Plan(scene, {.demand = Shared(500)});

  CHECK(plan.outcome == Outcome::kNoPlan);
  CHECK(plan.limited);
}

}  // namespace
}  // namespace berth::placement

// Random fleets under random use: the fleet's choice is that of a scan with fresh scores, and
// nothing is over-committed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"
#include "placement/fleet/fleet.h"
#include "tests/placement/fleet/naive_fleet.h"

namespace berth::placement {
namespace {

// Devices in thousandths, all alike; or in MiB, of several sizes on one node.
enum class Units { kMilli, kMib };

int32_t RandomTotal(Units units, model::Rng& rng) {
  constexpr int32_t kMib[] = {15109, 16280, 32510};
  return units == Units::kMilli ? 1000 : kMib[rng.Below(3)];
}

NodeResources RandomNode(Units units, model::Rng& rng) {
  NodeResources node = {.cpu = static_cast<int64_t>(8 + rng.Below(12)) * 1000,
                        .memory = static_cast<int64_t>(16 + rng.Below(48)) * 1024,
                        .tasks_max = static_cast<int32_t>(4 + rng.Below(30)),
                        .model = static_cast<int>(rng.Below(3))};
  constexpr uint64_t kCounts[] = {0, 1, 2, 4, 8};
  for (uint64_t i = kCounts[rng.Below(5)]; i > 0; --i) {
    node.device_totals.push_back(RandomTotal(units, rng));
  }
  return node;
}

TaskShape RandomShape(Units units, model::Rng& rng) {
  TaskShape shape = {.cpu = static_cast<int64_t>(rng.Below(8)) * 500,
                     .memory = static_cast<int64_t>(rng.Below(4)) * 1024};
  if (rng.Below(4) == 0) shape.models = 1 + rng.Below(7);
  const uint64_t dice = rng.Below(10);
  if (dice < 6) {
    shape.gpu = GpuNeed::kShared;
    const auto tenths = static_cast<int32_t>(1 + rng.Below(9));
    shape.units = (units == Units::kMilli ? 100 : 1600) * tenths;
  } else if (dice < 8) {
    shape.gpu = GpuNeed::kWhole;
    shape.devices = static_cast<int32_t>(1 + rng.Below(4));
  } else if (dice < 9) {
    shape.gpu = GpuNeed::kAll;
  }
  return shape;
}

TaskMix MixOf(const std::vector<TaskShape>& shapes) {
  std::vector<CountedShape> counted;
  for (size_t i = 0; i < shapes.size(); ++i) {
    counted.push_back({.shape = shapes[i], .count = static_cast<int64_t>(1 + i * i)});
  }
  return TaskMix(counted);
}

struct Held {
  int32_t slot = 0;
  ShapeId shape = 0;
  DeviceSet devices = 0;
};

// A fleet and what it goes through: tasks come and go, nodes join, change, drain and leave.
struct Life {
  Life(GpuPolicyKind kind, Units units_used, uint64_t seed)
      : units(units_used),
        rng(seed),
        shapes([this] {
          std::vector<TaskShape> all;
          for (int i = 0; i < 14; ++i) all.push_back(RandomShape(units, rng));
          return all;
        }()),
        mix(MixOf(shapes)),
        device_units(units == Units::kMilli ? 1000 : 16280),
        // Room for the rankings of half the shapes: the others are dropped and built again.
        fleet(MakeGpuPolicy(kind, {.scale = {.device_units = device_units}, .mix = mix}), 7 * 768) {
    for (const TaskShape& shape : shapes) ids.push_back(fleet.Intern(shape));
    for (int i = 0; i < 20; ++i) resources.push_back(RandomNode(units, rng));
    for (const NodeResources& node : resources) fleet.Add(node);
  }

  void Step() {
    const uint64_t dice = rng.Below(100);
    if (dice < 55) {
      Place();
    } else if (dice < 90) {
      End();
    } else {
      ChangeNode(static_cast<int32_t>(rng.Below(fleet.slots())));
    }
  }

  void Place() {
    const ShapeId id = ids[rng.Below(ids.size())];
    const std::optional<FleetChoice> choice = fleet.Choose(id);
    if (!choice) return;
    fleet.Take(choice->slot, id, choice->devices);
    held.push_back({.slot = choice->slot, .shape = id, .devices = choice->devices});
  }

  void End() {
    if (held.empty()) return;
    std::swap(held[rng.Below(held.size())], held.back());
    fleet.GiveBack(held.back().slot, held.back().shape, held.back().devices);
    held.pop_back();
  }

  void ChangeNode(int32_t slot) {
    const NodeState& node = fleet.view(slot).node;
    const uint64_t dice = rng.Below(4);
    if (!node.present || dice == 0) {
      const NodeResources joined = RandomNode(units, rng);
      const auto took = static_cast<size_t>(fleet.Add(joined));
      resources.resize(std::max(resources.size(), took + 1));
      resources[took] = joined;
    } else if (dice == 1) {
      fleet.SetEligible(slot, !node.eligible);
    } else if (dice == 2) {
      const bool is_used = std::any_of(held.begin(), held.end(),
                                       [slot](const Held& task) { return task.slot == slot; });
      if (!is_used) fleet.Remove(slot);
    } else {
      resources[slot].cpu += 1000;
      for (int32_t& total : resources[slot].device_totals) total += 8;
      fleet.Change(slot, resources[slot]);
    }
  }

  Units units;
  model::Rng rng;
  std::vector<TaskShape> shapes;
  TaskMix mix;
  int64_t device_units;
  Fleet fleet;
  std::vector<ShapeId> ids = {};
  std::vector<NodeResources> resources = {};
  std::vector<Held> held = {};
};

}  // namespace

TEST_CASE("fgd chooses what the paper's doubles choose, whatever happened to the fleet",
          "[fleet][oracle]") {
  const Units units = GENERATE(Units::kMilli, Units::kMib);
  const uint64_t seed = GENERATE(range<uint64_t>(1, 6));
  INFO("seed " << seed << (units == Units::kMilli ? " milli" : " MiB"));
  Life life(GpuPolicyKind::kFgd, units, seed);
  const NaiveFgd naive = {.mix = life.mix, .device_units = static_cast<double>(life.device_units)};

  for (int step = 0; step < 400; ++step) {
    life.Step();
    const size_t any = life.rng.Below(life.ids.size());
    REQUIRE(life.fleet.Choose(life.ids[any]) == naive.Choose(life.fleet, life.shapes[any]));
  }
  CHECK(life.fleet.FindViolations() == std::vector<std::string>{});
}

TEST_CASE(
    "every policy's choice has room, is the best by its own score, and leaves the books right",
    "[fleet][oracle]") {
  const GpuPolicyKind kind = GENERATE(from_range(GpuPolicyKinds()));
  INFO(ToString(kind));
  Life life(kind, Units::kMib, 7);

  for (int step = 0; step < 1500; ++step) {
    life.Step();
    const size_t any = life.rng.Below(life.ids.size());
    const TaskShape& shape = life.shapes[any];
    const std::optional<FleetChoice> choice = life.fleet.Choose(life.ids[any]);
    bool has_room = false;
    int64_t best = INT64_MIN;
    int32_t first = -1;
    for (int32_t slot = 0; slot < life.fleet.slots(); ++slot) {
      const NodeView view = life.fleet.view(slot);
      if (!IsFeasible(view.node, shape)) continue;
      has_room = true;
      const int64_t score = life.fleet.policy().Score(view, life.ids[any], shape);
      if (score <= best) continue;
      best = score;
      first = slot;
    }
    REQUIRE(choice.has_value() == has_room);
    if (!choice || life.fleet.policy().draws() != nullptr) continue;
    REQUIRE(choice->slot == first);
    REQUIRE(choice->score == best);
  }
  CHECK(life.fleet.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("what was taken and given back leaves the fleet as it was", "[fleet]") {
  const GpuPolicyKind kind = GENERATE(from_range(GpuPolicyKinds()));
  Life life(kind, Units::kMilli, 3);
  std::vector<NodeState> before;
  for (int32_t i = 0; i < life.fleet.slots(); ++i) before.push_back(life.fleet.view(i).node);

  for (int i = 0; i < 300; ++i) life.Place();
  const bool some_placed = !life.held.empty();
  while (!life.held.empty()) life.End();

  CHECK(some_placed);
  for (int32_t i = 0; i < life.fleet.slots(); ++i) {
    const NodeState& node = life.fleet.view(i).node;
    CHECK(node.cpu_left == before[i].cpu_left);
    CHECK(node.memory_left == before[i].memory_left);
    CHECK(node.units_left == before[i].units_left);
    CHECK(node.idle_devices == before[i].idle_devices);
    CHECK(node.tasks_left == before[i].tasks_left);
    CHECK(node.kinds == 0);
  }
}

}  // namespace berth::placement

// Which nodes share a number, and that numbers are given anew when there are too many.
#include "placement/fleet/node_states.h"

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "placement/fleet/fleet.h"

namespace berth::placement {
namespace {

constexpr DeviceState kIdleDevice = {.left = 1000, .total = 1000};
constexpr DeviceState kHalfDevice = {.left = 500, .total = 1000, .tasks = 1};

// Scores by the CPU left, and counts how often it is asked.
class CountingPolicy : public GpuPolicy {
 public:
  explicit CountingPolicy(int64_t& asked) : asked_(asked) {}

  int64_t Score(const NodeView& view, ShapeId, const TaskShape&) override {
    ++asked_;
    return -view.node.cpu_left;
  }
  DeviceSet ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) override {
    return TightestDevices(view, shape);
  }
  bool is_costly() const override { return true; }

 private:
  int64_t& asked_;
};

NodeResources NodeWith(int64_t cpu) {
  return {.cpu = cpu, .memory = 1 << 20, .tasks_max = 100, .device_totals = {1000, 1000}};
}

}  // namespace

TEST_CASE("nodes share a number when CPU, devices, model and kinds are equal", "[fleet]") {
  NodeStates states;
  const std::vector<DeviceWord> devices = {ToWord(kHalfDevice), ToWord(kIdleDevice)};
  const std::vector<DeviceWord> idle = {ToWord(kIdleDevice), ToWord(kIdleDevice)};
  const NodeState node = {.cpu_left = 8, .memory_left = 1, .model = 2, .kinds = 1};

  const NodeStateId id = states.Of(node, devices);

  CHECK(states.Of({.cpu_left = 8, .memory_left = 99, .model = 2, .kinds = 1}, devices) == id);
  CHECK(states.Of({.cpu_left = 7, .model = 2, .kinds = 1}, devices) != id);
  CHECK(states.Of({.cpu_left = 8, .model = 3, .kinds = 1}, devices) != id);
  CHECK(states.Of({.cpu_left = 8, .model = 2, .kinds = 3}, devices) != id);
  CHECK(states.Of(node, idle) != id);
  CHECK(states.Of(node, {devices.data(), 1}) != id);
  CHECK(states.size() == 6);
}

TEST_CASE("a costly policy is asked once for nodes that are alike", "[fleet]") {
  int64_t asked = 0;
  Fleet fleet(std::make_unique<CountingPolicy>(asked));
  for (int i = 0; i < 50; ++i) fleet.Add(NodeWith(i % 2 == 0 ? 4000 : 8000));
  const ShapeId small = fleet.Intern({.cpu = 10, .memory = 10});
  const ShapeId large = fleet.Intern({.cpu = 10, .memory = 1000});

  CHECK(fleet.Choose(small)->slot == 0);
  CHECK(fleet.Choose(large)->slot == 0);

  CHECK(asked == 2);
}

TEST_CASE("states that are gone are forgotten, and scores stay right", "[fleet]") {
  int64_t asked = 0;
  Fleet fleet(std::make_unique<CountingPolicy>(asked));
  const int32_t changing = fleet.Add(NodeWith(100));
  const int32_t other = fleet.Add(NodeWith(30'000));
  const ShapeId shape = fleet.Intern({.cpu = 10});
  int64_t bytes = 0;

  for (int64_t cpu = 100; cpu < 60'000; ++cpu) {
    fleet.Change(changing, NodeWith(cpu));
    if (cpu % 997 == 0) REQUIRE(fleet.Choose(shape)->slot == (cpu <= 30'000 ? changing : other));
    if (cpu == 40'000) bytes = fleet.bytes();
  }

  CHECK(fleet.bytes() <= bytes);
  CHECK(fleet.FindViolations().empty());
}

}  // namespace berth::placement

// Sets of thresholds against a scan, and the fleets that are too large for the index.
#include "placement/fleet/room_index.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"
#include "placement/fleet/fleet.h"
#include "placement/fleet/threshold_sets.h"

namespace berth::placement {

TEST_CASE("the set of each threshold has the values that reach it, whatever happens", "[fleet]") {
  model::Rng rng(7);
  ThresholdSets sets;
  std::vector<int64_t> values;
  std::vector<int64_t> added;

  for (int round = 0; round < 3000; ++round) {
    const uint64_t dice = rng.Below(100);
    if (dice < 2) {
      values.resize(values.size() + rng.Below(90), INT64_MIN);
      sets.Resize(static_cast<int32_t>(values.size()));
    } else if (dice < 8) {
      added.push_back(static_cast<int64_t>(rng.Below(20)) - 5);
      sets.Add(added.back());
    } else if (dice < 12 && !added.empty()) {
      sets.Remove(added.back());
      added.pop_back();
    } else if (!values.empty()) {
      const auto position = static_cast<int32_t>(rng.Below(values.size()));
      values[position] = static_cast<int64_t>(rng.Below(24)) - 8;
      sets.Set(position, values[position]);
    }
    if (round % 31 != 0) continue;
    for (const int64_t threshold : added) {
      const ThresholdSets::Word* set = sets.set(sets.LastReachedBy(threshold));
      for (size_t i = 0; i < values.size(); ++i) {
        REQUIRE((set[i / 64 * sets.stride()] >> i % 64 & 1) == (values[i] >= threshold ? 1 : 0));
      }
    }
  }
}

TEST_CASE("a fleet that outgrows its index goes on choosing the same", "[fleet]") {
  Fleet fleet(MakeGpuPolicy(GpuPolicyKind::kBestFit, {}));
  const ShapeId share = fleet.Intern({.cpu = 1000, .gpu = GpuNeed::kShared, .units = 300});
  const NodeResources node = {
      .cpu = 64000, .memory = 1000, .tasks_max = 100, .device_totals = {1000, 1000}};
  for (int32_t i = 0; i < RoomIndex::kSlotsMax; ++i) fleet.Add(node);
  fleet.Take(4000, share, 2);

  CHECK(fleet.Choose(share) == FleetChoice{.slot = 4000, .devices = 2, .score = 67});
  fleet.Add(node);
  CHECK(fleet.Choose(share) == FleetChoice{.slot = 4000, .devices = 2, .score = 67});
}

TEST_CASE("nodes whose devices differ in size are scored one by one", "[fleet]") {
  Fleet fleet(MakeGpuPolicy(GpuPolicyKind::kBestFit, {}));
  const ShapeId whole = fleet.Intern({.cpu = 1000, .gpu = GpuNeed::kWhole, .devices = 1});
  fleet.Add({.cpu = 64000, .memory = 1000, .tasks_max = 9, .device_totals = {1000, 1000}});
  fleet.Add({.cpu = 64000, .memory = 1000, .tasks_max = 9, .device_totals = {4000}});

  CHECK(fleet.Choose(whole)->slot == 1);
  CHECK(fleet.FindViolations().empty());
}

}  // namespace berth::placement

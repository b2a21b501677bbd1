// The oracle of the fleet: every score anew, by the formulas as they are written, over every node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "placement/fleet/fleet.h"
#include "placement/fleet/fragmentation.h"

namespace berth::placement {

// FGD's score by the doubles of the paper: each device that suffices is tried, and the
// fragmentation before and after computed in full.
struct NaiveFgd {
  TaskMix mix = {};
  double device_units = 1000;

  struct Scored {
    int64_t score = 0;
    DeviceSet devices = 0;
  };

  double FragmentationAfter(const NodeView& view, const TaskShape& shape, DeviceSet taken) const {
    std::vector<DeviceState> devices(view.devices.begin(), view.devices.end());
    for (size_t i = 0; i < devices.size(); ++i) {
      if ((taken >> i & 1) == 0) continue;
      devices[i].left = shape.gpu == GpuNeed::kShared ? devices[i].left - shape.units : 0;
      devices[i].tasks = 1;
    }
    return Fragmentation(view.node.cpu_left - shape.cpu, view.node.model, devices, mix);
  }

  Scored Score(const NodeView& view, const TaskShape& shape) const {
    std::vector<DeviceSet> tries;
    if (shape.gpu == GpuNeed::kShared) {
      for (size_t i = 0; i < view.devices.size(); ++i) {
        if (view.devices[i].left >= shape.units) tries.push_back(DeviceSet{1} << i);
      }
    } else {
      std::vector<size_t> idle;
      for (size_t i = 0; i < view.devices.size(); ++i) {
        if (view.devices[i].IsIdle()) idle.push_back(i);
      }
      std::stable_sort(idle.begin(), idle.end(), [&](size_t a, size_t b) {
        return view.devices[a].total < view.devices[b].total;
      });
      DeviceSet taken = 0;
      for (int i = 0; i < DevicesAsked(shape, view.node); ++i) taken |= DeviceSet{1} << idle[i];
      tries.push_back(taken);
    }
    const double before = Fragmentation(view.node.cpu_left, view.node.model, view.devices, mix);
    Scored best = {.score = -1};
    for (const DeviceSet taken : tries) {
      const double x = (before - FragmentationAfter(view, shape, taken)) / device_units;
      const auto score = static_cast<int64_t>(100.0 * (1.0 / (1.0 + std::exp(-x))));
      if (score > best.score) best = {.score = score, .devices = taken};
    }
    return best;
  }

  std::optional<FleetChoice> Choose(const Fleet& fleet, const TaskShape& shape) const {
    std::optional<FleetChoice> best;
    for (int32_t slot = 0; slot < fleet.slots(); ++slot) {
      const NodeView view = fleet.view(slot);
      if (!IsFeasible(view.node, shape)) continue;
      const Scored scored = Score(view, shape);
      if (best && scored.score <= best->score) continue;
      best = FleetChoice{.slot = slot, .devices = scored.devices, .score = scored.score};
    }
    return best;
  }
};

}  // namespace berth::placement

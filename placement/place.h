// Where a task goes, without a scan over the instances: without rules by index, with rules by the
// ranking that the last task of the same demand, rules and group left behind.
//
// Order of preference, after what the rules say: for a task that shares a GPU, an already shared
// GPU before an IDLE one, the tightest fit first, so that whole GPUs stay whole; for dedicated
// GPUs, the instance with the fewest IDLE ones that suffice; otherwise the least remaining memory
// that fits. Among tasks without a GPU an instance without GPUs goes first. Ties go to the lowest
// instance id, then to the lowest GPU id, so that equal inputs give equal answers. tests/placement
// holds a naive scan as the oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/ids.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/rules.h"

namespace berth::placement {

struct Placement {
  model::InstanceId instance = {};
  Reservation reservation = {};
};

// Nothing: no instance has room. Explain() says why.
std::optional<Placement> Place(const Demand& demand, const Inventory& inventory);

// The task to be placed, as far as its rules ask.
struct TaskToPlace {
  std::string group =
      {};  // whose tasks distinctInstance and spread count; goes into the reservation
  // What random chooses by. Of inventories with the same history, the same seed finds the same.
  uint64_t seed = 0;
};
// Where there are no rules, the same by index.
std::optional<Placement> Place(const Demand& demand, const Inventory& inventory, const Rules& rules,
                               const TaskToPlace& task);

}  // namespace berth::placement

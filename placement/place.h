// Where a task goes, without a scan over the instances: without rules by index, with rules by the
// ranking that the last task of the same demand, rules and group left behind.
//
// Under a GPU policy (Inventory::SetGpuPolicy) its score is the order of preference, after what the
// rules say, and it chooses the GPUs, unless a strategy packs GPU memory; but a task without a GPU
// goes to an instance without GPUs first, as below.
//
// Otherwise (`tightest`), after what the rules say: for a task that shares a GPU, an already shared
// GPU before an IDLE one, the tightest fit first, so that whole GPUs stay whole; for dedicated
// GPUs, the instance with the fewest IDLE ones that suffice; otherwise the least remaining memory
// that fits. Among tasks without a GPU an instance without GPUs goes first. Ties go to the lowest
// instance id, then to the lowest GPU id, so that equal inputs give equal answers. tests/placement
// holds a naive scan as the oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// Places and reserves up to `count` equal tasks, each as Place would after the one before it; fewer
// where there is no room for more. Cheaper than one by one: the second and those after it need no
// search as long as they go where the one before them went. Random draws from one seed for all.
std::vector<Placement> PlaceMany(const Demand& demand, Inventory& inventory, const Rules& rules,
                                 const TaskToPlace& task, int64_t count);

}  // namespace berth::placement

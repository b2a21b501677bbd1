// Where a task goes, by index: no scan over the instances.
//
// Order of preference: for a task that shares a GPU, an already shared GPU before an IDLE one, the
// tightest fit first, so that whole GPUs stay whole; for dedicated GPUs, the instance with the
// fewest IDLE ones that suffice; otherwise the least remaining memory that fits. Among tasks
// without a GPU an instance without GPUs goes first. Ties go to the lowest instance id, then to the
// lowest GPU id, so that equal inputs give equal answers. tests/placement holds a naive scan as the
// oracle.
#pragma once

#include <optional>

#include "model/ids.h"
#include "placement/demand.h"
#include "placement/inventory.h"

namespace berth::placement {

struct Placement {
  model::InstanceId instance = {};
  Reservation reservation = {};
};

// Nothing: no instance has room. Explain() says why.
std::optional<Placement> Place(const Demand& demand, const Inventory& inventory);

}  // namespace berth::placement

// Whether a task can go to one given instance, and with which of its GPUs: StartTask's question.
// Strategies and constraints play no part.
#pragma once

#include <variant>

#include "model/ids.h"
#include "placement/demand.h"
#include "placement/explanation.h"
#include "placement/inventory.h"
#include "placement/place.h"

namespace berth::placement {

// Its GPUs are those that Place() would give it there. The shortfall is the first of the instance
// (Dimension).
// Requires: the inventory has the instance.
std::variant<Placement, Shortfall> PlaceOn(const model::InstanceId& instance, const Demand& demand,
                                           const Inventory& inventory);

}  // namespace berth::placement

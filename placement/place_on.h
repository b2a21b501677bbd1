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

// A shared GPU goes before an IDLE one, the tightest fit first, ties to the lowest id, as in
// Place(). The shortfall is the first of the instance (Dimension).
// Requires: the inventory has the instance.
std::variant<Placement, Shortfall> PlaceOn(const model::InstanceId& instance, const Demand& demand,
                                           const Inventory& inventory);

}  // namespace berth::placement

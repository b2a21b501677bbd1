// Where a task with constraints or strategies goes: first in the ranking of its demand and rules.
// Inside placement/ only.
#pragma once

#include <optional>

#include "placement/demand.h"
#include "placement/inventory_impl.h"
#include "placement/place.h"
#include "placement/rules.h"

namespace berth::placement {

std::optional<Placement> PlaceByRules(const Demand& demand, const Inventory::Impl& inventory,
                                      const Rules& rules, const TaskToPlace& task);

}  // namespace berth::placement

// Whether a demand fits an instance as it stands, and what is missing if not. Inside placement/
// only.
#pragma once

#include <optional>

#include "placement/demand.h"
#include "placement/explanation.h"
#include "placement/instance.h"

namespace berth::placement {

// What keeps the demand off the instance, or nothing. The order of the checks is part of the answer
// (Dimension): the first that fails is shown, so it may not vary.
std::optional<Shortfall> FindShortfall(const Demand& demand, const Instance& instance);

// The two checks that the indexes may leave to the candidates.
bool ArePortsFree(const Demand& demand, const Instance& instance);
bool HasRequiredAttributes(const Demand& demand, const Instance& instance);

}  // namespace berth::placement

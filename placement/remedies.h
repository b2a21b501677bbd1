// The remedies that need no look at single tasks. Inside placement/ only.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/demand.h"
#include "placement/inventory_impl.h"
#include "placement/remedy.h"
#include "placement/rules.h"
#include "placement/survey.h"

namespace berth::placement {

// By kind; each has been tried out. Requires: nothing fits.
std::vector<Remedy> FindRemedies(const Survey& survey, const Demand& demand, const Rules& rules,
                                 int32_t group, const Inventory::Impl& impl);

}  // namespace berth::placement

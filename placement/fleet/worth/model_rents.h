// What the devices of each model cost extra because many tasks name it: a scarce model is kept for
// those that can use no other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "placement/fleet/task_shape.h"
#include "placement/fleet/worth/worth_node.h"

namespace berth::placement {

inline constexpr int64_t kRentUnit = 1024;  // 1.0

// By model, in 1/1024 of a node's worth: half of the fourth power of the pressure, which is the
// demand that will name the model until the fleet is full, spread over the models that tasks accept
// so that pressures are as equal as they can be, over what is left of the model. Above a pressure
// of 2 it rises no more. `size_by_models`: the demand so far, by the set of models accepted
// (DemandClasses).
std::array<int64_t, kModelsMax> ModelRents(const std::vector<WorthNode>& nodes,
                                           const DeviceKinds& kinds,
                                           const std::map<uint64_t, int64_t>& size_by_models);

}  // namespace berth::placement

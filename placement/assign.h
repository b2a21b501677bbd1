// What a task holds of the instance that was chosen for it. Inside placement/ only.
#pragma once

#include <cstdint>

#include "placement/demand.h"
#include "placement/instance.h"
#include "placement/place.h"

namespace berth::placement {

// Dedicated devices are the IDLE ones with the lowest ids; a shared one is the device of that rank.
// Requires: the demand fits the instance, and the device.
Placement Assign(const Demand& demand, const Instance& instance, int32_t gpu_rank);

// Whether it has room as it stands, and the device that a demand that shares gets (else null).
// Class and attributes are not looked at.
struct Fit {
  bool fits = false;
  const Device* gpu = nullptr;
};
Fit FindFit(const Demand& demand, const Instance& instance);

// The device that a demand that shares gets of the instance: one that is shared already before an
// IDLE one, then the tightest fit, then the lowest id. Null: none has room.
const Device* ChooseSharedGpu(const GpuDemand& demand, const Instance& instance);

}  // namespace berth::placement

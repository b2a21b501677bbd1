// What a task holds of the instance that was chosen for it. Inside placement/ only.
#pragma once

#include <cstdint>

#include "placement/demand.h"
#include "placement/fleet/node.h"
#include "placement/instance.h"
#include "placement/place.h"

namespace berth::placement {

// Which of its instance's devices a task gets.
struct GpuChoice {
  int32_t shared = 0;  // for one that shares: the device's rank
  // Of the registered ones, in registered order. 0: IDLE ones, the lowest ids first.
  DeviceSet whole = 0;
};

// Requires: the demand fits the instance, and the devices.
Placement Assign(const Demand& demand, const Instance& instance, const GpuChoice& gpus);

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

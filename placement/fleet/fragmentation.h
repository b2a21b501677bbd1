// The fragmentation of a node: how much of its idle GPUs a random task of the mix could not use.
// Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
// Gradient Descent", USENIX ATC 2023.
//
// For one typical task all that is left of the devices counts when the task cannot run here at all,
// and what is left of those devices that are too small for it when it can. In units of devices, as
// in task_shape.h; with MiB and devices of differing size it is MiB that could not be used.
//
// The sums are doubles, taken in seven parts in the order of the mix, as the published experiment
// takes them, and compiled without fused multiply-add: whether a placement leaves fragmentation
// exactly as it was, which decides between its scores 49 and 50, is in their last bit.
#pragma once

#include <cstdint>
#include <span>

#include "placement/fleet/node.h"
#include "placement/fleet/task_mix.h"

namespace berth::placement {

double Fragmentation(int64_t cpu_left, int model, std::span<const DeviceState> devices,
                     const TaskMix& mix);

// What a shape could use of these devices, as far as they alone decide.
struct UsableDevices {
  bool enough = false;  // it fits
  int64_t left = 0;     // over those devices that suffice
};
UsableDevices FindUsable(std::span<const DeviceState> devices, const TaskShape& shape);

}  // namespace berth::placement

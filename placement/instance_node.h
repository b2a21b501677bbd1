// An instance as the compact engine sees it (fleet/node.h). Inside placement/ only.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "placement/fleet/node.h"
#include "placement/instance.h"

namespace berth::placement {

inline constexpr size_t kUsualDevices = 8;
using DeviceStates = absl::InlinedVector<DeviceState, kUsualDevices>;

// The registered devices, in registered order. A device that has no MPS client to give away any
// more has room for nobody: nothing is left of it.
DeviceStates DeviceStatesOf(const Instance& instance);
// kSharingModel or kWholeModel.
int ModelOf(const Instance& instance);
// Requires: at most kDevicesMax devices, and they are the instance's.
NodeState NodeStateOf(const Instance& instance, std::span<const DeviceState> devices);
// What follows from the devices: NodeState's idle_devices to total_each.
void Summarise(std::span<const DeviceState> devices, NodeState& node);

}  // namespace berth::placement

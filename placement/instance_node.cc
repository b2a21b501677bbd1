#include "placement/instance_node.h"

#include <algorithm>
#include <limits>

#include "placement/task_shapes.h"

namespace berth::placement {
namespace {

int32_t Units(int64_t memory_mib) {
  return static_cast<int32_t>(std::min(memory_mib, kShapeUnitsMax));
}

bool IsStuck(const Instance& instance, const Device& device) {
  return device.use == model::GpuUse::kNvidiaMps && FreeMpsClients(instance, device) <= 0;
}

}  // namespace

DeviceStates DeviceStatesOf(const Instance& instance) {
  DeviceStates states;
  for (const Device& device : instance.devices) {
    if (!device.registered) continue;
    DeviceState& state =
        states.emplace_back(DeviceState{.left = Units(device.remaining_memory_mib()),
                                        .total = Units(device.total_memory_mib),
                                        .tasks = static_cast<int32_t>(device.containers)});
    if (device.use == model::GpuUse::kDedicated) state.tasks = DeviceState::kTakenWhole;
    if (IsStuck(instance, device)) state.left = 0;
  }
  return states;
}

int ModelOf(const Instance& instance) {
  return instance.offers_gpu_sharing ? kSharingModel : kWholeModel;
}

NodeState NodeStateOf(const Instance& instance, std::span<const DeviceState> devices) {
  NodeState node{.cpu_left = std::min(instance.remaining_cpu_units(), kShapeCpuMax),
                 .memory_left = instance.remaining_memory_mib(),
                 .cpu_total = std::min(instance.total_cpu_units, kShapeCpuMax),
                 .tasks_left = std::numeric_limits<int32_t>::max(),
                 .model = static_cast<uint8_t>(ModelOf(instance)),
                 .present = true,
                 .eligible = instance.eligible,
                 .devices = static_cast<uint8_t>(devices.size())};
  for (size_t gpus = 0; gpus < instance.tasks_by_gpus.size(); ++gpus) {
    if (instance.tasks_by_gpus[gpus] == 0) continue;
    node.kinds |= uint64_t{1} << std::min<size_t>(gpus, kDevicesMax);
  }
  Summarise(devices, node);
  return node;
}

void Summarise(std::span<const DeviceState> devices, NodeState& node) {
  node.idle_devices = 0;
  node.largest_left = 0;
  node.units_left = 0;
  node.total_each = devices.empty() ? 0 : devices[0].total;
  for (const DeviceState& device : devices) {
    if (device.total != node.total_each) node.total_each = 0;
    node.idle_devices = static_cast<uint8_t>(node.idle_devices + (device.IsIdle() ? 1 : 0));
    node.largest_left = std::max(node.largest_left, device.left);
    node.units_left += device.left;
  }
}

}  // namespace berth::placement

#include "placement/fleet/fragmentation.h"

namespace berth::placement {

UsableDevices FindUsable(std::span<const DeviceState> devices, const TaskShape& shape) {
  int fitting = 0;
  int64_t left = 0;
  const bool shared = shape.gpu == GpuNeed::kShared;
  for (const DeviceState& device : devices) {
    if (shared ? device.left < shape.units : !device.IsIdle()) continue;
    ++fitting;
    left += device.left;
  }
  const int asked = shared                         ? 1
                    : shape.gpu == GpuNeed::kWhole ? shape.devices
                                                   : static_cast<int>(devices.size());
  return {.enough = fitting >= asked && fitting > 0, .left = left};
}

double Fragmentation(int64_t cpu_left, int model, std::span<const DeviceState> devices,
                     const TaskMix& mix) {
  int64_t units_left = 0;
  for (const DeviceState& device : devices) units_left += device.left;
  const auto all = static_cast<double>(units_left);
  double lacks_both = 0;
  double lacks_gpu = 0;
  double lacks_cpu = 0;
  double no_gpu_asked = 0;
  double no_gpu_asked_lacks_cpu = 0;
  double other_model = 0;
  // The seventh part, what can be used, is in no sum.
  for (const TypicalTask& task : mix.tasks()) {
    const bool has_cpu = cpu_left >= task.shape.cpu;
    if (task.shape.gpu == GpuNeed::kNone) {
      (has_cpu ? no_gpu_asked : no_gpu_asked_lacks_cpu) += task.share * all;
      continue;
    }
    if (!task.shape.Accepts(model)) {
      other_model += task.share * all;
      continue;
    }
    const UsableDevices usable = FindUsable(devices, task.shape);
    if (usable.enough && has_cpu) {
      lacks_gpu += task.share * static_cast<double>(units_left - usable.left);
    } else if (usable.enough) {
      lacks_cpu += task.share * all;
    } else {
      (has_cpu ? lacks_gpu : lacks_both) += task.share * all;
    }
  }
  return lacks_both + lacks_gpu + lacks_cpu + no_gpu_asked + no_gpu_asked_lacks_cpu + other_model;
}

}  // namespace berth::placement

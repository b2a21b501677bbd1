#include "placement/instance_fragmentation.h"

#include <cmath>

#include "placement/fleet/fragmentation.h"
#include "placement/instance_node.h"

namespace berth::placement {
namespace {

constexpr double kMilli = 1000;

int64_t Milli(double mib) { return std::llround(mib * kMilli); }

// The share of all typical tasks that cannot use what is left of this device.
double UnusableShare(const DeviceState& device, const Instance& instance,
                     const DeviceStates& devices, const TaskMix& mix) {
  double share = 0;
  for (const TypicalTask& task : mix.tasks()) {
    const TaskShape& shape = task.shape;
    const bool suffices =
        shape.gpu == GpuNeed::kShared ? device.left >= shape.units : device.IsIdle();
    const bool usable =
        shape.gpu != GpuNeed::kNone && suffices && shape.Accepts(ModelOf(instance)) &&
        instance.remaining_cpu_units() >= shape.cpu && FindUsable(devices, shape).enough;
    if (!usable) share += task.share;
  }
  return share;
}

}  // namespace

FragmentationFigures FiguresOf(const Instance& instance, const TaskMix& mix) {
  if (!instance.eligible) return {};
  const DeviceStates devices = DeviceStatesOf(instance);
  FragmentationFigures figures;
  int64_t stuck_mib = 0;  // left on devices that nobody can have
  size_t i = 0;
  for (const Device& device : instance.devices) {
    if (!device.registered) continue;
    figures.idle_mib += device.remaining_memory_mib();
    stuck_mib += device.remaining_memory_mib() - devices[i++].left;
  }
  if (mix.tasks().empty() || figures.idle_mib == 0) return figures;
  figures.fragmented_milli_mib =
      Milli(Fragmentation(instance.remaining_cpu_units(), ModelOf(instance), devices, mix)) +
      stuck_mib * static_cast<int64_t>(kMilli);
  return figures;
}

std::vector<FragmentationFigures> FiguresByDevice(const Instance& instance, const TaskMix& mix) {
  const DeviceStates devices = DeviceStatesOf(instance);
  std::vector<FragmentationFigures> figures;
  size_t i = 0;
  for (const Device& device : instance.devices) {
    if (!device.registered) continue;
    const DeviceState& state = devices[i++];
    FragmentationFigures& own = figures.emplace_back();
    if (!instance.eligible) continue;
    own.idle_mib = device.remaining_memory_mib();
    if (mix.tasks().empty()) continue;
    const bool is_stuck = state.left < own.idle_mib;
    const double share = is_stuck ? 1 : UnusableShare(state, instance, devices, mix);
    own.fragmented_milli_mib = Milli(share * static_cast<double>(own.idle_mib));
  }
  return figures;
}

}  // namespace berth::placement

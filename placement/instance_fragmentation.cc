#include "placement/instance_fragmentation.h"

#include <cmath>

#include "absl/container/inlined_vector.h"
#include "placement/fleet/fragmentation.h"

namespace berth::placement {
namespace {

constexpr double kMilli = 1000;
constexpr size_t kUsualDevices = 8;

using Devices = absl::InlinedVector<DeviceState, kUsualDevices>;

// A device without a free MPS client, and not idle, has room for nobody.
bool IsStuck(const Instance& instance, const Device& device) {
  return device.use == model::GpuUse::kNvidiaMps && FreeMpsClients(instance, device) <= 0;
}

struct View {
  Devices devices = {};   // the registered ones, in order
  int64_t stuck_mib = 0;  // left on those that nobody can have, which is not in `devices`
};

View ViewOf(const Instance& instance) {
  View view;
  for (const Device& device : instance.devices) {
    if (!device.registered) continue;
    DeviceState state{.left = static_cast<int32_t>(device.remaining_memory_mib()),
                      .total = static_cast<int32_t>(device.total_memory_mib),
                      .tasks = static_cast<int32_t>(device.containers)};
    if (device.use == model::GpuUse::kDedicated) state.tasks = DeviceState::kTakenWhole;
    if (IsStuck(instance, device)) {
      view.stuck_mib += state.left;
      state.left = 0;
    }
    view.devices.push_back(state);
  }
  return view;
}

int ModelOf(const Instance& instance) {
  return instance.offers_gpu_sharing ? kSharingModel : kWholeModel;
}

int64_t Milli(double mib) { return std::llround(mib * kMilli); }

// The share of all typical tasks that cannot use what is left of this device.
double UnusableShare(const DeviceState& device, const Instance& instance, const Devices& devices,
                     const TaskMix& mix) {
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
  const View view = ViewOf(instance);
  FragmentationFigures figures{.idle_mib = view.stuck_mib};
  for (const DeviceState& device : view.devices) figures.idle_mib += device.left;
  if (mix.tasks().empty() || figures.idle_mib == 0) return figures;
  figures.fragmented_milli_mib =
      Milli(Fragmentation(instance.remaining_cpu_units(), ModelOf(instance), view.devices, mix)) +
      view.stuck_mib * static_cast<int64_t>(kMilli);
  return figures;
}

std::vector<FragmentationFigures> FiguresByDevice(const Instance& instance, const TaskMix& mix) {
  const View view = ViewOf(instance);
  std::vector<FragmentationFigures> figures;
  size_t i = 0;
  for (const Device& device : instance.devices) {
    if (!device.registered) continue;
    const DeviceState& state = view.devices[i++];
    FragmentationFigures& own = figures.emplace_back();
    if (!instance.eligible) continue;
    own.idle_mib = device.remaining_memory_mib();
    if (mix.tasks().empty()) continue;
    const double share =
        IsStuck(instance, device) ? 1 : UnusableShare(state, instance, view.devices, mix);
    own.fragmented_milli_mib = Milli(share * static_cast<double>(own.idle_mib));
  }
  return figures;
}

}  // namespace berth::placement

#include "placement/place_on.h"

#include <optional>
#include <tuple>

#include "model/check.h"
#include "placement/assign.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"

namespace berth::placement {
namespace {

bool HasRoom(const GpuDemand& demand, const Instance& instance, const Device& device) {
  return device.registered && device.use != model::GpuUse::kDedicated &&
         device.remaining_memory_mib() >= demand.memory_mib &&
         FreeMpsClients(instance, device) >= demand.containers;
}

bool Precedes(const Device& a, const Device& b) {
  const auto rank = [](const Device& device) {
    return std::tuple(device.IsIdle(), device.remaining_memory_mib(), device.rank);
  };
  return rank(a) < rank(b);
}

// Requires: some device has room.
int32_t ChooseSharedGpu(const GpuDemand& demand, const Instance& instance) {
  const Device* best = nullptr;
  for (const Device& device : instance.devices) {
    if (!HasRoom(demand, instance, device)) continue;
    if (best == nullptr || Precedes(device, *best)) best = &device;
  }
  BERTH_CHECK(best != nullptr);
  return best->rank;
}

}  // namespace

std::variant<Placement, Shortfall> PlaceOn(const model::InstanceId& instance, const Demand& demand,
                                           const Inventory& inventory) {
  const Instance* found = inventory.impl().Find(instance);
  BERTH_CHECK(found != nullptr);
  if (const std::optional<Shortfall> shortfall = FindShortfall(demand, *found)) return *shortfall;
  const bool shares = demand.gpu.kind == GpuDemand::Kind::kShared;
  return Assign(demand, *found, shares ? ChooseSharedGpu(demand.gpu, *found) : 0);
}

}  // namespace berth::placement

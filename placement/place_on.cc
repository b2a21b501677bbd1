#include "placement/place_on.h"

#include <optional>

#include "model/check.h"
#include "placement/assign.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"

namespace berth::placement {
std::variant<Placement, Shortfall> PlaceOn(const model::InstanceId& instance, const Demand& demand,
                                           const Inventory& inventory) {
  const Instance* found = inventory.impl().Find(instance);
  BERTH_CHECK(found != nullptr);
  if (const std::optional<Shortfall> shortfall = FindShortfall(demand, *found)) return *shortfall;
  const bool shares = demand.gpu.kind == GpuDemand::Kind::kShared;
  return Assign(demand, *found, shares ? ChooseSharedGpu(demand.gpu, *found)->rank : 0);
}

}  // namespace berth::placement

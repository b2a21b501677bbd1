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
  if (const std::optional<Lack> lack = FindLack(demand, *found)) {
    const Conditions conditions{.attributes_hold = HasRequiredAttributes(demand, *found)};
    return ToShortfall(*lack, VerdictOn(demand, *found, conditions));
  }
  const bool shares = demand.gpu.kind == GpuDemand::Kind::kShared;
  return Assign(demand, *found, shares ? ChooseSharedGpu(demand.gpu, *found)->rank : 0);
}

}  // namespace berth::placement

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
  GpuOrder& order = inventory.impl().gpu_order;
  if (order.active()) {
    order.CatchUp(inventory.impl());
    const ShapeUse shape(order, demand);
    return Assign(demand, *found, order.Choose(*found, shape.id(), demand, /*seed=*/0));
  }
  const bool shares = demand.gpu.kind == GpuDemand::Kind::kShared;
  const int32_t gpu = shares ? ChooseSharedGpu(demand.gpu, *found)->rank : 0;
  return Assign(demand, *found, {.shared = gpu});
}

}  // namespace berth::placement

#include "placement/place_by_rules.h"

#include "placement/assign.h"
#include "placement/ruled_ranking.h"
#include "placement/ruled_rankings.h"

namespace berth::placement {

std::optional<Placement> PlaceByRules(const Demand& demand, const Inventory::Impl& inventory,
                                      const Rules& rules, const TaskToPlace& task) {
  const std::optional<Spot> spot =
      inventory.rankings.Find(demand, rules, task.group, inventory).Best(task.seed);
  if (!spot) return std::nullopt;
  return Assign(demand, *inventory.instances[spot->slot], spot->gpu);
}

}  // namespace berth::placement

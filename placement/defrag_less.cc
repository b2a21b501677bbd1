// Moves that lower fragmentation, one after the other, each the best of those that there are: from
// the most fragmented instances to one of them, or to where the engine would put the task.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "model/check.h"
#include "placement/defrag_steps.h"
#include "placement/instance_fragmentation.h"
#include "placement/inventory_impl.h"
#include "placement/place_on.h"

namespace berth::placement {
namespace {

constexpr int64_t kShapesALook = 4;  // of the mix: so many cost as much as a check

class GainSearch {
 public:
  GainSearch(HoldersOn movable, ClusterFragmentation& fragmentation, Inventory& inventory)
      : movable_(movable),
        fragmentation_(fragmentation),
        inventory_(inventory),
        trial_(inventory) {}

  // Makes the best move. Nothing: none is worth it.
  std::optional<DefragMove> MoveBest();
  bool limited() const { return limited_ || looks_.Spent(); }

 private:
  struct Best {
    int64_t change_milli_mib = -1000 * kDefragGainMinMib + 1;  // must be lower
    std::optional<Relocation> move = std::nullopt;
  };

  int64_t FragmentedOn(const model::InstanceId& id) {
    looks_.Take(1 + std::ssize(fragmentation_.mix().tasks()) / kShapesALook);
    return FiguresOf(*inventory_.impl().Find(id), fragmentation_.mix()).fragmented_milli_mib;
  }
  std::vector<Placement> PlacesOn(const model::InstanceId& id, const Holder& holder);
  void TryAll(const model::InstanceId& from, const Holder& holder,
              const std::vector<model::InstanceId>& targets, Best& best);

  HoldersOn movable_;
  ClusterFragmentation& fragmentation_;
  Inventory& inventory_;
  Trial trial_;
  Looks looks_ = {};
  bool limited_ = false;
  absl::flat_hash_set<std::string> moved_ = {};  // a task moves once
};

// Every GPU that a task that shares could have; for others the engine's choice.
std::vector<Placement> GainSearch::PlacesOn(const model::InstanceId& id, const Holder& holder) {
  std::vector<Placement> places;
  looks_.Take(1);
  if (!FitsOn(id, holder.demand, holder.rules, holder.reservation.group, inventory_)) return places;
  if (holder.reservation.gpu_use != model::GpuUse::kNvidiaMps) {
    auto place = PlaceOn(id, holder.demand, inventory_);
    BERTH_CHECK(std::holds_alternative<Placement>(place));
    places.push_back(std::get<Placement>(std::move(place)));
    places.back().reservation.group = holder.reservation.group;
    return places;
  }
  const Instance& instance = *inventory_.impl().Find(id);
  for (const Device& device : instance.devices) {
    Placement place{.instance = id, .reservation = holder.reservation};
    place.reservation.gpus = {device.id};
    if (IsFree(instance, place.reservation)) places.push_back(std::move(place));
  }
  return places;
}

void GainSearch::TryAll(const model::InstanceId& from, const Holder& holder,
                        const std::vector<model::InstanceId>& targets, Best& best) {
  const size_t mark = trial_.mark();
  const int64_t held = FragmentedOn(from);
  trial_.Release(from, holder.reservation);
  const int64_t left = FragmentedOn(from);
  for (const model::InstanceId& to : targets) {
    if (looks_.Spent()) break;
    const std::vector<Placement> places = PlacesOn(to, holder);
    if (places.empty()) continue;
    const int64_t without = FragmentedOn(to);
    for (const Placement& place : places) {
      if (to == from && place.reservation.gpus == holder.reservation.gpus) continue;
      const size_t empty = trial_.mark();
      trial_.Reserve(to, place.reservation);
      const int64_t change = left - held + FragmentedOn(to) - without;
      trial_.BackTo(empty);
      if (change < best.change_milli_mib) {
        best = {.change_milli_mib = change,
                .move = Relocation{.holder = holder, .from = from, .to = place}};
      }
    }
  }
  trial_.BackTo(mark);
}

std::optional<DefragMove> GainSearch::MoveBest() {
  std::vector<model::InstanceId> worst;
  for (const FragmentedInstance& one : fragmentation_.Worst(inventory_, kDefragInstancesMax + 1)) {
    worst.push_back(one.instance);
  }
  if (std::ssize(worst) > kDefragInstancesMax) {
    limited_ = true;
    worst.pop_back();
  }
  Best best;
  for (const model::InstanceId& from : worst) {
    std::vector<Holder> holders = movable_(from);
    std::erase_if(holders, [this](const Holder& holder) { return moved_.contains(holder.id); });
    const Movable movable = Arrange(std::move(holders), /*equal_max=*/1);
    limited_ = limited_ || movable.limited;
    for (const Holder& holder : movable.holders) {
      if (looks_.Spent()) break;
      std::vector<model::InstanceId> targets = worst;
      looks_.Take(holder.rules.empty() ? 1 : inventory_.size());
      const auto usual =
          Place(holder.demand, inventory_, holder.rules, {.group = holder.reservation.group});
      if (usual && std::find(worst.begin(), worst.end(), usual->instance) == worst.end()) {
        targets.push_back(usual->instance);
      }
      TryAll(from, holder, targets, best);
    }
  }
  if (!best.move) return std::nullopt;
  BERTH_CHECK(Move(*best.move, inventory_, trial_));
  moved_.insert(best.move->holder.id);
  return MoveOf(*best.move);
}

}  // namespace

DefragPlan PlanLessFragmentation(int64_t moves_max, HoldersOn movable,
                                 ClusterFragmentation& fragmentation, Inventory& inventory) {
  BERTH_CHECK(moves_max >= 0 && moves_max <= kDefragMovesMax);
  DefragPlan plan{.before = fragmentation.Read(inventory)};
  GainSearch search(movable, fragmentation, inventory);
  while (std::ssize(plan.moves) < moves_max) {
    std::optional<DefragMove> move = search.MoveBest();
    if (!move) break;
    plan.moves.push_back(*std::move(move));
  }
  plan.after = fragmentation.Read(inventory);
  plan.limited = search.limited();
  if (plan.before.fragmented_milli_mib == 0) {
    plan.outcome = DefragPlan::Outcome::kNoMoveNeeded;
  } else if (!plan.moves.empty()) {
    plan.outcome = DefragPlan::Outcome::kMoves;
  }
  return plan;
}

}  // namespace berth::placement

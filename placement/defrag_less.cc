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
  // What taking a task in changes there at least, and how; nothing: it cannot go there.
  struct Taken {
    int64_t change_milli_mib = 0;
    Placement place = {};
  };
  // Tasks that may go to the same places, and change the same there.
  struct Kind {
    const Holder* holder = nullptr;  // one of them
    std::vector<model::InstanceId> targets = {};
    std::vector<std::optional<Taken>> taken = {};  // by each target as it stands
  };

  std::vector<Placement> PlacesOn(const model::InstanceId& id, const Holder& holder);
  std::optional<Taken> TakeIn(const model::InstanceId& to, const Holder& holder,
                              const std::vector<model::GpuId>* but_not);
  const Kind& KindOf(const Holder& holder, const std::vector<model::InstanceId>& worst,
                     std::vector<Kind>& kinds);
  void TryAll(const model::InstanceId& from, const Holder& holder, const Kind& kind, Best& best);

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

std::optional<GainSearch::Taken> GainSearch::TakeIn(const model::InstanceId& to,
                                                    const Holder& holder,
                                                    const std::vector<model::GpuId>* but_not) {
  std::optional<Taken> least;
  const std::vector<Placement> places = PlacesOn(to, holder);
  if (places.empty()) return least;
  const int64_t without = FragmentedOn(to);
  for (const Placement& place : places) {
    if (but_not != nullptr && place.reservation.gpus == *but_not) continue;
    const size_t mark = trial_.mark();
    trial_.Reserve(to, place.reservation);
    const int64_t change = FragmentedOn(to) - without;
    trial_.BackTo(mark);
    if (!least || change < least->change_milli_mib) {
      least = Taken{.change_milli_mib = change, .place = place};
    }
  }
  return least;
}

// Of a kind, what the targets make of it is found out once.
const GainSearch::Kind& GainSearch::KindOf(const Holder& holder,
                                           const std::vector<model::InstanceId>& worst,
                                           std::vector<Kind>& kinds) {
  const auto known = std::find_if(kinds.begin(), kinds.end(), [&holder](const Kind& kind) {
    return AreAlikeElsewhere(*kind.holder, holder);
  });
  if (known != kinds.end()) return *known;
  Kind kind{.holder = &holder, .targets = worst};
  looks_.Take(holder.rules.empty() ? 1 : inventory_.size());
  const auto usual =
      Place(holder.demand, inventory_, holder.rules, {.group = holder.reservation.group});
  if (usual && std::find(worst.begin(), worst.end(), usual->instance) == worst.end()) {
    kind.targets.push_back(usual->instance);
  }
  for (const model::InstanceId& to : kind.targets) {
    kind.taken.push_back(looks_.Spent() ? std::nullopt : TakeIn(to, holder, nullptr));
  }
  return kinds.emplace_back(std::move(kind));
}

void GainSearch::TryAll(const model::InstanceId& from, const Holder& holder, const Kind& kind,
                        Best& best) {
  const size_t mark = trial_.mark();
  const int64_t held = FragmentedOn(from);
  trial_.Release(from, holder.reservation);
  const int64_t left = FragmentedOn(from);
  for (size_t i = 0; i < kind.targets.size(); ++i) {
    const model::InstanceId& to = kind.targets[i];
    // Where it is now there is more room once it has left.
    const std::optional<Taken> here =
        to == from ? TakeIn(to, holder, &holder.reservation.gpus) : std::nullopt;
    const std::optional<Taken>& taken = to == from ? here : kind.taken[i];
    if (!taken) continue;
    const int64_t change = left - held + taken->change_milli_mib;
    if (change < best.change_milli_mib) {
      best = {.change_milli_mib = change,
              .move = Relocation{.holder = holder, .from = from, .to = taken->place}};
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
  std::vector<Movable> movable;  // of each; the kinds point into it
  for (const model::InstanceId& from : worst) {
    std::vector<Holder> holders = movable_(from);
    looks_.Take(std::ssize(holders));
    std::erase_if(holders, [this](const Holder& holder) { return moved_.contains(holder.id); });
    movable.push_back(Arrange(std::move(holders), /*equal_max=*/1));
    limited_ = limited_ || movable.back().limited;
  }
  Best best;
  std::vector<Kind> kinds;
  for (size_t i = 0; i < worst.size(); ++i) {
    for (const Holder& holder : movable[i].holders) {
      if (looks_.Spent()) break;
      TryAll(worst[i], holder, KindOf(holder, worst, kinds), best);
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

// The fewest moves that make a demand fit. First with one move on any instance, then with two, and
// so on: a set of tasks leaves an instance, no more than it takes; the demand has its place there;
// each of the tasks goes where the engine puts it or, where it finds no place and more moves are
// allowed, the same is done for it.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "model/check.h"
#include "placement/defrag_steps.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"
#include "placement/place_on.h"

namespace berth::placement {
namespace {

// What else is done, in looks.
constexpr int64_t kLooksOfPlacement = 8;  // by index
constexpr int64_t kLooksOfTask = 4;       // to ask for it, or to have it leave and come back

// What is to have a place: a task of the demand, or one that was moved away for it.
struct Item {
  const Demand& demand;
  const Rules& rules;
  const std::string& group;
};

class RoomSearch {
 public:
  RoomSearch(HoldersOn movable, Inventory& inventory)
      : movable_(movable), inventory_(inventory), trial_(inventory) {}

  // Gives it a place, with at most so many moves, the fewest that do. Nothing: there is no way.
  std::optional<Placement> Fit(const Item& item, int64_t moves_max);
  // All is as it was, and the moves are made in an order in which each finds its place free; then
  // `then` must hold.
  bool Carry(const std::function<bool()>& then);

  const std::vector<Relocation>& moves() const { return moves_; }
  bool limited() const { return limited_ || looks_.Spent(); }
  Trial& trial() { return trial_; }
  std::optional<Placement> Find(const Item& item);
  void BackTo(size_t moves, size_t mark);

 private:
  // Tasks that leave an instance for the item.
  struct Eviction {
    const Item& item;
    model::InstanceId instance = {};
    std::vector<Holder> holders = {};         // that may leave
    std::vector<const Holder*> leaving = {};  // so far
    int64_t moves_max = 0;
  };

  std::vector<model::InstanceId> FindCandidates(const Item& item);
  std::vector<Holder> FindUseful(const Item& item, const model::InstanceId& id, int64_t moves_max);
  std::optional<Placement> Evict(Eviction& eviction, size_t from, int64_t more);
  bool IsLeastSet(const Eviction& eviction);
  std::optional<Placement> Settle(const Eviction& eviction);
  bool FitsOn(const Item& item, const model::InstanceId& id) {
    looks_.Take(1);
    return placement::FitsOn(id, item.demand, item.rules, item.group, inventory_);
  }
  bool CarryRest(std::vector<Relocation>& left, const std::function<bool()>& then);

  HoldersOn movable_;
  Inventory& inventory_;
  Trial trial_;
  Looks looks_ = {};
  bool limited_ = false;
  std::vector<Relocation> moves_ = {};
  absl::flat_hash_set<std::string> moved_ = {};  // a task moves once
};

std::optional<Placement> RoomSearch::Find(const Item& item) {
  looks_.Take(item.rules.empty() ? kLooksOfPlacement : inventory_.size());
  return Place(item.demand, inventory_, item.rules, {.group = item.group});
}

void RoomSearch::BackTo(size_t moves, size_t mark) {
  for (; moves_.size() > moves; moves_.pop_back()) moved_.erase(moves_.back().holder.id);
  trial_.BackTo(mark);
}

// Those that could take the item if tasks left, the closest to a fit first.
std::vector<model::InstanceId> RoomSearch::FindCandidates(const Item& item) {
  const Inventory::Impl& impl = inventory_.impl();
  const int32_t group = impl.groups.NumberOf(item.group);
  Rules binding = item.rules;
  binding.distinct_instance = false;  // tasks of the group may leave too
  struct Candidate {
    int checks_left = 0;  // after the first that fails
    int64_t gap = 0;
    const Instance* instance = nullptr;
  };
  std::vector<Candidate> candidates;
  looks_.Take(inventory_.size());
  for (const auto& instance : impl.instances) {
    if (instance == nullptr || !instance->eligible || FindMachineLack(item.demand, *instance) ||
        FindAttributeLack(item.demand, *instance) || !CouldHoldWhenEmpty(item.demand, *instance) ||
        FindUnsatisfied(binding, group, *instance, impl.groups)) {
      continue;
    }
    Candidate& candidate = candidates.emplace_back(Candidate{.instance = instance.get()});
    if (const std::optional<Lack> lack = FindLack(item.demand, *instance)) {
      candidate.checks_left =
          static_cast<int>(Dimension::kMemberOf) - static_cast<int>(lack->dimension);
      if (lack->dimension != Dimension::kPorts) candidate.gap = lack->asked - lack->had;
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.checks_left, a.gap, a.instance->id) <
           std::tie(b.checks_left, b.gap, b.instance->id);
  });
  if (std::ssize(candidates) > kDefragInstancesMax) {
    limited_ = true;
    candidates.resize(kDefragInstancesMax);
  }
  std::vector<model::InstanceId> ids;
  for (const Candidate& candidate : candidates) ids.push_back(candidate.instance->id);
  return ids;
}

// Those tasks that hold something of what the item lacks: no least set has others.
std::vector<Holder> RoomSearch::FindUseful(const Item& item, const model::InstanceId& id,
                                           int64_t moves_max) {
  const Instance& instance = *inventory_.impl().Find(id);
  const bool lacks_cpu = FindCpuLack(item.demand, instance).has_value();
  const bool lacks_memory = FindMemoryLack(item.demand, instance).has_value();
  const bool lacks_ports = FindPortLack(item.demand, instance).has_value();
  const bool lacks_gpu = FindGpuLack(item.demand, instance).has_value();
  std::vector<Holder> holders = movable_(id);
  looks_.Take(kLooksOfTask * (1 + std::ssize(holders)));
  std::erase_if(holders, [&](const Holder& holder) {
    const Reservation& r = holder.reservation;
    const bool helps = (lacks_cpu && r.cpu_units > 0) || (lacks_memory && r.memory_mib > 0) ||
                       (lacks_ports && !(r.tcp_ports.empty() && r.udp_ports.empty())) ||
                       (lacks_gpu && r.gpu_use != model::GpuUse::kIdle) ||
                       (item.rules.distinct_instance && r.group == item.group);
    return !helps || moved_.contains(holder.id);
  });
  Movable movable = Arrange(std::move(holders), moves_max);
  limited_ = limited_ || movable.limited;
  return std::move(movable.holders);
}

std::optional<Placement> RoomSearch::Fit(const Item& item, int64_t moves_max) {
  if (std::optional<Placement> place = Find(item)) {
    trial_.Reserve(place->instance, place->reservation);
    return place;
  }
  if (moves_max == 0) return std::nullopt;
  const std::vector<model::InstanceId> candidates = FindCandidates(item);
  std::vector<Eviction> evictions;
  for (int64_t moves = 1; moves <= moves_max; ++moves) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (moves == 1) {
        evictions.push_back({.item = item,
                             .instance = candidates[i],
                             .holders = FindUseful(item, candidates[i], moves_max)});
      }
      Eviction& eviction = evictions[i];
      eviction.moves_max = moves;
      for (int64_t tasks = 1; tasks <= moves && !looks_.Spent(); ++tasks) {
        if (auto place = Evict(eviction, 0, tasks)) return place;
      }
      if (looks_.Spent()) return std::nullopt;
    }
  }
  return std::nullopt;
}

// Has `more` of the holders from that one on leave. Of alike ones the first goes first.
std::optional<Placement> RoomSearch::Evict(Eviction& eviction, size_t from, int64_t more) {
  const std::vector<Holder>& holders = eviction.holders;
  for (size_t i = from; i + more <= holders.size() && !looks_.Spent(); ++i) {
    if (i > from && AreAlike(holders[i], holders[i - 1])) continue;
    const size_t mark = trial_.mark();
    looks_.Take(kLooksOfTask);
    trial_.Release(eviction.instance, holders[i].reservation);
    eviction.leaving.push_back(&holders[i]);
    const bool fits = FitsOn(eviction.item, eviction.instance);
    std::optional<Placement> place;
    if (more > 1 && !fits) place = Evict(eviction, i + 1, more - 1);
    if (more == 1 && fits && IsLeastSet(eviction)) place = Settle(eviction);
    eviction.leaving.pop_back();
    if (place) return place;
    trial_.BackTo(mark);
  }
  return std::nullopt;
}

// Whether all of those that leave are needed. A smaller set was tried before.
bool RoomSearch::IsLeastSet(const Eviction& eviction) {
  if (eviction.leaving.size() == 1) return true;
  return std::none_of(eviction.leaving.begin(), eviction.leaving.end(), [&](const Holder* holder) {
    BERTH_CHECK(inventory_.Restore(eviction.instance, holder->reservation));
    const bool fits = FitsOn(eviction.item, eviction.instance);
    inventory_.Release(eviction.instance, holder->reservation);
    return fits;
  });
}

// The item takes its place, and those that left find theirs, the largest first.
std::optional<Placement> RoomSearch::Settle(const Eviction& eviction) {
  const size_t moves = moves_.size();
  const size_t mark = trial_.mark();
  looks_.Take(kLooksOfPlacement);
  auto on = PlaceOn(eviction.instance, eviction.item.demand, inventory_);
  BERTH_CHECK(std::holds_alternative<Placement>(on));
  Placement place = std::get<Placement>(std::move(on));
  place.reservation.group = eviction.item.group;
  trial_.Reserve(place.instance, place.reservation);
  for (const Holder* holder : eviction.leaving) moved_.insert(holder->id);
  auto unsettled = std::ssize(eviction.leaving);
  for (auto it = eviction.leaving.rbegin(); it != eviction.leaving.rend(); ++it, --unsettled) {
    const Holder& holder = **it;
    const auto made = static_cast<int64_t>(moves_.size() - moves);
    std::optional<Placement> to =
        Fit({.demand = holder.demand, .rules = holder.rules, .group = holder.reservation.group},
            eviction.moves_max - made - unsettled);
    if (!to) {
      BackTo(moves, mark);
      for (const Holder* other : eviction.leaving) moved_.erase(other->id);
      return std::nullopt;
    }
    moves_.push_back({.holder = holder, .from = eviction.instance, .to = *std::move(to)});
  }
  return place;
}

bool RoomSearch::Carry(const std::function<bool()>& then) {
  trial_.BackTo(0);
  std::vector<Relocation> left = std::exchange(moves_, {});
  return CarryRest(left, then);
}

bool RoomSearch::CarryRest(std::vector<Relocation>& left, const std::function<bool()>& then) {
  if (left.empty()) return then();
  for (size_t i = 0; i < left.size() && !looks_.Spent(); ++i) {
    looks_.Take(1);
    const size_t mark = trial_.mark();
    if (!Move(left[i], inventory_, trial_)) continue;
    moves_.push_back(left[i]);
    left.erase(left.begin() + static_cast<int64_t>(i));
    if (CarryRest(left, then)) return true;
    left.insert(left.begin() + static_cast<int64_t>(i), std::move(moves_.back()));
    moves_.pop_back();
    trial_.BackTo(mark);
  }
  return false;
}

}  // namespace

DefragPlan PlanRoom(const DefragDemand& wanted, int64_t moves_max, HoldersOn movable,
                    ClusterFragmentation& fragmentation, Inventory& inventory) {
  BERTH_CHECK(moves_max >= 0 && moves_max <= kDefragMovesMax);
  BERTH_CHECK(wanted.count >= 1 && wanted.count <= kDefragCountMax);
  DefragPlan plan{.before = fragmentation.Read(inventory)};
  plan.after = plan.before;
  const Item item{.demand = wanted.demand, .rules = wanted.rules, .group = wanted.group};
  RoomSearch search(movable, inventory);
  int64_t fitting = 0;
  while (fitting < wanted.count) {
    const size_t moves = search.moves().size();
    const std::optional<Placement> place =
        search.Fit(item, moves_max - static_cast<int64_t>(moves));
    if (!place) break;
    if (search.moves().empty()) plan.places.push_back(*place);
    ++fitting;
  }
  if (fitting == wanted.count && search.moves().empty()) {
    plan.outcome = DefragPlan::Outcome::kNoMoveNeeded;
    return plan;
  }
  plan.limited = search.limited();
  if (fitting < wanted.count) return plan;

  std::vector<Placement> places;
  const auto all_fit = [&] {
    plan.after = fragmentation.Read(inventory);
    places.clear();
    const size_t mark = search.trial().mark();
    while (std::ssize(places) < wanted.count) {
      std::optional<Placement> place = search.Find(item);
      if (!place) break;
      search.trial().Reserve(place->instance, place->reservation);
      places.push_back(*std::move(place));
    }
    search.trial().BackTo(mark);
    return std::ssize(places) == wanted.count;
  };
  if (!search.Carry(all_fit)) {
    plan.after = plan.before;
    return plan;
  }
  plan.outcome = DefragPlan::Outcome::kMoves;
  for (const Relocation& move : search.moves()) plan.moves.push_back(MoveOf(move));
  plan.places = std::move(places);
  if (plan.moves.size() == 1) plan.limited = false;  // fewer is none, which is not enough
  return plan;
}

}  // namespace berth::placement

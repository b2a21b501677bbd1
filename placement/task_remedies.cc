// Which tasks to move or to stop. Looks into the few instances that are closest to a fit: first for
// one task that is enough, the smallest; then for a few.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "placement/assign.h"
#include "placement/explanation.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"
#include "placement/place.h"

namespace berth::placement {
namespace {

// A copy of one instance on which tasks come and go, with what its rules are asked about.
class Bench {
 public:
  Bench(const Instance& instance, const Demand& demand, const Rules& rules, int32_t group,
        const TaskGroups& groups)
      : instance_(instance), demand_(demand), rules_(rules), group_(group), groups_(groups) {}

  void Take(const Reservation& reservation) {
    LetGo(instance_, reservation);
    Count(reservation.group, -1);
  }
  // Requires: it was taken, or has room.
  void Give(const Reservation& reservation) {
    Restore(instance_, reservation);
    Count(reservation.group, 1);
  }
  bool Fits() const { return placement::Fits(demand_, instance_, rules_, group_, groups_); }
  // How far it is from a fit: lower is closer.
  auto Distance() const {
    const std::optional<Lack> lack = FindLack(demand_, instance_);
    if (!lack) return std::pair<int, int64_t>();
    const int64_t gap = lack->dimension == Dimension::kPorts ? 0 : lack->asked - lack->had;
    return std::pair(kLast - static_cast<int>(lack->dimension), gap);
  }

 private:
  static constexpr int kLast = static_cast<int>(Dimension::kMemberOf) + 1;

  void Count(const std::string& name, int32_t n) {
    const int32_t group = groups_.NumberOf(name);
    GroupCounts& counts = instance_.groups;
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [group](const GroupCount& c) { return c.group == group; });
    if (found != counts.end()) {
      found->tasks += n;
      if (found->tasks == 0) counts.erase(found);
    } else if (n > 0 && group != TaskGroups::kNone) {
      const auto place = std::find_if(counts.begin(), counts.end(),
                                      [group](const GroupCount& c) { return c.group > group; });
      counts.insert(place, {.group = group, .tasks = n});
    }
  }

  Instance instance_;
  const Demand& demand_;
  const Rules& rules_;
  const int32_t group_;
  const TaskGroups& groups_;
};

// The smallest first: of two tasks that are each enough, the one that loses less.
auto SizeOf(const Holder& holder) {
  const Reservation& r = holder.reservation;
  const int64_t gpus = r.gpu_use == model::GpuUse::kDedicated ? std::ssize(r.gpus) : 0;
  return std::tuple(gpus, r.gpu_memory_mib, r.memory_mib, r.cpu_units, holder.id);
}

class Search {
 public:
  Search(const Inventory& inventory, const Rules& rules, const Explanation& explanation)
      : inventory_(inventory),
        rules_(rules),
        explanation_(explanation),
        group_(inventory.impl().groups.NumberOf(explanation.group)) {}

  using Holders = std::vector<Holder>;

  // The least that ends on the instance, one task or (`few`) several; and where those can go.
  void Try(const model::InstanceId& id, const Holders& holders, bool few);

  std::optional<Remedy> move = {};
  std::optional<Remedy> stop = {};

 private:
  using Chosen = std::vector<const Holder*>;

  Bench MakeBench(const model::InstanceId& id) const {
    const Inventory::Impl& impl = inventory_.impl();
    return {*impl.Find(id), explanation_.demand, rules_, group_, impl.groups};
  }
  std::vector<Chosen> FindSingles(const model::InstanceId& id, const Holders& holders) const;
  Chosen FindFew(const model::InstanceId& id, const Holders& holders) const;
  std::optional<Remedy> TryMove(const model::InstanceId& id, const Chosen& chosen) const;

  const Inventory& inventory_;
  const Rules& rules_;
  const Explanation& explanation_;
  const int32_t group_;
  int64_t moves_tried_ = 0;
};

std::vector<Search::Chosen> Search::FindSingles(const model::InstanceId& id,
                                                const Holders& holders) const {
  std::vector<Chosen> found;
  Bench bench = MakeBench(id);
  for (const Holder& holder : holders) {
    bench.Take(holder.reservation);
    if (bench.Fits()) found.push_back({&holder});
    bench.Give(holder.reservation);
  }
  return found;
}

// Step by step the one whose end brings it closest; then without those that were not needed.
Search::Chosen Search::FindFew(const model::InstanceId& id, const Holders& holders) const {
  Bench bench = MakeBench(id);
  Chosen chosen;
  while (!bench.Fits() && static_cast<int64_t>(chosen.size()) < kRemedyTasksMax) {
    const Holder* best = nullptr;
    auto best_distance = bench.Distance();
    for (const Holder& holder : holders) {
      if (std::find(chosen.begin(), chosen.end(), &holder) != chosen.end()) continue;
      bench.Take(holder.reservation);
      if (const auto distance = bench.Distance(); best == nullptr || distance < best_distance) {
        best = &holder;
        best_distance = distance;
      }
      bench.Give(holder.reservation);
    }
    if (best == nullptr) return {};
    bench.Take(best->reservation);
    chosen.push_back(best);
  }
  if (!bench.Fits()) return {};
  for (size_t i = 0; i < chosen.size();) {
    bench.Give(chosen[i]->reservation);
    if (bench.Fits()) {
      chosen.erase(chosen.begin() + static_cast<int64_t>(i));
    } else {
      bench.Take(chosen[i++]->reservation);
    }
  }
  return chosen;
}

// Each where the engine would put it today, while all the others are still where they are. Several
// may not go to the same place, where one might take what the other needs.
std::optional<Remedy> Search::TryMove(const model::InstanceId& id, const Chosen& chosen) const {
  Remedy remedy{.kind = Remedy::Kind::kMoveTasks, .instance = id};
  Bench bench = MakeBench(id);
  std::vector<Placement> places;
  for (const Holder* holder : chosen) {
    std::optional<Placement> place =
        Place(holder->demand, inventory_, holder->rules, {.group = holder->reservation.group});
    if (!place) return std::nullopt;
    for (const Placement& other : places) {
      if (other.instance == place->instance) return std::nullopt;
    }
    if (place->instance == id) bench.Give(place->reservation);
    bench.Take(holder->reservation);
    remedy.tasks.push_back(
        {.id = holder->id, .to = place->instance, .to_gpus = place->reservation.gpus});
    places.push_back(*std::move(place));
  }
  if (!bench.Fits()) return std::nullopt;
  return remedy;
}

void Search::Try(const model::InstanceId& id, const Holders& holders, bool few) {
  std::vector<Chosen> options;
  if (few) {
    options.push_back(FindFew(id, holders));
  } else {
    options = FindSingles(id, holders);
  }
  for (const Chosen& chosen : options) {
    if (chosen.empty()) continue;
    if (!stop) {
      stop = Remedy{.kind = Remedy::Kind::kStopTasks, .instance = id};
      for (const Holder* holder : chosen) stop->tasks.push_back({.id = holder->id});
    }
    // Each try is a placement.
    if (moves_tried_++ == kRemedyMovesMax) return;
    move = TryMove(id, chosen);
    if (move) return;
  }
}

}  // namespace

void AddTaskRemedies(const Inventory& inventory, const Rules& rules, HoldersOn holders_on,
                     Explanation& explanation) {
  if (explanation.fitting > 0) return;
  Search search(inventory, rules, explanation);
  std::vector<Search::Holders> holders;
  for (const model::InstanceId& id : explanation.busy) {
    Search::Holders& here = holders.emplace_back(holders_on(id));
    std::sort(here.begin(), here.end(),
              [](const Holder& a, const Holder& b) { return SizeOf(a) < SizeOf(b); });
    if (static_cast<int64_t>(here.size()) > kRemedyHoldersMax) here.resize(kRemedyHoldersMax);
  }
  for (const bool few : {false, true}) {
    if (search.stop) break;
    for (size_t i = 0; i < holders.size() && !search.move; ++i) {
      search.Try(explanation.busy[i], holders[i], few);
    }
  }
  auto& remedies = explanation.remedies;
  if (search.move) remedies.push_back(*std::move(search.move));
  if (search.stop) remedies.push_back(*std::move(search.stop));
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const Remedy& a, const Remedy& b) { return a.kind < b.kind; });
}

}  // namespace berth::placement

#include "placement/place.h"

#include <utility>

#include "model/rng.h"
#include "placement/assign.h"
#include "placement/capability_class.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"
#include "placement/required_capabilities.h"
#include "placement/ruled_ranking.h"
#include "placement/ruled_rankings.h"

namespace berth::placement {
namespace {

using Kind = GpuDemand::Kind;

// Which indexes to ask, the preferred one first, and from which size on.
struct Preference {
  IndexGroup group = IndexGroup::kMemory;
  IndexKind kinds[2] = {IndexKind::kNone, IndexKind::kNone};
  int64_t size = 0;
};

// Under a GPU policy the indexes know of instances without GPUs alone.
Preference WithoutGpus(const Demand& demand) {
  return {
      IndexGroup::kMemory, {IndexKind::kMemoryWithoutGpus, IndexKind::kNone}, demand.memory_mib};
}

Preference PreferenceOf(const Demand& demand) {
  switch (demand.gpu.kind) {
    case Kind::kShared:
      return {IndexGroup::kSharing,
              {IndexKind::kSharedGpus, IndexKind::kSharableIdleGpus},
              demand.gpu.memory_mib};
    case Kind::kDedicated:
      return {
          IndexGroup::kIdleCounts, {IndexKind::kIdleGpuCount, IndexKind::kNone}, demand.gpu.count};
    case Kind::kAll:
      return {IndexGroup::kIdleCounts, {IndexKind::kAllGpusIdle, IndexKind::kNone}, 1};
    case Kind::kNone:
      return {IndexGroup::kMemory,
              {IndexKind::kMemoryWithoutGpus, IndexKind::kMemoryWithGpus},
              demand.memory_mib};
  }
  return {};
}

uint64_t BusyBits(const Demand& demand, const BusyPorts& busy_ports) {
  uint64_t bits = 0;
  for (const int64_t port : demand.tcp_ports) {
    bits |= busy_ports.BitOf({model::Protocol::kTcp, port});
  }
  for (const int64_t port : demand.udp_ports) {
    bits |= busy_ports.BitOf({model::Protocol::kUdp, port});
  }
  return bits;
}

// Whether the place that a task got is the best one for the next of its kind too, as long as it has
// room: it is where least remains, and less now. Not where rules look at the tasks that are there.
bool StaysWhereItWas(const Demand& demand, const Rules& rules) {
  return rules.empty() && demand.gpu.kind != Kind::kAll;
}

// Under a GPU policy only where it is not asked: on instances without GPUs.
bool StaysAt(const Demand& demand, const Inventory::Impl& inventory, const Spot& spot) {
  if (!inventory.gpu_order.active()) return true;
  return demand.gpu.kind == Kind::kNone && RegisteredGpus(*inventory.instances[spot.slot]) == 0;
}

bool FitsAt(const Demand& demand, const Instance& instance, int32_t gpu) {
  const Fit fit = FindFit(demand, instance);
  return fit.fits && (fit.gpu == nullptr || fit.gpu->rank == gpu);
}

// A search that looks at more nodes than this, of some thirty entries each, is in a cluster where
// the bounds say little: full in one dimension here and in another there. It is left to a ranking.
constexpr int64_t kNodesMax = 256;

class Search {
 public:
  Search(const Demand& demand, const Preference& preference, const Inventory::Impl& inventory)
      : demand_(demand),
        inventory_(inventory),
        required_(RequiredOf(demand, inventory.classes)),
        preference_(preference),
        query_{.size = preference_.size,
               .room = {.cpu_units = demand.cpu_units,
                        .memory_mib = demand.memory_mib,
                        .mps_clients = demand.gpu.kind == Kind::kShared ? demand.gpu.containers : 0,
                        .busy_ports = BusyBits(demand, inventory.busy_ports)}} {}

  std::optional<Spot> Run() {
    if (required_.some_missing) return std::nullopt;
    inventory_.BringInStep(preference_.group);
    while (true) {
      inventory_.overrated.clear();
      gave_up_ = false;
      const std::optional<Spot> spot = Look();
      for (const int32_t slot : inventory_.overrated) {
        inventory_.Tighten(*inventory_.instances[slot]);
      }
      // What was overrated is so no more, which may be all that was in the way.
      if (!gave_up_ || inventory_.overrated.empty()) return spot;
    }
  }

  // Then what Run returned is no answer.
  bool gave_up() const { return gave_up_; }

 private:
  std::optional<Spot> Look() {
    for (const IndexKind kind : preference_.kinds) {
      if (kind == IndexKind::kNone) break;
      const FitIndex::Entry* best = FindBest(kind);
      if (gave_up_) break;
      if (best != nullptr) return Spot{.slot = best->key.slot, .gpus = {.shared = best->key.gpu}};
    }
    return std::nullopt;
  }

  // The first entry of its kind over all classes that will do.
  const FitIndex::Entry* FindBest(IndexKind kind) {
    const auto accept = [this](const FitIndex::Entry& entry) { return Accept(entry); };
    const FitIndex::Entry* best = nullptr;
    for (const auto& [key, capability_class] : inventory_.classes.all()) {
      if (!capability_class->Serves(demand_.launch_type)) continue;
      if (!capability_class->Covers(required_.numbers)) continue;
      const FitIndex& index = capability_class->index(kind);
      int64_t nodes_left = kNodesMax;
      const FitIndex::Entry* found = index.FindFirst(query_, accept, nodes_left);
      gave_up_ |= nodes_left < 0;
      if (found != nullptr && (best == nullptr || found->key < best->key)) best = found;
    }
    return best;
  }

  bool Accept(const FitIndex::Entry& entry) {
    const Instance& instance = *inventory_.instances[entry.key.slot];
    if (demand_.cpu_units > instance.remaining_cpu_units() ||
        demand_.memory_mib > instance.remaining_memory_mib()) {
      inventory_.overrated.push_back(entry.key.slot);
      return false;
    }
    return ArePortsFree(demand_, instance) &&
           (!required_.others || HasRequiredAttributes(demand_, instance));
  }

  const Demand& demand_;
  const Inventory::Impl& inventory_;
  RequiredCapabilities required_;
  Preference preference_;
  FitQuery query_;
  bool gave_up_ = false;
};

std::optional<Spot> FindSpot(const Demand& demand, const Inventory::Impl& inventory,
                             const Rules& rules, const TaskToPlace& task) {
  const bool follows_policy = inventory.gpu_order.active();
  const bool is_indexed = !follows_policy || demand.gpu.kind == Kind::kNone;
  if (rules.empty() && is_indexed) {
    Search search(demand, follows_policy ? WithoutGpus(demand) : PreferenceOf(demand), inventory);
    const std::optional<Spot> spot = search.Run();
    if (!search.gave_up() && (spot || !follows_policy)) return spot;
  }
  return inventory.rankings.Find(demand, rules, task.group, inventory).Best(task.seed);
}

}  // namespace

std::optional<Placement> Place(const Demand& demand, const Inventory& inventory) {
  return Place(demand, inventory, Rules{}, TaskToPlace{});
}

std::optional<Placement> Place(const Demand& demand, const Inventory& inventory, const Rules& rules,
                               const TaskToPlace& task) {
  const Inventory::Impl& impl = inventory.impl();
  const std::optional<Spot> spot = FindSpot(demand, impl, rules, task);
  if (!spot) return std::nullopt;
  Placement placement = Assign(demand, *impl.instances[spot->slot], spot->gpus);
  placement.reservation.group = task.group;
  return placement;
}

std::vector<Placement> PlaceMany(const Demand& demand, Inventory& inventory, const Rules& rules,
                                 const TaskToPlace& task, int64_t count) {
  std::vector<Placement> placements;
  TaskToPlace next = task;
  model::Rng seeds(task.seed);
  const bool stays = StaysWhereItWas(demand, rules);
  const Inventory::Impl& impl = inventory.impl();
  std::optional<Spot> spot;
  while (static_cast<int64_t>(placements.size()) < count) {
    const bool again = spot && stays && StaysAt(demand, impl, *spot) &&
                       FitsAt(demand, *impl.instances[spot->slot], spot->gpus.shared);
    if (!again) spot = FindSpot(demand, impl, rules, next);
    if (!spot) break;
    Placement placement = Assign(demand, *impl.instances[spot->slot], spot->gpus);
    placement.reservation.group = task.group;
    inventory.Reserve(placement.instance, placement.reservation);
    placements.push_back(std::move(placement));
    next.seed = seeds.Next();
  }
  return placements;
}

}  // namespace berth::placement

#include "placement/place.h"

#include <utility>

#include "placement/assign.h"
#include "placement/capability_class.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"
#include "placement/place_by_rules.h"
#include "placement/required_capabilities.h"

namespace berth::placement {
namespace {

using Kind = GpuDemand::Kind;

// Which indexes to ask, the preferred one first, and from which size on.
struct Preference {
  IndexKind kinds[2] = {IndexKind::kNone, IndexKind::kNone};
  int64_t size = 0;
};

Preference PreferenceOf(const Demand& demand) {
  switch (demand.gpu.kind) {
    case Kind::kShared:
      return {{IndexKind::kSharedGpus, IndexKind::kSharableIdleGpus}, demand.gpu.memory_mib};
    case Kind::kDedicated:
      return {{IndexKind::kIdleGpuCount, IndexKind::kNone}, demand.gpu.count};
    case Kind::kAll:
      return {{IndexKind::kAllGpusIdle, IndexKind::kNone}, 1};
    case Kind::kNone:
      return {{IndexKind::kMemoryWithoutGpus, IndexKind::kMemoryWithGpus}, demand.memory_mib};
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

// The first entry of its kind over all classes that will do.
const FitIndex::Entry* FindBest(IndexKind kind, const FitQuery& query, const Demand& demand,
                                const RequiredCapabilities& required,
                                const Inventory::Impl& inventory) {
  const auto accept = [&](const FitIndex::Entry& entry) {
    const Instance& instance = *inventory.instances[entry.key.slot];
    return ArePortsFree(demand, instance) &&
           (!required.others || HasRequiredAttributes(demand, instance));
  };
  const FitIndex::Entry* best = nullptr;
  for (const auto& [key, capability_class] : inventory.classes.all()) {
    if (!capability_class->Serves(demand.launch_type)) continue;
    if (!capability_class->Covers(required.numbers)) continue;
    const FitIndex::Entry* found = capability_class->index(kind).FindFirst(query, accept);
    if (found != nullptr && (best == nullptr || found->key < best->key)) best = found;
  }
  return best;
}

}  // namespace

std::optional<Placement> Place(const Demand& demand, const Inventory& inventory) {
  const Inventory::Impl& impl = inventory.impl();
  const RequiredCapabilities required = RequiredOf(demand, impl.classes);
  if (required.some_missing) return std::nullopt;

  const Preference preference = PreferenceOf(demand);
  const bool shares = demand.gpu.kind == Kind::kShared;
  const FitQuery query{.size = preference.size,
                       .room = {.cpu_units = demand.cpu_units,
                                .memory_mib = demand.memory_mib,
                                .mps_clients = shares ? demand.gpu.containers : 0,
                                .busy_ports = BusyBits(demand, impl.busy_ports)}};
  for (const IndexKind kind : preference.kinds) {
    if (kind == IndexKind::kNone) break;
    const FitIndex::Entry* best = FindBest(kind, query, demand, required, impl);
    if (best == nullptr) continue;
    return Assign(demand, *impl.instances[best->key.slot], best->key.gpu);
  }
  return std::nullopt;
}

std::optional<Placement> Place(const Demand& demand, const Inventory& inventory, const Rules& rules,
                               const TaskToPlace& task) {
  std::optional<Placement> placement = rules.empty()
                                           ? Place(demand, inventory)
                                           : PlaceByRules(demand, inventory.impl(), rules, task);
  if (placement) placement->reservation.group = task.group;
  return placement;
}

}  // namespace berth::placement

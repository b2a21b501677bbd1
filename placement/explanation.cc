#include "placement/explanation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "placement/feasibility.h"
#include "placement/inventory_impl.h"

namespace berth::placement {
namespace {

constexpr int kDimensions = static_cast<int>(Dimension::kMemberOf) + 1;

void NoteSizes(const Instance& instance, Explanation& explanation) {
  explanation.most_gpus = std::max(explanation.most_gpus, RegisteredGpus(instance));
  for (const Device& device : instance.devices) {
    explanation.largest_gpu_mib = std::max(explanation.largest_gpu_mib, device.total_memory_mib);
  }
}

// Requires: the instance lacks GPU memory.
void NoteGaps(const Instance& instance, int64_t gap_mib, Explanation& explanation) {
  for (const Device& device : instance.devices) {
    if (device.registered) explanation.free_gpu_memory_mib += device.remaining_memory_mib();
  }
  const bool is_larger = gap_mib > explanation.largest_gap_mib;
  const bool is_lower_id =
      gap_mib == explanation.largest_gap_mib && instance.id < explanation.largest_gap_instance;
  if (gap_mib == 0 || (!is_larger && !is_lower_id)) return;
  explanation.largest_gap_mib = gap_mib;
  explanation.largest_gap_instance = instance.id;
}

// By instance id, the first of them; the others are in the funnel alone.
void KeepFirst(std::vector<TurnedAway>& turned_away) {
  const auto kept = turned_away.begin() +
                    std::min<int64_t>(kTurnedAwayMax, static_cast<int64_t>(turned_away.size()));
  std::partial_sort(
      turned_away.begin(), kept, turned_away.end(),
      [](const TurnedAway& a, const TurnedAway& b) { return a.instance < b.instance; });
  turned_away.erase(kept, turned_away.end());
}

}  // namespace

std::string_view EcsReason(Dimension dimension) {
  switch (dimension) {
    case Dimension::kLaunchType:
    case Dimension::kAttribute:
      return "ATTRIBUTE";
    case Dimension::kAgent:
      return "AGENT";
    case Dimension::kCpu:
      return "RESOURCE:CPU";
    case Dimension::kMemory:
      return "RESOURCE:MEMORY";
    case Dimension::kPorts:
      return "RESOURCE:PORTS";
    case Dimension::kGpuCount:
    case Dimension::kGpuMemory:
    case Dimension::kMpsClients:
      return "RESOURCE:GPU";
    case Dimension::kDistinctInstance:
      return "DistinctInstance placement constraint unsatisfied.";
    case Dimension::kMemberOf:
      return "MemberOf placement constraint unsatisfied.";
  }
  return "RESOURCE";
}

Explanation Explain(const Demand& demand, const Inventory& inventory) {
  return Explain(demand, inventory, Rules{}, "");
}

Explanation Explain(const Demand& demand, const Inventory& inventory, const Rules& rules,
                    const std::string& group) {
  Explanation explanation{.demand = demand, .group = group, .instances = inventory.size()};
  const TaskGroups& groups = inventory.impl().groups;
  const int32_t group_number = groups.NumberOf(group);
  std::array<int64_t, kDimensions> counts = {};
  int64_t never = 0;
  for (const auto& instance : inventory.impl().instances) {
    if (instance == nullptr) continue;
    NoteSizes(*instance, explanation);
    std::optional<Shortfall> shortfall = FindShortfall(demand, *instance);
    if (!shortfall) shortfall = FindUnsatisfied(rules, group_number, *instance, groups);
    if (!shortfall) continue;
    ++counts[static_cast<int>(shortfall->dimension)];
    if (shortfall->never) ++never;
    if (shortfall->dimension == Dimension::kGpuMemory) {
      NoteGaps(*instance, shortfall->had, explanation);
    }
    explanation.turned_away.push_back({.instance = instance->id, .shortfall = *shortfall});
  }
  explanation.never = never > 0 && never == explanation.instances;
  for (int i = 0; i < kDimensions; ++i) {
    if (counts[i] == 0) continue;
    explanation.funnel.push_back({.dimension = static_cast<Dimension>(i), .instances = counts[i]});
  }
  KeepFirst(explanation.turned_away);
  return explanation;
}

}  // namespace berth::placement

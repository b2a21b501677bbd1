#include "placement/explanation.h"

#include <algorithm>
#include <utility>

#include "model/enum_table.h"
#include "placement/inventory_impl.h"
#include "placement/remedies.h"
#include "placement/survey.h"

namespace berth::placement {
namespace {

constexpr model::EnumEntry<Dimension> kDimensionNames[] = {
    {Dimension::kLaunchType, "LAUNCH_TYPE"},
    {Dimension::kStatus, "STATUS"},
    {Dimension::kAgent, "AGENT"},
    {Dimension::kHealth, "HEALTH"},
    {Dimension::kAttribute, "ATTRIBUTE"},
    {Dimension::kCpu, "CPU"},
    {Dimension::kMemory, "MEMORY"},
    {Dimension::kPorts, "PORTS"},
    {Dimension::kGpuCount, "GPU_COUNT"},
    {Dimension::kGpuMemory, "GPU_MEMORY"},
    {Dimension::kMpsClients, "MPS_CLIENTS"},
    {Dimension::kDistinctInstance, "DISTINCT_INSTANCE"},
    {Dimension::kMemberOf, "MEMBER_OF"},
};

constexpr model::EnumEntry<Verdict> kVerdictNames[] = {
    {Verdict::kNotNow, "NOT_NOW"},
    {Verdict::kForbidden, "FORBIDDEN"},
    {Verdict::kNever, "NEVER"},
};

std::optional<Verdict> VerdictOf(const Survey& survey) {
  if (survey.fitting > 0) return std::nullopt;
  for (const Verdict verdict : {Verdict::kNotNow, Verdict::kForbidden, Verdict::kNever}) {
    if (survey.verdicts[static_cast<int>(verdict)] > 0) return verdict;
  }
  return std::nullopt;
}

// What the survey points at, in words of its own.
void TakeOver(Survey& survey, Explanation& explanation) {
  for (int i = 0; i < kDimensions; ++i) {
    if (survey.turned_away_by[i] == 0) continue;
    explanation.funnel.push_back(
        {.dimension = static_cast<Dimension>(i), .instances = survey.turned_away_by[i]});
  }
  for (const Miss& miss : survey.first.Take()) {
    explanation.turned_away.push_back(
        {.instance = miss.instance->id, .shortfall = ToShortfall(miss.lack, miss.verdict)});
  }
  for (const ClosestGroups::Group& group : survey.closest.groups()) {
    Explanation::Group& taken = explanation.closest.emplace_back();
    taken.shortfall = ToShortfall(group.first.lack, group.first.verdict);
    taken.instances = group.instances;
    for (const Instance* instance : group.examples) taken.examples.push_back(instance->id);
  }
  if (survey.largest_gap != nullptr) explanation.largest_gap_instance = survey.largest_gap->id;
  for (const Survey::Busy& busy : survey.busy) explanation.busy.push_back(busy.instance->id);
}

}  // namespace

std::string_view ToString(Dimension dimension) { return NameOf(kDimensionNames, dimension); }
std::string_view ToString(Verdict verdict) { return NameOf(kVerdictNames, verdict); }

std::string_view EcsReason(Dimension dimension) {
  switch (dimension) {
    case Dimension::kLaunchType:
    case Dimension::kAttribute:
      return "ATTRIBUTE";
    case Dimension::kStatus:
    case Dimension::kAgent:
    case Dimension::kHealth:
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
  const Inventory::Impl& impl = inventory.impl();
  const int32_t group_number = impl.groups.NumberOf(group);
  Survey survey = Look(demand, rules, group_number, impl);
  Explanation explanation{.demand = demand,
                          .group = group,
                          .instances = survey.instances,
                          .fitting = survey.fitting,
                          .not_now = survey.verdicts[static_cast<int>(Verdict::kNotNow)],
                          .forbidden = survey.verdicts[static_cast<int>(Verdict::kForbidden)],
                          .never = survey.verdicts[static_cast<int>(Verdict::kNever)],
                          .verdict = VerdictOf(survey),
                          .largest_gpu_mib = survey.largest_gpu_mib,
                          .most_gpus = survey.most_gpus,
                          .largest_gap_mib = survey.largest_gap_mib,
                          .free_gpu_memory_mib = survey.free_gpu_memory_mib};
  if (survey.fitting == 0) {
    explanation.remedies = FindRemedies(survey, demand, rules, group_number, impl);
  }
  TakeOver(survey, explanation);
  return explanation;
}

}  // namespace berth::placement

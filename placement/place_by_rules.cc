// The pipeline of ecs-api.md 8.1: attributes and resources, constraints, then each strategy keeps
// the best of what the one before it left.
#include "placement/place_by_rules.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/rng.h"
#include "placement/assign.h"
#include "placement/feasibility.h"
#include "placement/required_capabilities.h"
#include "placement/task_groups.h"

namespace berth::placement {
namespace {

using Kind = GpuDemand::Kind;

struct Candidate {
  const Instance* instance = nullptr;
  const Device* gpu = nullptr;  // for a demand that shares: the one that it would get
};
using Candidates = std::vector<Candidate>;

std::vector<const CapabilityClass*> FindSuitableClasses(const Demand& demand,
                                                        const RequiredCapabilities& required,
                                                        const CapabilityClasses& classes) {
  std::vector<const CapabilityClass*> suitable;
  for (const auto& [key, capability_class] : classes.all()) {
    if (!capability_class->Serves(demand.launch_type)) continue;
    if (capability_class->Covers(required.numbers)) suitable.push_back(capability_class.get());
  }
  return suitable;
}

Candidates FindCandidates(const Demand& demand, const Inventory::Impl& inventory,
                          const Rules& rules, int32_t group) {
  const RequiredCapabilities required = RequiredOf(demand, inventory.classes);
  Candidates candidates;
  if (required.some_missing) return candidates;
  const auto suitable = FindSuitableClasses(demand, required, inventory.classes);
  for (const auto& instance : inventory.instances) {
    if (instance == nullptr || !instance->eligible) continue;
    if (std::find(suitable.begin(), suitable.end(), instance->capability_class) == suitable.end()) {
      continue;
    }
    if (required.others && !HasRequiredAttributes(demand, *instance)) continue;
    if (!HasRoom(demand, *instance)) continue;
    if (FindUnsatisfied(rules, group, *instance, inventory.groups)) continue;
    const bool shares = demand.gpu.kind == Kind::kShared;
    candidates.push_back({.instance = instance.get(),
                          .gpu = shares ? ChooseSharedGpu(demand.gpu, *instance) : nullptr});
  }
  return candidates;
}

// Those of the lowest score.
template <class Score>
void KeepLowest(Candidates& candidates, Score score) {
  std::vector<int64_t> scores;
  scores.reserve(candidates.size());
  for (const Candidate& candidate : candidates) scores.push_back(score(candidate));
  const int64_t lowest = *std::min_element(scores.begin(), scores.end());
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (scores[i] == lowest) candidates[kept++] = candidates[i];
  }
  candidates.resize(kept);
}

// All instances count, also those that could not take the task: its group's tasks are there.
void SpreadOverAttribute(const std::string& name, int32_t group, const Inventory::Impl& inventory,
                         Candidates& candidates) {
  // Nothing: the instances that lack the attribute.
  std::map<std::optional<std::string_view>, int64_t> tasks_by_value;
  for (const auto& instance : inventory.instances) {
    if (instance == nullptr) continue;
    const int64_t tasks = TasksOf(group, instance->groups);
    if (tasks > 0) tasks_by_value[AttributeValue(*instance, name)] += tasks;
  }
  KeepLowest(candidates, [&](const Candidate& candidate) {
    const auto found = tasks_by_value.find(AttributeValue(*candidate.instance, name));
    return found == tasks_by_value.end() ? 0 : found->second;
  });
}

void Spread(const Strategy& strategy, int32_t group, const Inventory::Impl& inventory,
            Candidates& candidates) {
  if (group == TaskGroups::kNone) return;  // no task of it anywhere
  if (strategy.field == Strategy::Field::kAttribute) {
    SpreadOverAttribute(strategy.attribute, group, inventory, candidates);
    return;
  }
  KeepLowest(candidates, [group](const Candidate& candidate) {
    return TasksOf(group, candidate.instance->groups);
  });
}

int64_t GpuScore(const Demand& demand, const Candidate& candidate) {
  switch (demand.gpu.kind) {
    case Kind::kShared:
      return candidate.gpu->remaining_memory_mib();
    case Kind::kDedicated:
    case Kind::kAll:
      return IdleGpus(*candidate.instance);
    case Kind::kNone:
      break;
  }
  return 0;
}

void Binpack(Strategy::Field field, const Demand& demand, Candidates& candidates) {
  KeepLowest(candidates, [&](const Candidate& candidate) -> int64_t {
    switch (field) {
      case Strategy::Field::kCpu:
        return candidate.instance->remaining_cpu_units();
      case Strategy::Field::kMemory:
        return candidate.instance->remaining_memory_mib();
      case Strategy::Field::kGpuMemory:
        return GpuScore(demand, candidate);
      case Strategy::Field::kNone:
      case Strategy::Field::kInstanceId:
      case Strategy::Field::kAttribute:
        break;
    }
    return 0;
  });
}

// By id, so that the choice does not depend on the order in which instances came.
void ChooseAtRandom(uint64_t seed, Candidates& candidates) {
  const uint64_t chosen = model::Rng(seed).Below(candidates.size());
  const auto place = candidates.begin() + static_cast<int64_t>(chosen);
  std::nth_element(
      candidates.begin(), place, candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.instance->id < b.instance->id; });
  candidates = {*place};
}

// The order in which Place takes them without rules: the lowest goes first, then the lowest id.
std::pair<bool, int64_t> PreferenceOf(const Demand& demand, const Candidate& candidate) {
  const Instance& instance = *candidate.instance;
  switch (demand.gpu.kind) {
    case Kind::kShared:
      return {candidate.gpu->IsIdle(), candidate.gpu->remaining_memory_mib()};
    case Kind::kDedicated:
    case Kind::kAll:
      return {false, IdleGpus(instance)};
    case Kind::kNone:
      break;
  }
  return {RegisteredGpus(instance) > 0, instance.remaining_memory_mib()};
}

bool Precedes(const Demand& demand, const Candidate& a, const Candidate& b) {
  const auto of_a = PreferenceOf(demand, a);
  const auto of_b = PreferenceOf(demand, b);
  return of_a != of_b ? of_a < of_b : a.instance->id < b.instance->id;
}

}  // namespace

std::optional<Placement> PlaceByRules(const Demand& demand, const Inventory::Impl& inventory,
                                      const Rules& rules, const TaskToPlace& task) {
  const int32_t group = inventory.groups.NumberOf(task.group);
  Candidates candidates = FindCandidates(demand, inventory, rules, group);
  if (candidates.empty()) return std::nullopt;
  for (const Strategy& strategy : rules.strategies) {
    switch (strategy.kind) {
      case Strategy::Kind::kSpread:
        Spread(strategy, group, inventory, candidates);
        break;
      case Strategy::Kind::kBinpack:
        Binpack(strategy.field, demand, candidates);
        break;
      case Strategy::Kind::kRandom:
        ChooseAtRandom(task.seed, candidates);
        break;
    }
  }
  const Candidate& best = *std::min_element(
      candidates.begin(), candidates.end(),
      [&demand](const Candidate& a, const Candidate& b) { return Precedes(demand, a, b); });
  return Assign(demand, *best.instance, best.gpu == nullptr ? 0 : best.gpu->rank);
}

}  // namespace berth::placement

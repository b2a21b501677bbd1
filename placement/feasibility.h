// Whether a demand fits an instance as it stands, and what is missing if not. Inside placement/
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "placement/demand.h"
#include "placement/explanation.h"
#include "placement/instance.h"
#include "placement/rules.h"
#include "placement/task_groups.h"

namespace berth::placement {

// A shortfall while it is only being compared: it points into the demand, the rules and the
// instance, so that looking at a hundred thousand instances allocates nothing.
struct Lack {
  Dimension dimension = Dimension::kAgent;
  int64_t asked = 0;
  int64_t had = 0;
  int64_t total = 0;
  const std::string* attribute = nullptr;
  model::Protocol protocol = model::Protocol::kTcp;
  const Device* gpu = nullptr;
  const std::shared_ptr<const Query>* query = nullptr;
};
Shortfall ToShortfall(const Lack& lack, Verdict verdict);

// What keeps the demand off the instance, or nothing. The order of the checks is part of the answer
// (Dimension): the first that fails is shown, so it may not vary.
std::optional<Lack> FindLack(const Demand& demand, const Instance& instance);

// What keeps the rules' constraints from holding on it. `group`: the task's (TaskGroups).
std::optional<Lack> FindUnsatisfied(const Rules& rules, int32_t group, const Instance& instance,
                                    const TaskGroups& groups);
// The same where the caller knows which instances the queries match; by their place in member_of.
std::optional<Lack> FindUnsatisfied(const Rules& rules, int32_t group, const Instance& instance,
                                    absl::FunctionRef<bool(size_t query)> matches);

// The checks one by one, each on its own: what FindLack goes through until one fails.
std::optional<Lack> FindMachineLack(const Demand& demand, const Instance& instance);  // to kHealth
std::optional<Lack> FindAttributeLack(const Demand& demand, const Instance& instance);
std::optional<Lack> FindCpuLack(const Demand& demand, const Instance& instance);
std::optional<Lack> FindMemoryLack(const Demand& demand, const Instance& instance);
std::optional<Lack> FindPortLack(const Demand& demand, const Instance& instance);
std::optional<Lack> FindGpuLack(const Demand& demand, const Instance& instance);

// Ports that tasks hold come free; the host's own never.
bool HostUses(const Instance& instance, model::Protocol protocol, int64_t port);

// Whether it would fit if nothing else were there, the instance ACTIVE and its agent well.
// Attributes are left to FindAttributeLack.
bool CouldHoldWhenEmpty(const Demand& demand, const Instance& instance);

// What VerdictOn is told of the checks that cost more than a comparison.
struct Conditions {
  bool attributes_hold = true;
  bool constraints_hold = true;
};
// Requires: something keeps the demand off the instance.
Verdict VerdictOn(const Demand& demand, const Instance& instance, const Conditions& conditions);

// Whether it could go there as things stand, constraints included.
bool Fits(const Demand& demand, const Instance& instance, const Rules& rules, int32_t group,
          const TaskGroups& groups);

// Room alone: CPU, memory, ports, GPUs.
bool HasRoom(const Demand& demand, const Instance& instance);
// The two checks that the indexes may leave to the candidates.
bool ArePortsFree(const Demand& demand, const Instance& instance);
bool HasRequiredAttributes(const Demand& demand, const Instance& instance);
// The first that the instance lacks; null when it lacks none. One of the demand's, or the sharing
// capability, which a demand that shares needs even where its definition does not say so.
const std::string* FindMissingAttribute(const Demand& demand, const Instance& instance);
Lack LackOfAttribute(const std::string& missing, const Instance& instance);

}  // namespace berth::placement

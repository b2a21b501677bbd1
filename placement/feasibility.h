// Whether a demand fits an instance as it stands, and what is missing if not. Inside placement/
// only.
#pragma once

#include <cstdint>
#include <optional>

#include "placement/demand.h"
#include "placement/explanation.h"
#include "placement/instance.h"
#include "placement/rules.h"
#include "placement/task_groups.h"

namespace berth::placement {

// What keeps the demand off the instance, or nothing. The order of the checks is part of the answer
// (Dimension): the first that fails is shown, so it may not vary.
std::optional<Shortfall> FindShortfall(const Demand& demand, const Instance& instance);

// What keeps the rules' constraints from holding on it. `group`: the task's (TaskGroups).
std::optional<Shortfall> FindUnsatisfied(const Rules& rules, int32_t group,
                                         const Instance& instance, const TaskGroups& groups);

// Room alone: CPU, memory, ports, GPUs.
bool HasRoom(const Demand& demand, const Instance& instance);
// The two checks that the indexes may leave to the candidates.
bool ArePortsFree(const Demand& demand, const Instance& instance);
bool HasRequiredAttributes(const Demand& demand, const Instance& instance);

}  // namespace berth::placement

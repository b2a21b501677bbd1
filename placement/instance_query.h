// Whether an instance is what a query describes. Inside placement/ only.
#pragma once

#include "placement/instance.h"
#include "placement/query.h"
#include "placement/task_groups.h"

namespace berth::placement {

bool Matches(const Instance& instance, const Query& query, const TaskGroups& groups);

}  // namespace berth::placement

// A task that has found its place: the record that RunTask and StartTask begin with.
#pragma once

#include "model/task.h"
#include "placement/place.h"
#include "scheduler/commands.h"
#include "scheduler/decide.h"
#include "scheduler/run_task_plan.h"

namespace berth::scheduler {

// Requires: the plan is of this command, and the placement on an instance of the plan's cluster.
model::Task NewTask(const RunTask& command, const RunTaskPlan& plan,
                    const placement::Placement& placement, const Context& context);

}  // namespace berth::scheduler

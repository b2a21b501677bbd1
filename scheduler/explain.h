// Why a planned task finds no place, with what would help: the engine's explanation, and of the
// tasks that are there which to move or to stop. Costs a look at every instance.
#pragma once

#include "placement/explanation.h"
#include "scheduler/run_task_plan.h"
#include "scheduler/state_impl.h"

namespace berth::scheduler {

placement::Explanation ExplainPlan(const State::Impl& state, const RunTaskPlan& plan);

}  // namespace berth::scheduler

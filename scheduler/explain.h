// Why a planned task finds no place, with what would help: the engine's explanation, and of the
// tasks that are there which to move or to stop. Costs a look at every instance.
#pragma once

#include "placement/explanation.h"
#include "scheduler/run_task_plan.h"
#include "scheduler/state_impl.h"

namespace berth::scheduler {

placement::Explanation ExplainPlan(const State::Impl& state, const RunTaskPlan& plan);

// What a RunTask must say and a question need not: a network, which does not bear on the place, and
// the launch type where the definition leaves no choice of EC2.
void FillInForPlan(const State::Impl& state, RunTask& asked);

// What a task holds, and what placing it elsewhere would have to obey: its definition's
// constraints.
placement::Holder HolderOf(const State::Impl& state, const model::Task& task);

}  // namespace berth::scheduler

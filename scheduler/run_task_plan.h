// What a RunTask asks for, once every check that does not depend on free resources has passed.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/tag.h"
#include "model/task_definition.h"
#include "model/task_status.h"
#include "placement/demand.h"
#include "placement/rules.h"
#include "scheduler/cluster_state.h"
#include "scheduler/commands.h"
#include "scheduler/decision.h"

namespace berth::scheduler {

struct RunTaskPlan {
  ClusterState* cluster = nullptr;
  DefinitionRecord definition = {};
  std::shared_ptr<const model::TaskSpec> spec = {};  // with the overrides merged in
  model::LaunchType launch_type = model::LaunchType::kEc2;
  std::string group = {};
  model::Tags tags = {};
  placement::Demand demand = {};
  placement::Rules rules = {};  // the definition's constraints and the request's
};

// In the order of ecs-api.md 7.1; the first violation is the error.
absl::StatusOr<RunTaskPlan> PlanRunTask(Decision& decision, const RunTask& command);

// What a task of this spec asks of an instance. `overridden`: the spec is not the definition's own.
placement::Demand DemandFor(const model::TaskSpec& spec, const model::TaskDefinition& definition,
                            bool overridden, model::LaunchType launch_type);

// Whether the definition, and what the overrides make of it, can have the plan's launch type.
bool SupportsLaunchType(const RunTaskPlan& plan);

}  // namespace berth::scheduler

// What RunTask and StartTask both take, and what both answer.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "api/aws_json.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

// The members that the two share. Errors are those of identifiers; what is wrong with other
// members stands in `later_refusal`, since the cluster and the definition are looked at before
// them.
absl::StatusOr<scheduler::RunTask> ParseLaunch(JsonView body, const model::ArnScope& scope);

// {"tasks":[...],"failures":[...]}
std::string WriteLaunched(const scheduler::RunTask::Reply& reply, const model::ClusterName& cluster,
                          const model::ArnScope& scope);

}  // namespace berth::api

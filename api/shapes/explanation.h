// Explanations, planned places and remembered failures as JSON: docs/explain.md has the members.
#pragma once

#include "api/json_writer.h"
#include "model/arn.h"
#include "placement/explanation.h"
#include "scheduler/commands.h"

namespace berth::api {

// The members of an object that is open.
void WriteExplanation(const placement::Explanation& why, const model::ClusterName& cluster,
                      const model::ArnScope& scope, JsonWriter& json);
void WritePlanned(const scheduler::PlannedTask& planned, const model::ClusterName& cluster,
                  const model::ArnScope& scope, JsonWriter& json);
void WriteFailedPlacement(const scheduler::FailedPlacement& failure,
                          const model::ClusterName& cluster, const model::ArnScope& scope,
                          JsonWriter& json);

}  // namespace berth::api

// Defrag plans and fragmentation as JSON: docs/placement.md has the members.
#pragma once

#include "api/json_writer.h"
#include "model/arn.h"
#include "scheduler/defrag.h"

namespace berth::api {

// The members of an object that is open.
void WriteDefragPlan(const scheduler::Defrag::Reply& reply, const model::ClusterName& cluster,
                     const model::ArnScope& scope, JsonWriter& json);

}  // namespace berth::api

// placementConstraints and placementStrategy as requests give them.
#pragma once

#include "absl/status/statusor.h"
#include "api/aws_json.h"
#include "placement/rules.h"

namespace berth::api {

// Absent members are no rules. The error is InvalidParameter and names the member.
// Requires: the view is of a shape that has both members.
absl::StatusOr<placement::Rules> DecodePlacementRules(JsonView body);

}  // namespace berth::api

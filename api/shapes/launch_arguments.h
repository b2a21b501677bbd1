// What can be wrong with the arguments that start a task, before it is looked at what they name.
#pragma once

#include "absl/status/status.h"
#include "api/aws_json.h"

namespace berth::api {

// Words that are not in the model's lists, members that exclude each other, and members that this
// version does not have: those would change where or how the task runs, so they are refused by name
// and never passed over. The first violation, as InvalidParameter.
absl::Status CheckLaunchArguments(JsonView body);

}  // namespace berth::api

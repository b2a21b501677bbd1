// Which launch types a definition would validate against, and what stands in the way of the others.
// Source: ecs-api.md 4.4.
#pragma once

#include <optional>
#include <string>

#include "model/task_definition.h"

namespace berth::model {

// What keeps the definition off this launch type, as the text that a caller who requires the launch
// type is given; nothing when it is compatible. Every definition is compatible with EC2.
std::optional<std::string> FindObstacle(LaunchType launch_type, const TaskSpec& spec);

}  // namespace berth::model

// A task as answers show it (ecs-api.md 7.5).
#pragma once

#include "api/json_writer.h"
#include "model/arn.h"
#include "model/task.h"

namespace berth::api {

// As one value: an element of `tasks` or the member `task`.
void WriteTask(const model::Task& task, bool with_tags, const model::ArnScope& scope,
               JsonWriter& writer);

}  // namespace berth::api

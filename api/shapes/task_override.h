// The `overrides` of RunTask between JSON and model::TaskOverrides.
#pragma once

#include "api/aws_json.h"
#include "api/json_writer.h"
#include "model/task_definition.h"

namespace berth::api {

const schema::Shape& OverridesShape();

// All of it, with the document. Requires: the view is of OverridesShape.
model::TaskOverrides DecodeOverrides(JsonView overrides);

// The `overrides` member of a task: as given, with one entry for each container.
void WriteOverrides(const model::TaskOverrides* overrides, const model::TaskSpec& spec,
                    JsonWriter& writer);

}  // namespace berth::api

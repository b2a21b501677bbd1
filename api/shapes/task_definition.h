// A task definition between its JSON forms and model::TaskSpec: what RegisterTaskDefinition decodes
// and keeps, and what Describe shows.
#pragma once

#include <string>

#include "api/aws_json.h"
#include "api/json_writer.h"
#include "model/arn.h"
#include "model/task_definition.h"

namespace berth::api {

// The shape that the body of RegisterTaskDefinition and a kept document have.
const schema::Shape& DefinitionShape();

// The typed part, not yet validated. Requires: the view is of DefinitionShape.
model::TaskSpec DecodeTaskSpec(JsonView definition);

// What is kept and echoed (model::TaskDefinition::document): every member as sent but the tags,
// with the defaults that ECS fills in and no others, since Terraform shows others as changes
// (ecs-api.md 4.2). Requires: the spec was decoded from `definition` and has passed validation.
std::string MakeDefinitionDocument(JsonView definition, const model::TaskSpec& spec);

// As one value: the member `taskDefinition`, or an element of `taskDefinitions`.
void WriteTaskDefinition(const model::TaskDefinition& definition, const model::ArnScope& scope,
                         JsonWriter& writer);

}  // namespace berth::api

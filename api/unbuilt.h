// The answers of actions that this version of Berth does not carry out: well-formed, and saying
// what to use instead where there is something (ecs-api.md 18).
#pragma once

#include <string>

#include "api/call.h"
#include "api/schema/schema.h"

namespace berth::api {

Answer AnswerUnbuilt(const schema::Operation& operation, const Call& call);
// That answer in words, for docs/api.md: the error and its text, or that it is an empty list.
std::string DescribeUnbuilt(const schema::Operation& operation);

}  // namespace berth::api

// A task as its agent is told of it: the one place that turns a task definition, overrides and a
// placement into the shape of agent-protocol.md 2.8. It does all the thinking, so that agents need
// none.
//
// What that shape cannot carry, or Berth cannot provide yet, is named in a member of our own,
// "berthUnsupported": ["containers[web].environmentFiles", ...]. Our agent refuses such a task with
// the reason; nothing is left out in silence.
#pragma once

#include <string>

#include "model/arn.h"
#include "model/task.h"

namespace berth::api {

// One element of a payload's `tasks`, desired RUNNING. Requires: the task has its spec and
// definition.
std::string EncodeTaskPayload(const model::Task& task, const model::ArnScope& scope);

}  // namespace berth::api

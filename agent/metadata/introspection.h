// The agent's introspection, as the official agent has it: which instance this is and what runs on
// it. Functions of values; LocalHttpServer carries them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/metadata/local_http_server.h"
#include "agent/payload.h"
#include "agent/task_state.h"

namespace berth::agent {

// Points into what its maker holds.
struct TaskView {
  const TaskPayload* task = nullptr;
  const TaskState* state = nullptr;
};

struct InstanceView {
  std::string cluster = {};
  std::string instance_arn = {};
  std::string version = {};
  std::vector<TaskView> tasks = {};
};

// GET /v1/metadata, /v1/tasks, /v1/tasks?taskarn=ARN and /v1/tasks?dockerid=ID (also its first 12
// digits or more). Any other path is answered with the paths there are, as in ECS. A container that
// was not created yet has no DockerId.
LocalAnswer AnswerIntrospection(std::string_view target, const InstanceView& instance);

}  // namespace berth::agent

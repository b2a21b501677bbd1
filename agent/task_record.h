// A task as it is written to the state file, and read back.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "agent/runtime.h"
#include "agent/task_state.h"

namespace berth::agent {

struct TaskRecord {
  std::string payload = {};  // as the server sent it; empty for a task that was never to run
  TaskPtr task = {};         // decoded from it
  TaskState state = {};
};

std::string EncodeRecord(const TaskRecord& record);
// Errors say what is wrong with the text.
absl::StatusOr<TaskRecord> DecodeRecord(std::string_view text);

// A task that is known by its ARN alone and has STOPPED for the reason given.
TaskRecord StoppedRecord(std::string arn, std::string id, std::string reason, absl::Time now);

}  // namespace berth::agent

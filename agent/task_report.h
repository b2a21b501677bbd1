// What the server must still be told of a task: the difference between what is so and what it has
// acknowledged. Nothing is queued, so nothing is lost or invented by a restart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/payload.h"
#include "agent/task_state.h"

namespace berth::agent {

struct ContainerReport {
  size_t container = 0;
  model::ContainerStatus status = model::ContainerStatus::kRunning;
};

// One SubmitTaskStateChange.
struct TaskReport {
  model::TaskStatus status = model::TaskStatus::kPending;
  // In the order to apply them. The same container may come twice: RUNNING, then STOPPED.
  std::vector<ContainerReport> containers = {};
  // Says something new of containers only: may wait a little for others to go with it.
  bool may_wait = false;
};

// The next report, or nothing when the server knows it all. A task that was RUNNING is reported so
// before it is reported STOPPED, since otherwise it would look as if it had failed to start.
std::optional<TaskReport> NextReport(const TaskState& state);

// The state after the server has acknowledged the report.
void Acknowledge(TaskState& state, const TaskReport& report);

}  // namespace berth::agent

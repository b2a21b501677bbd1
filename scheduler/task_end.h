// How a task comes to its end: asked to stop, and stopped.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "model/task.h"
#include "model/task_status.h"
#include "scheduler/decision.h"

namespace berth::scheduler {

struct StopCause {
  model::StopCode code = model::StopCode::kNone;
  std::string reason = {};
};

// Sets desiredStatus STOPPED. The first cause stays: a task that was asked to stop did not end by
// itself.
void RequestStop(model::Task& task, const StopCause& cause, absl::Time now);

// Sets lastStatus STOPPED. A container that nobody reported on ends without an exit code.
// Requires: a stop was requested.
void MarkStopped(model::Task& task, absl::Time now);

// Takes the instance out of the cluster: its tasks are STOPPED for this cause, whatever their
// containers do, and its agent is cut off.
void ForceOut(Decision& decision, ClusterState& cluster, InstanceEntry& entry,
              const StopCause& cause, absl::Time now);

}  // namespace berth::scheduler

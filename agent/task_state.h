// How far a task has come on this instance: everything about it that changes. What it should be is
// in its TaskPayload, at the same container indexes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/task.h"
#include "model/task_status.h"

namespace berth::agent {

// The life of a container, in order. The ing-words last as long as one call to the runtime.
enum class Phase {
  kWaiting,  // its image is not there yet
  kPulling,
  kPulled,  // waits for what it depends on
  kCreating,
  kCreated,
  kStarting,
  kRunning,
  kStopping,
  kStopped,  // ended, or will never start
};

struct ContainerState {
  Phase phase = Phase::kWaiting;
  std::string runtime_id = {};
  std::string image_digest = {};
  std::string reason = {};  // why it failed: "ErrorName: text"
  bool has_run = false;
  std::optional<int64_t> exit_code = std::nullopt;
  int64_t restarts = 0;  // in place, by its restart policy
  model::HealthStatus health = model::HealthStatus::kUnknown;
  absl::Time started_at = absl::InfinitePast();
  absl::Time finished_at = absl::InfinitePast();
  absl::Time retry_stop_at = absl::InfinitePast();  // after a stop that failed
  std::vector<model::NetworkBinding> bindings = {};
  // The last status of this container that the server has acknowledged.
  model::ContainerStatus reported = model::ContainerStatus::kPending;
};

enum class Preparation { kNotBegun, kUnderWay, kDone };

struct TaskState {
  model::DesiredStatus desired = model::DesiredStatus::kRunning;
  model::TaskStatus status = model::TaskStatus::kPending;  // PENDING, RUNNING or STOPPED
  std::string reason = {};       // why the task itself failed; empty for an ordinary end
  bool reached_running = false;  // was RUNNING at some time, now or before
  Preparation preparation = Preparation::kNotBegun;  // of its network; not kept
  absl::Time pull_started_at = absl::InfinitePast();
  absl::Time pull_stopped_at = absl::InfinitePast();
  absl::Time execution_stopped_at = absl::InfinitePast();  // when the first essential one ended
  absl::Time stopped_at = absl::InfinitePast();
  bool cleaned_up = false;  // its containers are removed
  std::vector<ContainerState> containers = {};
  // The last status of the task that the server has acknowledged.
  model::TaskStatus reported = model::TaskStatus::kPending;
};

}  // namespace berth::agent

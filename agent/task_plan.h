// What a task needs next, as a plain function of what it should be, what it is and the time. No
// call, no clock: the tests are tables.
//
// Rules (ecs-api.md 7.8): all images are pulled at once; a container is created when what it
// depends on has come far enough; the end of an essential one ends the others; shutdown goes in
// reverse order of dependency. A container that is not essential and cannot start does not end its
// task, unless another waits for it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/payload.h"
#include "agent/task_state.h"

namespace berth::agent {

enum class ActionKind {
  kPrepare,  // the task's network; `container` means nothing
  kPull,
  kCreate,
  kStart,
  kStop,
  kAbandon,  // has never run and never will: STOPPED without an exit code
};

struct Action {
  ActionKind kind = ActionKind::kPull;
  size_t container = 0;

  bool operator==(const Action&) const = default;
};

struct Plan {
  // To be begun now, in this order.
  std::vector<Action> actions = {};
  // What the task is, given its containers.
  model::TaskStatus status = model::TaskStatus::kPending;
  model::DesiredStatus desired = model::DesiredStatus::kRunning;
  // Set when the task cannot go on: `desired` is then STOPPED. Belongs to the container when
  // `failed_container` says one, else to the task.
  std::string failure = {};
  std::optional<size_t> failed_container = std::nullopt;
  // Containers whose health somebody waits for.
  std::vector<size_t> watch_health = {};
  // When to plan again although nothing has happened: a startTimeout, a stop to try again.
  absl::Time wake_at = absl::InfiniteFuture();
};

// Whether a container that has just ended as `state` says starts again in place, by its restart
// policy: not when its task is to stop, nor before it has run for the attempt period.
bool RestartsInPlace(const ContainerPayload& container, const ContainerState& state,
                     model::DesiredStatus desired);

Plan PlanNext(const TaskPayload& task, const TaskState& state, absl::Time now);

}  // namespace berth::agent

#include "scheduler/task_end.h"

#include <utility>

#include "model/check.h"

namespace berth::scheduler {

using model::DesiredStatus;
using model::InstanceStatus;
using model::TaskStatus;

void RequestStop(model::Task& task, const StopCause& cause, absl::Time now) {
  if (task.desired_status == DesiredStatus::kStopped) return;
  task.desired_status = DesiredStatus::kStopped;
  task.stop_code = cause.code;
  task.stopped_reason = cause.reason;
  task.stopping_at = now;
}

void MarkStopped(model::Task& task, absl::Time now) {
  BERTH_CHECK(task.desired_status == DesiredStatus::kStopped);
  task.last_status = TaskStatus::kStopped;
  task.stopped_at = now;
  if (task.started_at != absl::InfinitePast() &&
      task.execution_stopped_at == absl::InfinitePast()) {
    task.execution_stopped_at = now;
  }
  for (model::TaskContainer& container : task.containers) {
    container.last_status = model::ContainerStatus::kStopped;
  }
}

void ForceOut(Decision& decision, ClusterState& cluster, InstanceEntry& entry,
              const StopCause& cause, absl::Time now) {
  while (!entry.live.empty()) {
    TaskEntry& task = **entry.live.begin();
    model::Task stopped = *task.record;
    RequestStop(stopped, cause, now);
    MarkStopped(stopped, now);
    decision.PutTask(cluster, task, std::move(stopped));
  }
  model::ContainerInstance next = *entry.record;
  next.status = InstanceStatus::kInactive;
  next.status_reason = cause.reason;
  next.version += 1;
  next.deregistered_at = now;
  decision.PutInstance(cluster, entry, std::move(next));
  decision.Do(CloseAgentChannel{.cluster = cluster.record()->name, .instance = entry.record->id});
}

}  // namespace berth::scheduler

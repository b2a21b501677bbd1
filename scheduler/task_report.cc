// What an agent says about a task: SubmitTaskStateChange and SubmitContainerStateChange.
//
// Agents send a report again until it is acknowledged, and block the task's later ones meanwhile,
// so every report is accepted. One that is old, repeated or about an unknown task changes nothing;
// a task and a container never go backwards, and STOPPED is final. Rules: ecs-api.md 7.6, 7.7, 15.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "model/utf8.h"
#include "scheduler/agent_key.h"
#include "scheduler/decision.h"
#include "scheduler/task_end.h"

namespace berth::scheduler {
namespace {

using model::ContainerStatus;
using model::DesiredStatus;
using model::StopCode;
using model::Task;
using model::TaskContainer;
using model::TaskStatus;

// The official agent cuts at the same lengths.
constexpr size_t kReasonMax = 1024;
constexpr size_t kRuntimeIdMax = 255;
constexpr size_t kImageDigestMax = 255;
constexpr char kEssentialExited[] = "Essential container in task exited";
constexpr char kFailedToStart[] = "Task failed to start";

// A task on its way from the stored record to the reported one.
struct Progress {
  Task task;
  bool changed = false;
  // An essential container ran and ended by itself, as far as its reports say.
  bool essential_exited = false;
  // An essential container ended, be it that it never started.
  bool essential_ended = false;

  template <class T>
  void Set(T& member, T value) {
    if (member == value) return;
    member = std::move(value);
    changed = true;
  }
  void SetOnce(absl::Time& member, const std::optional<absl::Time>& value) {
    if (value && member == absl::InfinitePast()) Set(member, *value);
  }
  void SetText(std::string& member, const std::string& value, size_t max) {
    if (!value.empty()) Set(member, std::string(model::FirstCharacters(value, max)));
  }
};

void Apply(Progress& progress, TaskContainer& container, bool essential,
           const ContainerReport& report) {
  const ContainerStatus before = container.last_status;
  const ContainerStatus status = report.status.value_or(before);
  if (before == ContainerStatus::kStopped || status < before) return;

  progress.Set(container.last_status, status);
  progress.SetText(container.reason, report.reason, kReasonMax);
  progress.SetText(container.runtime_id, report.runtime_id, kRuntimeIdMax);
  progress.SetText(container.image_digest, report.image_digest, kImageDigestMax);
  if (report.network_bindings) progress.Set(container.network_bindings, *report.network_bindings);
  if (report.health_status) progress.Set(container.health_status, *report.health_status);
  if (status != ContainerStatus::kStopped) return;

  progress.Set(container.exit_code, report.exit_code);
  if (!essential) return;
  progress.essential_ended = true;
  // An engine gives an exit code also to a container that it could not start, and then says why.
  const bool ran = before == ContainerStatus::kRunning ||
                   (report.exit_code.has_value() && container.reason.empty());
  if (ran) progress.essential_exited = true;
}

void ApplyContainers(Progress& progress, const std::vector<ContainerReport>& reports) {
  Task& task = progress.task;
  for (const ContainerReport& report : reports) {
    for (size_t i = 0; i < task.containers.size(); ++i) {
      if (task.containers[i].name != report.name) continue;
      Apply(progress, task.containers[i], task.spec->containers[i].essential, report);
    }
  }
}

// "CannotPullContainerError: ...": the agent's own errors carry their name.
bool NamesItsError(const std::string& reason) {
  const size_t colon = reason.find(": ");
  if (colon == std::string::npos || colon == 0) return false;
  return std::all_of(reason.begin(), reason.begin() + static_cast<std::ptrdiff_t>(colon),
                     absl::ascii_isalpha);
}

std::string StartFailure(const Task& task, const std::string& reported) {
  if (!reported.empty()) return std::string(model::FirstCharacters(reported, kReasonMax));
  for (const TaskContainer& container : task.containers) {
    if (container.reason.empty()) continue;
    return NamesItsError(container.reason) ? container.reason
                                           : "TaskFailedToStart: " + container.reason;
  }
  return kFailedToStart;
}

// Why the task ends, where nobody asked it to.
StopCause CauseOfEnd(const Progress& progress, const std::string& reported) {
  const Task& task = progress.task;
  const bool ran = task.started_at != absl::InfinitePast() || progress.essential_exited;
  if (!ran) return {.code = StopCode::kTaskFailedToStart, .reason = StartFailure(task, reported)};
  return {.code = StopCode::kEssentialContainerExited,
          .reason = reported.empty() ? kEssentialExited
                                     : std::string(model::FirstCharacters(reported, kReasonMax))};
}

// The agent has the task: what it says of it proves so, also when it overtook the acknowledgement.
void MarkAccepted(Progress& progress, absl::Time now) {
  progress.Set(progress.task.connectivity, true);
  progress.SetOnce(progress.task.connectivity_at, now);
}

void ApplyStatus(Progress& progress, const ReportTask& report, absl::Time now) {
  Task& task = progress.task;
  switch (report.status.value_or(TaskStatus::kProvisioning)) {
    case TaskStatus::kPending:
      MarkAccepted(progress, now);
      if (task.last_status < TaskStatus::kPending) {
        progress.Set(task.last_status, TaskStatus::kPending);
      }
      return;
    case TaskStatus::kRunning:
      MarkAccepted(progress, now);
      if (task.last_status >= TaskStatus::kRunning) return;
      progress.Set(task.last_status, TaskStatus::kRunning);
      task.started_at = now;
      // A task is RUNNING when each of its containers has been started.
      for (TaskContainer& container : task.containers) {
        container.last_status = std::max(container.last_status, ContainerStatus::kRunning);
      }
      return;
    case TaskStatus::kStopped:
      RequestStop(task, CauseOfEnd(progress, report.reason), now);
      MarkStopped(task, now);
      progress.changed = true;
      return;
    default:
      return;  // None reported, or a word that is not the agent's.
  }
}

bool SaysAlive(const ReportTask& report) {
  if (report.status) return *report.status != TaskStatus::kStopped;
  return std::any_of(report.containers.begin(), report.containers.end(), [](const auto& container) {
    return container.status == ContainerStatus::kRunning;
  });
}

}  // namespace

Outcome<ReportTask::Reply> Decide(State& state, const ReportTask& report, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(report.cluster);
  TaskEntry* entry = cluster == nullptr ? nullptr : cluster->FindTask(report.task);
  if (entry == nullptr) {
    decision.SawNothing();
    if (SaysAlive(report)) {
      decision.Do(StopTaskOnAgent{.cluster = report.cluster, .instance = {}, .task = report.task});
    }
    return decision.Answer(ReportTask::Reply{});
  }

  decision.Saw(entry->change);
  absl::Status allowed =
      CheckSpeaksFor(decision.state().account, report.agent_key, *cluster, *entry->record);
  if (!allowed.ok()) return decision.Refuse<ReportTask::Reply>(std::move(allowed));
  if (entry->record->last_status != TaskStatus::kStopped) {
    Progress progress{.task = *entry->record};
    ApplyContainers(progress, report.containers);
    progress.SetOnce(progress.task.pull_started_at, report.pull_started_at);
    progress.SetOnce(progress.task.pull_stopped_at, report.pull_stopped_at);
    progress.SetOnce(progress.task.execution_stopped_at, report.execution_stopped_at);
    ApplyStatus(progress, report, context.now);
    if (progress.essential_ended) {
      RequestStop(progress.task, CauseOfEnd(progress, report.reason), context.now);
    }
    if (progress.essential_exited) {
      progress.SetOnce(progress.task.execution_stopped_at, context.now);
    }
    if (progress.changed) decision.PutTask(*cluster, *entry, std::move(progress.task));
  }
  if (entry->record->desired_status == DesiredStatus::kStopped && SaysAlive(report)) {
    decision.Do(StopTaskOnAgent{
        .cluster = report.cluster, .instance = entry->record->instance, .task = report.task});
  }
  return decision.Answer(ReportTask::Reply{});
}

}  // namespace berth::scheduler

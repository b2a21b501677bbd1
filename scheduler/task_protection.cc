// UpdateTaskProtection and GetTaskProtection: for how long the scheduler may not end a service's
// task by its own choice. Rules: ecs-api.md 13.
//
// Only tasks of services have it: nobody but their owner ends the others anyway. A protection that
// has run out is still in the record, and reads as none.
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/agent_key.h"
#include "scheduler/decision.h"
#include "scheduler/unique_ids.h"

namespace berth::scheduler {
namespace {

using model::TaskId;
using Reply = TaskProtectionReply;

constexpr size_t kUpdateMax = 10;
constexpr size_t kGetMax = 100;
constexpr absl::Duration kDurationMin = absl::Minutes(1);
constexpr absl::Duration kDurationMax = absl::Minutes(2880);
constexpr char kServiceGroup[] = "service:";
constexpr char kMissing[] = "MISSING";
constexpr char kNotValid[] = "TASK_NOT_VALID";

absl::Status CheckTasks(const std::vector<TaskId>& tasks, size_t max) {
  if (tasks.empty()) return model::InvalidParameter("Tasks cannot be empty.");
  if (tasks.size() <= max) return absl::OkStatus();
  return model::InvalidParameter(absl::StrFormat("taskIds can have at most %d items.", max));
}

absl::Status CheckDuration(const UpdateTaskProtection& command) {
  if (!command.enabled) return absl::OkStatus();
  if (command.duration >= kDurationMin && command.duration <= kDurationMax) return absl::OkStatus();
  return model::InvalidParameter(absl::StrFormat(
      "expiresInMinutes is %d; it must be from %d to %d", absl::ToInt64Minutes(command.duration),
      absl::ToInt64Minutes(kDurationMin), absl::ToInt64Minutes(kDurationMax)));
}

absl::Status CheckKey(const Account& account, const std::string& agent_key,
                      const ClusterState& cluster, const std::vector<TaskId>& tasks) {
  for (const TaskId& id : tasks) {
    const TaskEntry* entry = cluster.FindTask(id);
    if (entry == nullptr) continue;
    absl::Status status = CheckSpeaksFor(account, agent_key, cluster, *entry->record);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Why the task has no protection to speak of; empty when it may have one.
std::string_view FindObstacle(const model::Task& task) {
  if (!absl::StartsWith(task.group, kServiceGroup)) {
    return "the task is of no service, so nothing but StopTask ends it";
  }
  if (task.desired_status == model::DesiredStatus::kStopped) return "the task is stopping already";
  return "";
}

// Each task by `use`, or its failure.
Reply ForEachTask(Decision& decision, ClusterState& cluster, const std::vector<TaskId>& tasks,
                  const std::function<TaskProtection(TaskEntry&)>& use) {
  Reply reply;
  for (const TaskId& id : WithoutRepeats(tasks)) {
    TaskEntry* entry = cluster.FindTask(id);
    if (entry == nullptr) {
      decision.SawNothing();
      reply.failures.push_back({.task = id, .reason = kMissing});
      continue;
    }
    decision.Saw(entry->change);
    if (const std::string_view obstacle = FindObstacle(*entry->record); !obstacle.empty()) {
      reply.failures.push_back({.task = id, .reason = kNotValid, .detail = std::string(obstacle)});
      continue;
    }
    reply.tasks.push_back(use(*entry));
  }
  return reply;
}

}  // namespace

Outcome<Reply> Decide(State& state, const UpdateTaskProtection& command, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (absl::Status status = CheckTasks(command.tasks, kUpdateMax); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  if (absl::Status status = CheckDuration(command); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  if (absl::Status status =
          CheckKey(decision.state().account, command.agent_key, *cluster, command.tasks);
      !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  const absl::Time until = command.enabled ? context.now + command.duration : absl::InfinitePast();
  return decision.Answer(
      ForEachTask(decision, *cluster, command.tasks, [&](TaskEntry& entry) -> TaskProtection {
        if (entry.record->protected_until != until) {
          model::Task next = *entry.record;
          next.protected_until = until;
          decision.PutTask(*cluster, entry, std::move(next));
        }
        return {.task = entry.record->id, .protected_until = until};
      }));
}

Outcome<Reply> Decide(State& state, const GetTaskProtection& command, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (absl::Status status = CheckTasks(command.tasks, kGetMax); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  if (absl::Status status =
          CheckKey(decision.state().account, command.agent_key, *cluster, command.tasks);
      !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  return decision.Answer(
      ForEachTask(decision, *cluster, command.tasks, [&](TaskEntry& entry) -> TaskProtection {
        const absl::Time until = entry.record->protected_until;
        return {.task = entry.record->id,
                .protected_until = until > context.now ? until : absl::InfinitePast()};
      }));
}

}  // namespace berth::scheduler

// An agent's channel comes up and goes down, and what is said over it about tasks.
//
// Whether an agent is connected is not kept: after a restart every real one has to connect again.
// Connecting counts as a new version of the instance, losing the connection too; the first is
// written down, the second follows from there being no connection (InstanceEntry::lost).
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/agent_key.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

using model::DesiredStatus;
using model::InstanceStatus;
using model::TaskStatus;

bool Refresh(std::string& known, const std::string& told) {
  if (told.empty() || told == known) return false;
  known = told;
  return true;
}

bool Refresh(model::VersionInfo& known, const model::VersionInfo& told) {
  const bool agent = Refresh(known.agent_version, told.agent_version);
  const bool hash = Refresh(known.agent_hash, told.agent_hash);
  const bool docker = Refresh(known.docker_version, told.docker_version);
  return agent || hash || docker;
}

// Whether its agent may connect with that key.
absl::Status CheckConnection(const Account& account, const InstanceEntry& entry,
                             const std::string& agent_key) {
  if (absl::Status status = CheckMayOwn(account, agent_key, entry); !status.ok()) return status;
  if (entry.record->status != InstanceStatus::kInactive) return absl::OkStatus();
  return model::ClientError(absl::StrFormat(
      "container instance %s is INACTIVE; remove the agent's state and register as new",
      entry.record->id.value));
}

void Connect(Decision& decision, ClusterState& cluster, InstanceEntry& entry,
             const ConnectAgent& command, absl::Time now) {
  model::ContainerInstance next = *entry.record;
  const bool other_version = Refresh(next.version_info, command.version_info);
  const bool other_key = Refresh(next.registered_by, command.agent_key);
  // A channel that replaces one that is still up is no change.
  if (entry.connected && !other_version && !other_key) return;
  next.version = cluster.VersionOf(entry) - entry.task_events + 1;
  decision.PutInstance(cluster, entry, std::move(next));
  cluster.SetConnected(entry, true, now);
}

}  // namespace

Outcome<ConnectAgent::Reply> Decide(State& state, const ConnectAgent& command, Context context) {
  using Reply = ConnectAgent::Reply;
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  InstanceEntry* entry = cluster->FindInstance(command.instance);
  if (entry == nullptr) {
    decision.SawNothing();
    return decision.Refuse<Reply>(model::InstanceNotFound(command.instance.value));
  }
  decision.Saw(entry->change);
  absl::Status allowed = CheckConnection(decision.state().account, *entry, command.agent_key);
  if (!allowed.ok()) return decision.Refuse<Reply>(std::move(allowed));

  Connect(decision, *cluster, *entry, command, context.now);
  Reply reply;
  for (const TaskEntry* task : entry->live) {
    if (task->record->desired_status == DesiredStatus::kStopped) {
      reply.to_stop.push_back(task->record);
      continue;
    }
    reply.running.push_back(task->record);
    if (task->record->last_status < TaskStatus::kRunning) reply.to_start.push_back(task->record);
  }
  return decision.Answer(std::move(reply));
}

Outcome<CheckAgent::Reply> Decide(State& state, const CheckAgent& command, Context) {
  using Reply = CheckAgent::Reply;
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  const InstanceEntry* entry = cluster->FindInstance(command.instance);
  if (entry == nullptr) {
    decision.SawNothing();
    return decision.Refuse<Reply>(model::InstanceNotFound(command.instance.value));
  }
  decision.Saw(entry->change);
  absl::Status allowed = CheckConnection(decision.state().account, *entry, command.agent_key);
  if (!allowed.ok()) return decision.Refuse<Reply>(std::move(allowed));
  return decision.Answer(Reply{});
}

Outcome<DisconnectAgent::Reply> Decide(State& state, const DisconnectAgent& command,
                                       Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  InstanceEntry* entry = cluster == nullptr ? nullptr : cluster->FindInstance(command.instance);
  // The server stands in for an emulated agent, whoever else comes and goes.
  if (entry != nullptr && !entry->record->emulated) {
    cluster->SetConnected(*entry, false, context.now);
  }
  return decision.Answer(DisconnectAgent::Reply{});
}

Outcome<AcceptTask::Reply> Decide(State& state, const AcceptTask& command, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  TaskEntry* entry = cluster == nullptr ? nullptr : cluster->FindTask(command.task);
  if (entry == nullptr) return decision.Answer(AcceptTask::Reply{});
  decision.Saw(entry->change);
  const model::Task& task = *entry->record;
  const bool told_before = task.connectivity && task.last_status > TaskStatus::kProvisioning;
  if (told_before || task.last_status == TaskStatus::kStopped) {
    return decision.Answer(AcceptTask::Reply{});
  }
  model::Task next = task;
  if (next.last_status == TaskStatus::kProvisioning) next.last_status = TaskStatus::kPending;
  if (!next.connectivity) {
    next.connectivity = true;
    next.connectivity_at = context.now;
  }
  decision.PutTask(*cluster, *entry, std::move(next));
  return decision.Answer(AcceptTask::Reply{});
}

Outcome<VerifyStopCandidates::Reply> Decide(State& state, const VerifyStopCandidates& command,
                                            Context) {
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  VerifyStopCandidates::Reply reply;
  for (const model::TaskId& id : command.candidates) {
    const TaskEntry* entry = cluster == nullptr ? nullptr : cluster->FindTask(id);
    if (entry == nullptr) {
      decision.SawNothing();
      reply.confirmed.push_back(id);
      continue;
    }
    decision.Saw(entry->change);
    const bool should_run = entry->record->desired_status == DesiredStatus::kRunning &&
                            entry->record->instance == command.instance;
    if (!should_run) reply.confirmed.push_back(id);
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

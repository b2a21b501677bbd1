#include "scheduler/decision.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace berth::scheduler {

using model::InstanceStatus;
using model::TaskStatus;

uint64_t Decision::Add(model::Change change) {
  changes_.push_back(std::move(change));
  Saw(++state_.change_number);
  return state_.change_number;
}

ClusterState& Decision::AddCluster(model::Cluster record) {
  record.sequence = state_.next.cluster++;
  auto kept = std::make_shared<const model::Cluster>(std::move(record));
  const uint64_t change = Add(model::PutCluster{kept});
  state_.newest_cluster_change = change;
  return state_.AddCluster(std::move(kept), change);
}

void Decision::PutCluster(ClusterState& cluster, model::Cluster record) {
  auto kept = std::make_shared<const model::Cluster>(std::move(record));
  const uint64_t change = Add(model::PutCluster{kept});
  state_.newest_cluster_change = change;
  cluster.SetRecord(std::move(kept), change);
}

const DefinitionEntry& Decision::AddDefinition(model::TaskDefinition record) {
  Definitions& definitions = state_.definitions;
  record.id.revision = definitions.LastRevision(record.id.family) + 1;
  record.sequence = state_.next.definition++;
  definitions.SetLastRevision(record.id.family, record.id.revision);
  Add(model::PutFamily{{.name = record.id.family, .last_revision = record.id.revision}});
  auto kept = std::make_shared<const model::TaskDefinition>(std::move(record));
  const uint64_t change = Add(model::PutTaskDefinition{kept});
  definitions.Add(kept, change);
  return *definitions.Find(kept->id);
}

InstanceEntry& Decision::AddInstance(ClusterState& cluster, model::ContainerInstance record) {
  record.sequence = state_.next.instance++;
  auto kept = std::make_shared<const model::ContainerInstance>(std::move(record));
  const uint64_t change = Add(model::PutInstance{kept});
  return cluster.AddInstance(std::move(kept), change);
}

void Decision::PutInstance(ClusterState& cluster, InstanceEntry& entry,
                           model::ContainerInstance next) {
  const bool leaves =
      entry.record->status != InstanceStatus::kInactive && next.status == InstanceStatus::kInactive;
  auto kept = std::make_shared<const model::ContainerInstance>(std::move(next));
  const uint64_t change = Add(model::PutInstance{kept});
  if (leaves) {
    state_.inactive_instances.insert({{kept->deregistered_at, kept->id}, &cluster});
  }
  cluster.ReplaceInstance(entry, std::move(kept), change);
}

void Decision::DeleteInstance(ClusterState& cluster, InstanceEntry& entry) {
  const model::InstanceRecord record = entry.record;
  const uint64_t change = Add(model::DeleteInstance{record->sequence});
  state_.newest_deletion = change;
  state_.inactive_instances.erase({record->deregistered_at, record->id});
  cluster.EraseInstance(entry, change);
}

TaskEntry& Decision::AddTask(ClusterState& cluster, model::Task record) {
  record.sequence = state_.next.task++;
  auto kept = std::make_shared<const model::Task>(std::move(record));
  const uint64_t change = Add(model::PutTask{kept});
  return cluster.AddTask(std::move(kept), change);
}

void Decision::PutTask(ClusterState& cluster, TaskEntry& entry, model::Task next) {
  next.version = entry.record->version + 1;
  auto kept = std::make_shared<const model::Task>(std::move(next));
  const uint64_t change = Add(model::PutTask{kept});
  if (kept->last_status == TaskStatus::kStopped) {
    state_.stopped_tasks.insert({{kept->stopped_at, kept->sequence}, {&cluster, &entry}});
  }
  cluster.ReplaceTask(entry, std::move(kept), change);
}

void Decision::DeleteTask(ClusterState& cluster, TaskEntry& entry) {
  const model::TaskRecord task = entry.record;
  const uint64_t change = Add(model::DeleteTask{task->sequence});
  state_.newest_deletion = change;
  state_.stopped_tasks.erase({task->stopped_at, task->sequence});
  cluster.EraseTask(entry, change);

  if (task->client_token.empty()) return;
  const TokenEntry* token = cluster.FindToken(task->client_token);
  if (token == nullptr) return;
  const std::vector<model::TaskId>& tasks = token->record.tasks;
  // The token may since have been taken by a later request for other tasks.
  const bool its_own = std::find(tasks.begin(), tasks.end(), task->id) != tasks.end();
  const bool others_remain = std::any_of(
      tasks.begin(), tasks.end(), [&](const auto& id) { return cluster.FindTask(id) != nullptr; });
  if (its_own && !others_remain) DeleteToken(cluster, task->client_token);
}

void Decision::PutToken(ClusterState& cluster, model::ClientToken record) {
  if (const TokenEntry* old = cluster.FindToken(record.token)) {
    state_.tokens.erase({old->record.created_at, TokenKey(old->record)});
  }
  state_.tokens.insert({{record.created_at, TokenKey(record)}, &cluster});
  const uint64_t change = Add(model::PutClientToken{record});
  cluster.PutToken(std::move(record), change);
}

void Decision::DeleteToken(ClusterState& cluster, const std::string& token) {
  const model::ClientToken record = cluster.FindToken(token)->record;
  const uint64_t change =
      Add(model::DeleteClientToken{.cluster = record.cluster, .token = record.token});
  state_.newest_deletion = change;
  state_.tokens.erase({record.created_at, TokenKey(record)});
  cluster.EraseToken(record.token, change);
}

}  // namespace berth::scheduler

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
  if (kept->status != model::ClusterStatus::kActive) state_.newest_deletion = change;
  state_.ReplaceCluster(cluster, std::move(kept), change);
}

void Decision::DeleteCluster(ClusterState& cluster) {
  const uint64_t change = Add(model::DeleteCluster{cluster.record()->sequence});
  state_.newest_cluster_change = change;
  state_.newest_deletion = change;
  state_.EraseCluster(cluster);
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

const DefinitionEntry& Decision::PutDefinition(model::TaskDefinition next) {
  auto kept = std::make_shared<const model::TaskDefinition>(std::move(next));
  const uint64_t change = Add(model::PutTaskDefinition{kept});
  // It may have been the one that its family's bare name stood for.
  if (kept->status != model::DefinitionStatus::kActive) state_.newest_deletion = change;
  state_.definitions.Replace(kept, change);
  return *state_.definitions.Find(kept->id);
}

void Decision::DeleteDefinition(const DefinitionEntry& entry) {
  const DefinitionRecord record = entry.record;
  const uint64_t change = Add(model::DeleteTaskDefinition{record->sequence});
  state_.newest_deletion = change;
  state_.definitions.Erase(record->id, change);
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
  state_.definitions.CountReference(kept->definition->id, 1);
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

  const DefinitionEntry& definition = state_.definitions.CountReference(task->definition->id, -1);
  if (definition.references == 0 &&
      definition.record->status == model::DefinitionStatus::kDeleteInProgress) {
    DeleteDefinition(definition);
  }

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

void Decision::PutAccountSetting(model::AccountSetting setting) {
  const uint64_t change = Add(model::PutAccountSetting{setting});
  state_.account.PutSetting(std::move(setting), change);
}

void Decision::DeleteAccountSetting(const std::string& principal_arn, const std::string& name) {
  const uint64_t change =
      Add(model::DeleteAccountSetting{.principal_arn = principal_arn, .name = name});
  state_.account.EraseSetting({principal_arn, name}, change);
}

const AccessKeyEntry& Decision::PutAccessKey(model::AccessKey record) {
  if (record.sequence == 0) record.sequence = state_.next.access_key++;
  auto kept = std::make_shared<const model::AccessKey>(std::move(record));
  const uint64_t change = Add(model::PutAccessKey{kept});
  return state_.account.PutKey(std::move(kept), change);
}

}  // namespace berth::scheduler

#include "scheduler/state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "scheduler/state_impl.h"

namespace berth::scheduler {
namespace {

using model::InstanceStatus;
using model::TaskStatus;

absl::Status DoesNotFit(const std::string& what) { return absl::DataLossError(what); }

// Ids and orders must not depend on the order in which a store returns rows.
template <class Record>
void SortBySequence(std::vector<std::shared_ptr<Record>>& records) {
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a->sequence < b->sequence; });
}

absl::Status LoadClusters(State::Impl& state,
                          std::vector<std::shared_ptr<model::Cluster>> records) {
  SortBySequence(records);
  for (auto& record : records) {
    if (state.FindCluster(record->name) != nullptr) {
      return DoesNotFit(absl::StrFormat("cluster %s is there twice", record->name.value));
    }
    state.next.cluster = std::max(state.next.cluster, record->sequence + 1);
    state.AddCluster(std::move(record), 0);
  }
  return absl::OkStatus();
}

absl::Status LoadDefinitions(State::Impl& state, const std::vector<model::Family>& families,
                             std::vector<std::shared_ptr<model::TaskDefinition>> records) {
  Definitions& definitions = state.definitions;
  for (const model::Family& family : families) {
    definitions.SetLastRevision(family.name, family.last_revision);
  }
  SortBySequence(records);
  for (auto& record : records) {
    const std::string name =
        absl::StrFormat("definition %s:%d", record->id.family, record->id.revision);
    if (record->spec == nullptr) return DoesNotFit(name + " has no spec");
    if (definitions.Find(record->id) != nullptr) return DoesNotFit(name + " is there twice");
    if (record->id.revision > definitions.LastRevision(record->id.family)) {
      return DoesNotFit(name + " is above the last revision of its family");
    }
    state.next.definition = std::max(state.next.definition, record->sequence + 1);
    definitions.Add(std::move(record), 0);
  }
  return absl::OkStatus();
}

absl::Status LoadInstances(State::Impl& state,
                           std::vector<std::shared_ptr<model::ContainerInstance>> records) {
  SortBySequence(records);
  for (auto& record : records) {
    ClusterState* cluster = state.FindCluster(record->cluster);
    if (cluster == nullptr) {
      return DoesNotFit(absl::StrFormat("instance %s is of cluster %s, which is not there",
                                        record->id.value, record->cluster.value));
    }
    if (cluster->FindInstance(record->id) != nullptr) {
      return DoesNotFit(absl::StrFormat("instance %s is there twice", record->id.value));
    }
    if (!cluster->active() && record->status != InstanceStatus::kInactive) {
      return DoesNotFit(absl::StrFormat("instance %s is not INACTIVE, but its cluster %s is",
                                        record->id.value, record->cluster.value));
    }
    state.next.instance = std::max(state.next.instance, record->sequence + 1);
    if (record->status == InstanceStatus::kInactive) {
      state.inactive_instances.insert({{record->deregistered_at, record->id}, cluster});
    }
    cluster->AddInstance(std::move(record), 0);
  }
  return absl::OkStatus();
}

absl::Status LoadTask(State::Impl& state, model::TaskRecord task) {
  const std::string name = absl::StrFormat("task %s", task->id.value);
  ClusterState* cluster = state.FindCluster(task->cluster);
  if (cluster == nullptr) {
    return DoesNotFit(
        absl::StrFormat("%s is of cluster %s, which is not there", name, task->cluster.value));
  }
  if (cluster->FindTask(task->id) != nullptr) return DoesNotFit(name + " is there twice");
  if (task->definition == nullptr) return DoesNotFit(name + " has no definition");
  if (task->spec == nullptr) return DoesNotFit(name + " has no spec");
  if (task->containers.size() != task->spec->containers.size()) {
    return DoesNotFit(absl::StrFormat("%s has %d containers, its definition %d", name,
                                      task->containers.size(), task->spec->containers.size()));
  }
  const DefinitionEntry* definition = state.definitions.Find(task->definition->id);
  if (definition == nullptr || definition->record != task->definition) {
    return DoesNotFit(name + " is a run of a definition that is not there");
  }
  state.definitions.CountReference(task->definition->id, 1);
  state.next.task = std::max(state.next.task, task->sequence + 1);
  if (task->last_status == TaskStatus::kStopped) {
    const auto key = std::pair(task->stopped_at, task->sequence);
    state.stopped_tasks.insert({key, {cluster, &cluster->RestoreTask(std::move(task))}});
    return absl::OkStatus();
  }
  // A STOPPED task may outlive the memory of its instance; one that holds resources may not.
  const InstanceEntry* instance = cluster->FindInstance(task->instance);
  if (instance == nullptr || instance->record->status == InstanceStatus::kInactive) {
    return DoesNotFit(absl::StrFormat("%s is not STOPPED, and its instance %s is not there", name,
                                      task->instance.value));
  }
  cluster->RestoreTask(std::move(task));
  return absl::OkStatus();
}

// Real agents have yet to connect, and this end of their connections is what was lost; the server
// itself stands in for the others.
absl::Status LoadReservations(State::Impl& state) {
  for (const auto& [name, cluster] : state.clusters) {
    for (const auto& [id, entry] : cluster->instances()) {
      if (entry->record->status == InstanceStatus::kInactive) continue;
      if (const absl::Status status = cluster->RestoreReservations(*entry); !status.ok()) {
        return status;
      }
      if (entry->record->emulated) {
        cluster->SetConnected(*entry, true, absl::InfinitePast());
      } else {
        entry->lost = true;
      }
      entry->shown = nullptr;
    }
  }
  return absl::OkStatus();
}

absl::Status LoadTokens(State::Impl& state, std::vector<model::ClientToken> tokens) {
  for (model::ClientToken& token : tokens) {
    ClusterState* cluster = state.FindCluster(token.cluster);
    if (cluster == nullptr) {
      return DoesNotFit(absl::StrFormat("client token %s is of cluster %s, which is not there",
                                        token.token, token.cluster.value));
    }
    state.tokens.insert({{token.created_at, TokenKey(token)}, cluster});
    cluster->PutToken(std::move(token), 0);
  }
  return absl::OkStatus();
}

absl::Status LoadAccount(State::Impl& state, std::vector<model::AccountSetting> settings,
                         std::vector<std::shared_ptr<model::AccessKey>> keys) {
  Account& account = state.account;
  for (model::AccountSetting& setting : settings) {
    if (account.settings().contains({setting.principal_arn, setting.name})) {
      return DoesNotFit(absl::StrFormat("account setting %s of %s is there twice", setting.name,
                                        setting.principal_arn));
    }
    account.PutSetting(std::move(setting), 0);
  }
  SortBySequence(keys);
  for (auto& key : keys) {
    if (account.FindKey(key->id) != nullptr) {
      return DoesNotFit(absl::StrFormat("access key %s is there twice", key->id));
    }
    state.next.access_key = std::max(state.next.access_key, key->sequence + 1);
    account.PutKey(std::move(key), 0);
  }
  return absl::OkStatus();
}

}  // namespace

ClusterState* State::Impl::FindCluster(const model::ClusterName& name) const {
  const auto found = clusters.find(name);
  return found == clusters.end() ? nullptr : found->second.get();
}

ClusterState* State::Impl::FindActiveCluster(const model::ClusterName& name) const {
  ClusterState* cluster = FindCluster(name);
  return cluster != nullptr && cluster->active() ? cluster : nullptr;
}

ClusterState& State::Impl::AddCluster(model::ClusterRecord record, uint64_t change) {
  const model::ClusterName name = record->name;
  auto& place = clusters[name];
  BERTH_CHECK(place == nullptr);
  place = std::make_unique<ClusterState>(std::move(record), change, gpu_policy);
  List(*place);
  return *place;
}

void State::Impl::ReplaceCluster(ClusterState& cluster, model::ClusterRecord record,
                                 uint64_t change) {
  BERTH_CHECK(record->name == cluster.record()->name);
  Unlist(cluster);
  cluster.SetRecord(std::move(record), change);
  List(cluster);
}

void State::Impl::EraseCluster(const ClusterState& cluster) {
  BERTH_CHECK(cluster.tasks().empty() && cluster.instances().empty() && cluster.tokens().empty());
  Unlist(cluster);
  clusters.erase(model::ClusterName(cluster.record()->name));
}

void State::Impl::List(ClusterState& cluster) {
  const model::Cluster& record = *cluster.record();
  if (cluster.active()) {
    active_clusters.insert(record.name);
  } else {
    inactive_clusters.insert({{record.deleted_at, record.name}, &cluster});
  }
}

void State::Impl::Unlist(const ClusterState& cluster) {
  const model::Cluster& record = *cluster.record();
  active_clusters.erase(record.name);
  inactive_clusters.erase({record.deleted_at, record.name});
}

std::string TokenKey(const model::ClientToken& token) {
  return token.cluster.value + "/" + token.token;
}

State::State(Retention retention, placement::ClusterGpuPolicy gpu_policy)
    : impl_(std::make_unique<Impl>(retention, gpu_policy)) {}
State::~State() = default;
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;

uint64_t State::change_number() const { return impl_->change_number; }

absl::Status State::Load(model::Records records) {
  Impl& state = *impl_;
  BERTH_CHECK(state.clusters.empty() && state.definitions.size() == 0);

  absl::Status status = LoadClusters(state, std::move(records.clusters));
  if (!status.ok()) return status;
  status = LoadDefinitions(state, records.families, std::move(records.definitions));
  if (!status.ok()) return status;
  status = LoadInstances(state, std::move(records.instances));
  if (!status.ok()) return status;
  SortBySequence(records.tasks);
  for (auto& task : records.tasks) {
    status = LoadTask(state, std::move(task));
    if (!status.ok()) return status;
  }
  status = LoadReservations(state);
  if (!status.ok()) return status;
  status = LoadTokens(state, std::move(records.client_tokens));
  if (!status.ok()) return status;
  return LoadAccount(state, std::move(records.account_settings), std::move(records.access_keys));
}

}  // namespace berth::scheduler

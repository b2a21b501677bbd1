#include "storage/memory_store.h"

#include <variant>

#include "absl/strings/str_format.h"
#include "model/check.h"

namespace berth::storage {
namespace {

using model::Change;
using model::ClientToken;
using model::Records;
using model::Task;
using model::TaskDefinition;
using model::TaskOverrides;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang 14 does not find it by itself.

std::shared_ptr<TaskDefinition> WithoutDerived(const TaskDefinition& definition) {
  auto stored = std::make_shared<TaskDefinition>(definition);
  stored->spec = nullptr;
  stored->compatibilities.clear();
  stored->requires_attributes.clear();
  return stored;
}

std::shared_ptr<Task> WithoutDerived(const Task& task) {
  auto stored = std::make_shared<Task>(task);
  stored->spec = nullptr;
  if (task.overrides != nullptr) {
    stored->overrides =
        std::make_shared<const TaskOverrides>(TaskOverrides{.document = task.overrides->document});
  }
  return stored;
}

}  // namespace

absl::StatusOr<Records> MemoryStore::Load() {
  Records records;
  for (const auto& [sequence, cluster] : current_.clusters) {
    records.clusters.push_back(std::make_shared<model::Cluster>(*cluster));
  }
  for (const auto& [name, family] : current_.families) records.families.push_back(family);
  std::map<int64_t, std::shared_ptr<const TaskDefinition>> definitions;
  for (const auto& [sequence, definition] : current_.definitions) {
    records.definitions.push_back(WithoutDerived(*definition));
    definitions[sequence] = records.definitions.back();
  }
  for (const auto& [sequence, instance] : current_.instances) {
    records.instances.push_back(std::make_shared<model::ContainerInstance>(*instance));
  }
  for (const auto& [sequence, task] : current_.tasks) {
    records.tasks.push_back(WithoutDerived(*task));
    records.tasks.back()->definition = definitions.at(task->definition->sequence);
  }
  for (const auto& [key, token] : current_.client_tokens) records.client_tokens.push_back(token);
  for (const auto& [key, setting] : current_.account_settings) {
    records.account_settings.push_back(setting);
  }
  for (const auto& [sequence, key] : current_.access_keys) {
    records.access_keys.push_back(std::make_shared<model::AccessKey>(*key));
  }
  return records;
}

absl::Status MemoryStore::Commit(std::span<const Change> changes) {
  ++commits_;
  if (std::optional<absl::Status> failure = TakeFailure()) return *std::move(failure);
  if (absl::Status sound = CheckReferences(changes); !sound.ok()) return sound;
  for (const Change& change : changes) {
    Apply(change, current_);
    unsynced_.push_back(change);
  }
  if (syncing_ == Syncing::kEachCommit) Sync();
  return absl::OkStatus();
}

void MemoryStore::Sync() {
  for (const Change& change : unsynced_) Apply(change, synced_);
  unsynced_.clear();
}

void MemoryStore::Crash() {
  unsynced_.clear();
  current_ = synced_;
}

void MemoryStore::FailCommit(int64_t nth, absl::Status error) {
  BERTH_CHECK(nth >= 1 && !error.ok());
  failures_[commits_ + nth] = std::move(error);
}

void MemoryStore::FailCommits(absl::Status error) {
  BERTH_CHECK(!error.ok());
  lasting_failure_ = std::move(error);
}

void MemoryStore::Recover() { lasting_failure_ = std::nullopt; }

std::optional<absl::Status> MemoryStore::TakeFailure() {
  if (auto once = failures_.extract(commits_); !once.empty()) return once.mapped();
  return lasting_failure_;
}

absl::Status MemoryStore::CheckReferences(std::span<const Change> changes) const {
  std::map<int64_t, bool> definitions;                   // in the batch: put or deleted
  std::map<int64_t, std::shared_ptr<const Task>> tasks;  // in the batch: null when deleted
  bool deletes_definition = false;
  for (const Change& change : changes) {
    if (const auto* put = std::get_if<model::PutTaskDefinition>(&change)) {
      definitions[put->record->sequence] = true;
    } else if (const auto* remove = std::get_if<model::DeleteTaskDefinition>(&change)) {
      definitions[remove->sequence] = false;
      deletes_definition = true;
    } else if (const auto* task = std::get_if<model::PutTask>(&change)) {
      tasks[task->record->sequence] = task->record;
    } else if (const auto* gone = std::get_if<model::DeleteTask>(&change)) {
      tasks[gone->sequence] = nullptr;
    }
  }
  const auto has_definition = [&](const Task& task) {
    const int64_t sequence = task.definition->sequence;
    const auto found = definitions.find(sequence);
    return found == definitions.end() ? current_.definitions.contains(sequence) : found->second;
  };
  const auto dangling = [](const Task& task) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the task of sequence %d would refer to a task definition that is not there",
        task.sequence));
  };
  for (const auto& [sequence, task] : tasks) {
    if (task == nullptr) continue;
    if (!has_definition(*task)) return dangling(*task);
    const auto before = current_.tasks.find(sequence);
    if (before == current_.tasks.end()) continue;
    if (before->second->id != task->id ||
        before->second->definition->sequence != task->definition->sequence) {
      return absl::FailedPreconditionError(
          absl::StrFormat("sequence %d of task %s belongs to another task, or to a run of another "
                          "task definition",
                          sequence, task->id.value));
    }
  }
  if (!deletes_definition) return absl::OkStatus();
  for (const auto& [sequence, task] : current_.tasks) {
    if (!tasks.contains(sequence) && !has_definition(*task)) return dangling(*task);
  }
  return absl::OkStatus();
}

void MemoryStore::Apply(const Change& change, Disk& disk) {
  std::visit(
      Overloaded{
          [&](const model::PutCluster& put) { disk.clusters[put.record->sequence] = put.record; },
          [&](const model::DeleteCluster& remove) { disk.clusters.erase(remove.sequence); },
          [&](const model::PutFamily& put) { disk.families[put.record.name] = put.record; },
          [&](const model::PutTaskDefinition& put) {
            disk.definitions[put.record->sequence] = put.record;
          },
          [&](const model::DeleteTaskDefinition& remove) {
            disk.definitions.erase(remove.sequence);
          },
          [&](const model::PutInstance& put) { disk.instances[put.record->sequence] = put.record; },
          [&](const model::DeleteInstance& remove) { disk.instances.erase(remove.sequence); },
          [&](const model::PutTask& put) { disk.tasks[put.record->sequence] = put.record; },
          [&](const model::DeleteTask& remove) { disk.tasks.erase(remove.sequence); },
          [&](const model::PutClientToken& put) {
            disk.client_tokens[{put.record.cluster, put.record.token}] = put.record;
          },
          [&](const model::DeleteClientToken& remove) {
            disk.client_tokens.erase({remove.cluster, remove.token});
          },
          [&](const model::PutAccountSetting& put) {
            disk.account_settings[{put.record.principal_arn, put.record.name}] = put.record;
          },
          [&](const model::DeleteAccountSetting& remove) {
            disk.account_settings.erase({remove.principal_arn, remove.name});
          },
          [&](const model::PutAccessKey& put) {
            disk.access_keys[put.record->sequence] = put.record;
          },
      },
      change);
}

}  // namespace berth::storage

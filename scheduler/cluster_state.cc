#include "scheduler/cluster_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "scheduler/gpu_policy_tag.h"
#include "scheduler/reservation.h"

namespace berth::scheduler {
namespace {

using model::InstanceStatus;
using model::TaskStatus;

// So few that what comes after soon outweighs them: not all instances may be back yet.
constexpr size_t kArrivalsLearned = 1024;

// What an INACTIVE instance shows: nobody is on it.
placement::InstanceState UnusedState(const model::RegisteredResources& resources) {
  placement::InstanceState state{.remaining_cpu_units = resources.cpu_units,
                                 .remaining_memory_mib = resources.memory_mib,
                                 .tcp_ports_in_use = resources.reserved_tcp_ports,
                                 .udp_ports_in_use = resources.reserved_udp_ports};
  for (const model::Gpu& gpu : resources.gpus) {
    state.gpus.push_back(
        {.id = gpu.id, .total_memory_mib = gpu.memory_mib, .remaining_memory_mib = gpu.memory_mib});
  }
  return state;
}

}  // namespace

int64_t TaskEvents(const model::Task& task) {
  return task.last_status == TaskStatus::kStopped ? 2 : 1;
}

uint64_t TaskRef::Prefix(const std::string& id) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < sizeof prefix; ++i) {
    prefix = prefix << 8 | (i < id.size() ? static_cast<unsigned char>(id[i]) : 0);
  }
  return prefix;
}

void TaskCounts::Add(TaskStatus status, int64_t n) {
  if (status == TaskStatus::kRunning) running += n;
  if (status == TaskStatus::kPending) pending += n;
}

ClusterState::ClusterState(model::ClusterRecord record, uint64_t change,
                           placement::ClusterGpuPolicy gpu_policy)
    : record_(std::move(record)), newest_change_(change), default_gpu_policy_(gpu_policy) {
  UpdateGpuPolicy();
}

void ClusterState::SetRecord(model::ClusterRecord record, uint64_t change) {
  record_ = std::move(record);
  newest_change_ = change;
  UpdateGpuPolicy();
}

// --- the GPU policy ---------------------------------------------------------------------------

placement::ClusterGpuPolicy ClusterState::NamedGpuPolicy() const {
  // Of a deleted cluster nothing is left, nor what its policy learned.
  if (!active()) return {};
  return GpuPolicyIn(record_->tags).value_or(default_gpu_policy_);
}

void ClusterState::UpdateGpuPolicy() {
  const placement::ClusterGpuPolicy policy = NamedGpuPolicy();
  if (policy == inventory_.gpu_policy()) return;
  inventory_.SetGpuPolicy(policy);
  has_arrivals_to_learn_ = true;
}

void ClusterState::NoteArrival(const placement::Demand& demand) {
  LearnArrivalsIfDue();
  inventory_.NoteArrival(demand);
}

void ClusterState::LearnArrivalsIfDue() {
  if (!has_arrivals_to_learn_ || inventory_.eligible() == 0) return;
  has_arrivals_to_learn_ = false;
  if (!inventory_.gpu_policy().kind) return;
  std::vector<const TaskEntry*> tasks;
  for (const auto desired : {model::DesiredStatus::kRunning, model::DesiredStatus::kStopped}) {
    for (const TaskRef& task : all_tasks_.Of(desired)) tasks.push_back(task.entry);
  }
  const auto latest = tasks.begin() + static_cast<std::ptrdiff_t>(
                                          tasks.size() - std::min(tasks.size(), kArrivalsLearned));
  std::nth_element(tasks.begin(), latest, tasks.end(), TaskBySequence());
  std::sort(latest, tasks.end(), TaskBySequence());
  for (auto task = latest; task != tasks.end(); ++task) {
    const model::Task& record = *(*task)->record;
    inventory_.NoteArrival(placement::DemandOf(*record.spec, {}, record.launch_type));
  }
}

// --- instances --------------------------------------------------------------------------------

InstanceEntry* ClusterState::FindInstance(const model::InstanceId& id) const {
  const auto found = instances_.find(id);
  return found == instances_.end() ? nullptr : found->second.get();
}

InstanceEntry* ClusterState::FindInstanceByMachine(const std::string& ec2_instance_id) const {
  const auto found = by_machine_.find(ec2_instance_id);
  return found == by_machine_.end() ? nullptr : FindInstance(found->second);
}

InstanceEntry* ClusterState::FindInstanceByToken(const std::string& registration_token) const {
  const auto found = by_registration_token_.find(registration_token);
  return found == by_registration_token_.end() ? nullptr : FindInstance(found->second);
}

InstanceEntry& ClusterState::AddInstance(model::InstanceRecord record, uint64_t change) {
  const auto [place, inserted] = instances_.emplace(record->id, std::make_unique<InstanceEntry>());
  BERTH_CHECK(inserted);
  InstanceEntry& entry = *place->second;
  entry.record = std::move(record);
  CountInstance(*entry.record, 1);
  if (entry.record->status != InstanceStatus::kInactive) inventory_.Put(*entry.record);
  Touch(entry, change);
  return entry;
}

void ClusterState::ReplaceInstance(InstanceEntry& entry, model::InstanceRecord next,
                                   uint64_t change) {
  BERTH_CHECK(entry.record->id == next->id);
  CountInstance(*entry.record, -1);
  const bool was_active = entry.record->status != InstanceStatus::kInactive;
  entry.record = std::move(next);
  CountInstance(*entry.record, 1);
  if (entry.record->status != InstanceStatus::kInactive) {
    inventory_.Put(*entry.record);
    UpdateEligibility(entry);
  } else if (was_active) {
    BERTH_CHECK(entry.live.empty());
    entry.connected = false;
    inventory_.Remove(entry.record->id);
  }
  Touch(entry, change);
}

void ClusterState::SetConnected(InstanceEntry& entry, bool connected, absl::Time now) {
  if (entry.connected == connected) return;
  entry.lost = entry.connected;
  entry.connected = connected;
  entry.connection_changed_at = now;
  entry.shown = nullptr;
  UpdateEligibility(entry);
}

void ClusterState::EraseInstance(InstanceEntry& entry, uint64_t change) {
  BERTH_CHECK(entry.record->status == InstanceStatus::kInactive);
  CountInstance(*entry.record, -1);
  newest_change_ = change;
  instances_.erase(model::InstanceId(entry.record->id));
}

int64_t ClusterState::VersionOf(const InstanceEntry& entry) const {
  return entry.record->version + entry.task_events + (entry.lost ? 1 : 0);
}

const model::InstanceRecord& ClusterState::Shown(InstanceEntry& entry) const {
  if (entry.shown == nullptr) {
    entry.shown = entry.record;
    if (const int64_t version = VersionOf(entry); version != entry.record->version) {
      auto copy = std::make_shared<model::ContainerInstance>(*entry.record);
      copy->version = version;
      entry.shown = std::move(copy);
    }
  }
  return entry.shown;
}

InstanceSnapshot ClusterState::Snapshot(InstanceEntry& entry) const {
  const model::InstanceId& id = entry.record->id;
  return {
      .record = Shown(entry),
      .state = inventory_.Contains(id) ? inventory_.Find(id) : UnusedState(entry.record->resources),
      .agent_connected = entry.connected,
      .agent_lost = entry.lost,
      .agent_changed_at = entry.connection_changed_at,
      .running_tasks = entry.counts.running,
      .pending_tasks = entry.counts.pending};
}

ClusterSnapshot ClusterState::Snapshot() const {
  return {.record = record_,
          .registered_instances = registered_instances_,
          .running_tasks = ec2_.running + external_.running,
          .pending_tasks = ec2_.pending + external_.pending,
          .ec2 = {.running = ec2_.running, .pending = ec2_.pending},
          .external = {.running = external_.running, .pending = external_.pending}};
}

void ClusterState::CountInstance(const model::ContainerInstance& instance, int64_t n) {
  if (instance.status == InstanceStatus::kActive) active_instances_ += n;
  if (instance.status != InstanceStatus::kInactive) registered_instances_ += n;
  const auto point = [&](absl::flat_hash_map<std::string, model::InstanceId>& index,
                         const std::string& key) {
    if (key.empty()) return;
    if (n > 0) {
      index[key] = instance.id;
    } else if (const auto found = index.find(key);
               found != index.end() && found->second == instance.id) {
      index.erase(found);
    }
  };
  if (instance.status != InstanceStatus::kInactive) point(by_machine_, instance.ec2_instance_id);
  point(by_registration_token_, instance.registration_token);
}

void ClusterState::Touch(InstanceEntry& entry, uint64_t change) {
  entry.change = change;
  entry.shown = nullptr;
  newest_change_ = std::max(newest_change_, change);
}

void ClusterState::UpdateEligibility(const InstanceEntry& entry) {
  const model::ContainerInstance& instance = *entry.record;
  if (instance.status == InstanceStatus::kInactive) return;
  inventory_.SetConnected(instance.id, entry.connected);
  inventory_.SetEligible(instance.id,
                         entry.connected && instance.status == InstanceStatus::kActive);
}

// --- tasks ------------------------------------------------------------------------------------

TaskEntry* ClusterState::FindTask(const model::TaskId& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->get();
}

TaskEntry& ClusterState::Insert(model::TaskRecord record, uint64_t change) {
  auto owned = std::make_unique<TaskEntry>();
  owned->record = std::move(record);
  owned->change = change;
  TaskEntry& entry = *owned;
  BERTH_CHECK(by_id_.insert(std::move(owned)).second);
  Index(entry);
  Count(*entry.record, 1);
  if (InstanceEntry* instance = FindInstance(entry.record->instance)) {
    instance->task_events += TaskEvents(*entry.record);
    Touch(*instance, std::max(instance->change, change));
  }
  newest_change_ = std::max(newest_change_, change);
  return entry;
}

TaskEntry& ClusterState::AddTask(model::TaskRecord record, uint64_t change) {
  TaskEntry& entry = Insert(std::move(record), change);
  const placement::Reservation reservation = ReservationOf(*entry.record);
  inventory_.Reserve(entry.record->instance, reservation);
  fragmentation_.Note(reservation);
  failures_.Forget(entry.record->group);
  return entry;
}

void ClusterState::ReplaceTask(TaskEntry& entry, model::TaskRecord next, uint64_t change) {
  const model::TaskRecord before = entry.record;
  BERTH_CHECK(before->id == next->id && before->instance == next->instance);
  BERTH_CHECK(before->last_status != TaskStatus::kStopped);
  const bool stops = next->last_status == TaskStatus::kStopped;
  InstanceEntry* instance = FindInstance(before->instance);
  BERTH_CHECK(instance != nullptr);

  Count(*before, -1);
  const bool moves = before->desired_status != next->desired_status;
  if (moves) Unindex(entry);
  if (stops) {
    instance->live.erase(&entry);
    inventory_.Release(before->instance, ReservationOf(*before));
    instance->task_events += TaskEvents(*next) - TaskEvents(*before);
  }
  entry.record = std::move(next);
  entry.change = change;
  if (moves) Index(entry);
  Count(*entry.record, 1);
  Touch(*instance, change);
}

void ClusterState::EraseTask(TaskEntry& entry, uint64_t change) {
  const model::TaskRecord task = entry.record;
  BERTH_CHECK(task->last_status == TaskStatus::kStopped);
  Unindex(entry);
  if (InstanceEntry* instance = FindInstance(task->instance)) {
    instance->task_events -= TaskEvents(*task);
    Touch(*instance, change);
  }
  newest_change_ = change;
  by_id_.erase(by_id_.find(task->id));
}

void ClusterState::Index(TaskEntry& entry) {
  const model::Task& task = *entry.record;
  const auto insert = [&](NamedIndexes& indexes, const std::string& key) {
    std::unique_ptr<TaskIndex>& index = indexes[key];
    if (index == nullptr) index = std::make_unique<TaskIndex>();
    index->Of(task.desired_status).insert(TaskRef(&entry));
  };
  all_tasks_.Of(task.desired_status).insert(TaskRef(&entry));
  insert(by_family_, task.definition->id.family);
  if (!task.started_by.empty()) insert(by_started_by_, task.started_by);
  if (InstanceEntry* instance = FindInstance(task.instance)) {
    instance->tasks.Of(task.desired_status).insert(TaskRef(&entry));
    if (task.last_status != TaskStatus::kStopped) instance->live.insert(&entry);
  }
}

void ClusterState::Unindex(TaskEntry& entry) {
  const model::Task& task = *entry.record;
  const auto erase = [&](NamedIndexes& indexes, const std::string& key) {
    const auto found = indexes.find(key);
    found->second->Of(task.desired_status).erase(TaskRef(&entry));
    if (found->second->empty()) indexes.erase(found);
  };
  all_tasks_.Of(task.desired_status).erase(TaskRef(&entry));
  erase(by_family_, task.definition->id.family);
  if (!task.started_by.empty()) erase(by_started_by_, task.started_by);
  if (InstanceEntry* instance = FindInstance(task.instance)) {
    instance->tasks.Of(task.desired_status).erase(TaskRef(&entry));
  }
}

void ClusterState::Count(const model::Task& task, int64_t n) {
  (task.launch_type == model::LaunchType::kExternal ? external_ : ec2_).Add(task.last_status, n);
  InstanceEntry* instance = FindInstance(task.instance);
  if (instance == nullptr) return;
  instance->counts.Add(task.last_status, n);
  if (task.last_status == TaskStatus::kRunning) {
    inventory_.SetRunningTasks(task.instance, instance->counts.running);
  }
}

const TaskIndex* ClusterState::TasksOfFamily(const std::string& family) const {
  const auto found = by_family_.find(family);
  return found == by_family_.end() ? nullptr : found->second.get();
}

const TaskIndex* ClusterState::TasksStartedBy(const std::string& started_by) const {
  const auto found = by_started_by_.find(started_by);
  return found == by_started_by_.end() ? nullptr : found->second.get();
}

// --- client tokens ----------------------------------------------------------------------------

TokenEntry* ClusterState::FindToken(const std::string& token) {
  const auto found = tokens_.find(token);
  return found == tokens_.end() ? nullptr : &found->second;
}

void ClusterState::PutToken(model::ClientToken record, uint64_t change) {
  std::string key = record.token;
  tokens_.insert_or_assign(std::move(key), TokenEntry{std::move(record), change});
  newest_change_ = std::max(newest_change_, change);
}

void ClusterState::EraseToken(const std::string& token, uint64_t change) {
  tokens_.erase(token);
  newest_change_ = change;
}

// --- after a restart --------------------------------------------------------------------------

TaskEntry& ClusterState::RestoreTask(model::TaskRecord record) {
  TaskEntry& entry = Insert(std::move(record), 0);
  fragmentation_.Note(ReservationOf(*entry.record));
  return entry;
}

absl::Status ClusterState::RestoreReservations(InstanceEntry& entry) {
  const model::ContainerInstance& instance = *entry.record;
  InstanceUse use;
  for (const TaskEntry* task : entry.live) {
    const placement::Reservation reservation = ReservationOf(*task->record);
    if (const auto taken = use.Add(reservation)) {
      return absl::DataLossError(
          absl::StrFormat("task %s: %s of instance %s is held by another task",
                          task->record->id.value, *taken, instance.id.value));
    }
    if (!inventory_.Restore(instance.id, reservation)) {
      return absl::DataLossError(absl::StrFormat("task %s does not fit on instance %s",
                                                 task->record->id.value, instance.id.value));
    }
  }
  if (const auto excess = FindExcess(use, instance.resources)) {
    return absl::DataLossError(
        absl::StrFormat("instance %s: its tasks hold %s", instance.id.value, *excess));
  }
  UpdateEligibility(entry);
  return absl::OkStatus();
}

}  // namespace berth::scheduler

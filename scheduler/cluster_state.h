// One ECS cluster in memory: its instances, tasks and client tokens, the inventory that placement
// looks at, and the indexes and counters that keep every command from scanning.
//
// The functions that change it keep all of them together, so that no caller can forget one. They
// decide nothing and write nothing down: decision.h does, and is the only caller apart from Load.
// FindViolations (violations.cc) recounts everything from the records.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "model/change.h"
#include "model/cluster.h"
#include "model/container_instance.h"
#include "model/ids.h"
#include "model/task.h"
#include "placement/cluster_fragmentation.h"
#include "placement/inventory.h"
#include "scheduler/commands.h"
#include "scheduler/failure_log.h"

namespace berth::scheduler {

// `change` is everywhere the number of the change that made what stands there (State).
struct TaskEntry {
  model::TaskRecord record = {};
  uint64_t change = 0;
};

// A task in an index. Index order is by id, which is also the order of ListTasks. An index holds no
// copy of the id, which would be most of the memory at a million tasks, but its first bytes: nearly
// every comparison is decided by them, without a walk to the record and the cache misses on the
// way.
struct TaskRef {
  explicit TaskRef(TaskEntry* task) : prefix(Prefix(task->record->id.value)), entry(task) {}

  static uint64_t Prefix(const std::string& id);  // orders as the id does, as far as it goes
  bool operator==(const TaskRef&) const = default;

  uint64_t prefix;
  TaskEntry* entry;
};
// The place of an id, be there a task or not.
struct TaskKey {
  explicit TaskKey(const std::string& text) : prefix(TaskRef::Prefix(text)), id(text) {}

  uint64_t prefix;
  const std::string& id;
};
struct TaskById {
  using is_transparent = void;
  static const std::string& Id(const TaskRef& ref) { return ref.entry->record->id.value; }
  static const std::string& Id(const TaskKey& key) { return key.id; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return a.prefix != b.prefix ? a.prefix < b.prefix : Id(a) < Id(b);
  }
};
struct TaskBySequence {
  bool operator()(const TaskEntry* a, const TaskEntry* b) const {
    return a->record->sequence < b->record->sequence;
  }
};
using TasksById = absl::btree_set<TaskRef, TaskById>;
using TasksBySequence = absl::btree_set<TaskEntry*, TaskBySequence>;

// Tasks that have something in common, by desired status, since every ListTasks asks for one.
class TaskIndex {
 public:
  TasksById& Of(model::DesiredStatus desired) { return sets_[static_cast<size_t>(desired)]; }
  const TasksById& Of(model::DesiredStatus desired) const {
    return sets_[static_cast<size_t>(desired)];
  }
  bool empty() const { return sets_[0].empty() && sets_[1].empty(); }

 private:
  std::array<TasksById, 2> sets_ = {};
};

struct TaskCounts {
  int64_t running = 0;  // lastStatus RUNNING
  int64_t pending = 0;  // lastStatus PENDING

  void Add(model::TaskStatus status, int64_t n);
  bool operator==(const TaskCounts&) const = default;
};

// How many versions of its instance a task makes: 1 by its placement, 1 by its release.
int64_t TaskEvents(const model::Task& task);

struct InstanceEntry {
  model::InstanceRecord record = {};
  uint64_t change = 0;  // of the record or of a task on it: both show in its description
  bool connected = false;
  // Was connected and is no more, be it by the agent's end or by ours.
  bool lost = false;
  absl::Time connection_changed_at = absl::InfinitePast();  // as far as this process saw it
  TaskIndex tasks = {};                                     // all that are remembered
  TasksBySequence live = {};                                // not STOPPED
  TaskCounts counts = {};
  // Placements and releases of the remembered tasks. Each is a new version of the instance in ECS;
  // being derived they cost no write. When a task is forgotten its share goes to record->version.
  int64_t task_events = 0;
  model::InstanceRecord shown = {};  // cache of ClusterState::Shown; null: out of date
};

struct TokenEntry {
  model::ClientToken record = {};
  uint64_t change = 0;
};

class ClusterState {
 public:
  // The GPU policy is for as long as the cluster's tags name none.
  ClusterState(model::ClusterRecord record, uint64_t change,
               placement::ClusterGpuPolicy gpu_policy);
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  const model::ClusterRecord& record() const { return record_; }
  void SetRecord(model::ClusterRecord record, uint64_t change);
  bool active() const { return record_->status == model::ClusterStatus::kActive; }
  // The newest change to anything in the cluster: what a list or a count shows.
  uint64_t newest_change() const { return newest_change_; }

  // --- instances
  InstanceEntry* FindInstance(const model::InstanceId& id) const;
  // Not INACTIVE ones; the id of none is empty.
  InstanceEntry* FindInstanceByMachine(const std::string& ec2_instance_id) const;
  // Of any status.
  InstanceEntry* FindInstanceByToken(const std::string& registration_token) const;
  InstanceEntry& AddInstance(model::InstanceRecord record, uint64_t change);
  // Requires: an instance that becomes INACTIVE has no live task.
  void ReplaceInstance(InstanceEntry& entry, model::InstanceRecord next, uint64_t change);
  void SetConnected(InstanceEntry& entry, bool connected, absl::Time now);
  // Requires: INACTIVE. Its remembered tasks stay, without it.
  void EraseInstance(InstanceEntry& entry, uint64_t change);
  // The record as clients see it, with the version that follows from its tasks and its connection.
  const model::InstanceRecord& Shown(InstanceEntry& entry) const;
  int64_t VersionOf(const InstanceEntry& entry) const;
  InstanceSnapshot Snapshot(InstanceEntry& entry) const;
  ClusterSnapshot Snapshot() const;

  // --- tasks
  TaskEntry* FindTask(const model::TaskId& id) const;
  // Reserves what the task holds. Requires: it was placed on an instance with room for it.
  TaskEntry& AddTask(model::TaskRecord record, uint64_t change);
  // Releases what the task holds when it becomes STOPPED. Requires: same task, same place.
  void ReplaceTask(TaskEntry& entry, model::TaskRecord next, uint64_t change);
  // Requires: STOPPED.
  void EraseTask(TaskEntry& entry, uint64_t change);

  // --- client tokens of RunTask
  TokenEntry* FindToken(const std::string& token);
  void PutToken(model::ClientToken record, uint64_t change);
  void EraseToken(const std::string& token, uint64_t change);

  // --- after a restart: tasks come without reserving, then each instance adds up its own. The
  // first thing that does not fit is an error.
  TaskEntry& RestoreTask(model::TaskRecord record);
  absl::Status RestoreReservations(InstanceEntry& entry);

  // --- why tasks of which group found no place. AddTask forgets what it has of the task's group.
  FailureLog& failures() { return failures_; }
  const FailureLog& failures() const { return failures_; }

  // --- how much idle GPU memory typical tasks cannot use. What AddTask places is typical, and what
  // is restored.
  placement::ClusterFragmentation& fragmentation() { return fragmentation_; }

  // --- what is asked for: once for each task, before it is placed, whether it will be or not. What
  // a GPU policy knows of it is in memory alone. After a restart, or with another policy, it is
  // learned anew from the latest tasks that are remembered, as soon as an instance may take tasks:
  // policies weigh what is asked for against what there is.
  void NoteArrival(const placement::Demand& demand);

  // --- to try out on: whoever changes it puts it back before the command ends.
  placement::Inventory& inventory_for_trial() {
    LearnArrivalsIfDue();
    return inventory_;
  }

  // --- to read
  const placement::Inventory& inventory() const { return inventory_; }
  using Instances = absl::btree_map<model::InstanceId, std::unique_ptr<InstanceEntry>>;
  const Instances& instances() const { return instances_; }
  const TaskIndex& tasks() const { return all_tasks_; }
  const TaskIndex* TasksOfFamily(const std::string& family) const;
  const TaskIndex* TasksStartedBy(const std::string& started_by) const;
  const absl::flat_hash_map<std::string, TokenEntry>& tokens() const { return tokens_; }
  int64_t active_instances() const { return active_instances_; }
  int64_t registered_instances() const { return registered_instances_; }

  std::vector<std::string> FindViolations() const;

 private:
  struct TaskHash {
    using is_transparent = void;
    size_t operator()(const model::TaskId& id) const { return absl::Hash<model::TaskId>()(id); }
    size_t operator()(const std::unique_ptr<TaskEntry>& entry) const {
      return (*this)(entry->record->id);
    }
  };
  struct TaskEqual {
    using is_transparent = void;
    static const model::TaskId& Id(const model::TaskId& id) { return id; }
    static const model::TaskId& Id(const std::unique_ptr<TaskEntry>& entry) {
      return entry->record->id;
    }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Id(a) == Id(b);
    }
  };
  using NamedIndexes = absl::flat_hash_map<std::string, std::unique_ptr<TaskIndex>>;

  TaskEntry& Insert(model::TaskRecord record, uint64_t change);
  void Index(TaskEntry& entry);
  void Unindex(TaskEntry& entry);
  void Count(const model::Task& task, int64_t n);
  void CountInstance(const model::ContainerInstance& instance, int64_t n);
  void Touch(InstanceEntry& entry, uint64_t change);
  void UpdateEligibility(const InstanceEntry& entry);
  // The policy that the record's tags name.
  placement::ClusterGpuPolicy NamedGpuPolicy() const;
  void UpdateGpuPolicy();
  void LearnArrivalsIfDue();

  model::ClusterRecord record_;
  uint64_t newest_change_ = 0;

  const placement::ClusterGpuPolicy default_gpu_policy_;
  bool has_arrivals_to_learn_ = true;
  placement::Inventory inventory_;  // all but the INACTIVE
  Instances instances_;
  absl::flat_hash_map<std::string, model::InstanceId> by_machine_;
  absl::flat_hash_map<std::string, model::InstanceId> by_registration_token_;
  int64_t active_instances_ = 0;
  int64_t registered_instances_ = 0;  // ACTIVE and DRAINING

  absl::flat_hash_set<std::unique_ptr<TaskEntry>, TaskHash, TaskEqual> by_id_;
  TaskIndex all_tasks_;
  NamedIndexes by_family_;
  NamedIndexes by_started_by_;
  TaskCounts ec2_;  // EC2 and MANAGED_INSTANCES
  TaskCounts external_;

  absl::flat_hash_map<std::string, TokenEntry> tokens_;
  FailureLog failures_;
  placement::ClusterFragmentation fragmentation_;
};

}  // namespace berth::scheduler

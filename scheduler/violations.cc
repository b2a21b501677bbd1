// The audit: recounts a whole state from its records and compares. For tests, fuzzers and the
// simulation; it shares nothing with what keeps the indexes but the records.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/cluster_state.h"
#include "scheduler/reservation.h"
#include "scheduler/state_impl.h"

namespace berth::scheduler {
namespace {

using model::DesiredStatus;
using model::GpuUse;
using model::InstanceStatus;
using model::Task;
using model::TaskStatus;
using Violations = std::vector<std::string>;

template <class... Args>
void Expect(Violations& violations, bool holds, const absl::FormatSpec<Args...>& format,
            const Args&... args) {
  if (!holds) violations.push_back(absl::StrFormat(format, args...));
}

void CheckStatus(Violations& out, const Task& task) {
  const std::string& id = task.id.value;
  const bool stopped = task.last_status == TaskStatus::kStopped;
  const bool stopping = task.desired_status == DesiredStatus::kStopped;
  Expect(out, !stopped || stopping, "task %s is STOPPED and desires to run", id);
  Expect(out, stopping == (task.stop_code != model::StopCode::kNone),
         "task %s: a stop code, and desired status STOPPED, come together", id);
  Expect(out, stopped == (task.stopped_at != absl::InfinitePast()),
         "task %s: stoppedAt, and STOPPED, come together", id);
  Expect(out, task.last_status != TaskStatus::kRunning || task.started_at != absl::InfinitePast(),
         "task %s is RUNNING and never started", id);
  for (const model::TaskContainer& container : task.containers) {
    Expect(out, !stopped || container.last_status == model::ContainerStatus::kStopped,
           "task %s is STOPPED, its container %s is not", id, container.name);
  }
}

// The sharing containers of a task name one GPU, all the same; dedicated ones name their number.
void CheckGpus(Violations& out, const Task& task) {
  std::vector<model::GpuId> shared;
  std::vector<model::GpuId> dedicated;
  for (size_t i = 0; i < task.containers.size(); ++i) {
    const model::GpuRequirement asked = model::GpuRequirementOf(task.spec->containers[i]);
    const std::vector<model::GpuId>& given = task.containers[i].gpu_ids;
    using Kind = model::GpuRequirement::Kind;
    const bool count_fits =
        asked.kind == Kind::kAll ||
        static_cast<int64_t>(given.size()) == (asked.kind == Kind::kShared      ? 1
                                               : asked.kind == Kind::kDedicated ? asked.count
                                                                                : 0);
    Expect(out, count_fits, "task %s: container %s holds %d GPUs, not what it asked for",
           task.id.value, task.containers[i].name, given.size());
    auto& into = asked.kind == Kind::kShared ? shared : dedicated;
    into.insert(into.end(), given.begin(), given.end());
  }
  const bool one =
      std::adjacent_find(shared.begin(), shared.end(), std::not_equal_to<>()) == shared.end();
  Expect(out, one, "task %s: its sharing containers are on different GPUs", task.id.value);
  std::sort(dedicated.begin(), dedicated.end());
  Expect(out, std::adjacent_find(dedicated.begin(), dedicated.end()) == dedicated.end(),
         "task %s holds one GPU twice", task.id.value);
}

void CheckGpuStates(Violations& out, const InstanceEntry& entry, const InstanceUse& use,
                    const placement::InstanceState& state) {
  const std::string& id = entry.record->id.value;
  const std::vector<model::Gpu>& registered = entry.record->resources.gpus;
  if (registered.size() != state.gpus.size()) {
    out.push_back(absl::StrFormat("instance %s shows %d GPUs of %d", id, state.gpus.size(),
                                  registered.size()));
    return;
  }
  for (size_t i = 0; i < registered.size(); ++i) {
    const placement::GpuState& shown = state.gpus[i];
    const auto held = use.gpus.find(registered[i].id);
    const InstanceUse::Gpu used = held == use.gpus.end() ? InstanceUse::Gpu{} : held->second;
    const int64_t remaining =
        used.use == GpuUse::kDedicated
            ? 0
            : std::max<int64_t>(0, registered[i].memory_mib - used.memory_mib);
    Expect(out,
           shown.id == registered[i].id && shown.use == used.use &&
               shown.containers == used.containers && shown.remaining_memory_mib == remaining,
           "GPU %s of instance %s shows %s, %d containers, %d MiB left; its tasks make it %s, %d, "
           "%d",
           shown.id.value, id, std::string(model::ToString(shown.use)), shown.containers,
           shown.remaining_memory_mib, std::string(model::ToString(used.use)), used.containers,
           remaining);
  }
}

std::vector<int64_t> Union(const absl::btree_set<int64_t>& held,
                           const std::vector<int64_t>& reserved) {
  absl::btree_set<int64_t> all(held);
  all.insert(reserved.begin(), reserved.end());
  return {all.begin(), all.end()};
}

void CheckInstance(Violations& out, const InstanceEntry& entry,
                   const placement::Inventory& inventory) {
  const model::ContainerInstance& instance = *entry.record;
  const std::string& id = instance.id.value;
  if (instance.status == InstanceStatus::kInactive) {
    Expect(out, entry.live.empty(), "instance %s is INACTIVE and has live tasks", id);
    Expect(out, !inventory.Contains(instance.id), "instance %s is INACTIVE and takes tasks", id);
    Expect(out, !entry.connected, "instance %s is INACTIVE and connected", id);
    return;
  }
  if (!inventory.Contains(instance.id)) {
    out.push_back(absl::StrFormat("instance %s is not in the inventory", id));
    return;
  }
  InstanceUse use;
  for (const TaskEntry* task : entry.live) {
    if (const auto taken = use.Add(ReservationOf(*task->record))) {
      out.push_back(absl::StrFormat("task %s holds %s of instance %s, which another task holds",
                                    task->record->id.value, *taken, id));
    }
  }
  if (const auto excess = FindExcess(use, instance.resources)) {
    out.push_back(absl::StrFormat("instance %s is over-committed: its tasks hold %s", id, *excess));
  }
  const placement::InstanceState state = inventory.Find(instance.id);
  Expect(out, state.remaining_cpu_units == instance.resources.cpu_units - use.cpu_units,
         "instance %s shows %d CPU units left, its tasks leave %d", id, state.remaining_cpu_units,
         instance.resources.cpu_units - use.cpu_units);
  Expect(out, state.remaining_memory_mib == instance.resources.memory_mib - use.memory_mib,
         "instance %s shows %d MiB left, its tasks leave %d", id, state.remaining_memory_mib,
         instance.resources.memory_mib - use.memory_mib);
  Expect(out,
         state.tcp_ports_in_use == Union(use.tcp_ports, instance.resources.reserved_tcp_ports) &&
             state.udp_ports_in_use == Union(use.udp_ports, instance.resources.reserved_udp_ports),
         "instance %s shows other ports in use than its host and tasks hold", id);
  CheckGpuStates(out, entry, use, state);
  placement::InstanceFacts facts{.connected = entry.connected,
                                 .running_tasks = entry.counts.running};
  for (const TaskEntry* task : entry.live) ++facts.tasks_by_group[task->record->group];
  Expect(out, inventory.Facts(instance.id) == facts,
         "placement knows other facts of instance %s than there are", id);
}

// What the indexes and counters should be, from the records alone.
struct Recount {
  absl::btree_map<std::string, TaskIndex> families = {};
  absl::btree_map<std::string, TaskIndex> started_by = {};
  struct OfInstance {
    TaskIndex tasks = {};
    TasksBySequence live = {};
    TaskCounts counts = {};
    int64_t events = 0;
  };
  absl::btree_map<model::InstanceId, OfInstance> instances = {};
  TaskCounts ec2 = {};
  TaskCounts external = {};

  void Add(TaskEntry* entry) {
    const Task& task = *entry->record;
    families[task.definition->id.family].Of(task.desired_status).insert(TaskRef(entry));
    if (!task.started_by.empty()) {
      started_by[task.started_by].Of(task.desired_status).insert(TaskRef(entry));
    }
    OfInstance& instance = instances[task.instance];
    instance.tasks.Of(task.desired_status).insert(TaskRef(entry));
    if (task.last_status != TaskStatus::kStopped) instance.live.insert(entry);
    instance.counts.Add(task.last_status, 1);
    instance.events += task.last_status == TaskStatus::kStopped ? 2 : 1;
    (task.launch_type == model::LaunchType::kExternal ? external : ec2).Add(task.last_status, 1);
  }
};

bool Same(const TaskIndex* kept, const TaskIndex& counted) {
  if (kept == nullptr) return counted.empty();
  return kept->Of(DesiredStatus::kRunning) == counted.Of(DesiredStatus::kRunning) &&
         kept->Of(DesiredStatus::kStopped) == counted.Of(DesiredStatus::kStopped);
}

}  // namespace

std::vector<std::string> ClusterState::FindViolations() const {
  Violations out;
  Recount recount;
  Expect(out, inventory_.gpu_policy() == NamedGpuPolicy(),
         "its GPU policy is %s, and its tags and the server say %s",
         ToString(inventory_.gpu_policy()), ToString(NamedGpuPolicy()));
  for (const std::unique_ptr<TaskEntry>& entry : by_id_) {
    const Task& task = *entry->record;
    recount.Add(entry.get());
    CheckStatus(out, task);
    CheckGpus(out, task);
    const TasksById& listed = all_tasks_.Of(task.desired_status);
    Expect(out, listed.contains(TaskRef(entry.get())), "task %s is not listed", task.id.value);
    const InstanceEntry* instance = FindInstance(task.instance);
    Expect(out, instance != nullptr || task.last_status == TaskStatus::kStopped,
           "task %s is not STOPPED, and its instance %s is not there", task.id.value,
           task.instance.value);
  }
  const size_t listed =
      all_tasks_.Of(DesiredStatus::kRunning).size() + all_tasks_.Of(DesiredStatus::kStopped).size();
  Expect(out, listed == by_id_.size(), "%d tasks are listed, %d are there", listed, by_id_.size());

  for (const auto& [family, index] : recount.families) {
    Expect(out, Same(TasksOfFamily(family), index), "the tasks of family %s differ", family);
  }
  Expect(out, by_family_.size() == recount.families.size(), "a family has an index and no task");
  for (const auto& [name, index] : recount.started_by) {
    Expect(out, Same(TasksStartedBy(name), index), "the tasks started by %s differ", name);
  }
  Expect(out, by_started_by_.size() == recount.started_by.size(),
         "a startedBy has an index and no task");
  Expect(out, recount.ec2 == ec2_ && recount.external == external_,
         "the cluster counts %d RUNNING and %d PENDING, its tasks are %d and %d",
         ec2_.running + external_.running, ec2_.pending + external_.pending,
         recount.ec2.running + recount.external.running,
         recount.ec2.pending + recount.external.pending);

  int64_t active = 0;
  int64_t registered = 0;
  for (const auto& [id, entry] : instances_) {
    const InstanceStatus status = entry->record->status;
    active += status == InstanceStatus::kActive ? 1 : 0;
    registered += status == InstanceStatus::kInactive ? 0 : 1;
    const Recount::OfInstance& counted = recount.instances[id];
    Expect(out,
           Same(&entry->tasks, counted.tasks) && entry->live == counted.live &&
               entry->counts == counted.counts && entry->task_events == counted.events,
           "instance %s has other tasks or counts than the tasks on it make", id.value);
    CheckInstance(out, *entry, inventory_);
  }
  Expect(out, active == active_instances_ && registered == registered_instances_,
         "%d instances ACTIVE and %d registered are counted, there are %d and %d",
         active_instances_, registered_instances_, active, registered);
  Expect(out, inventory_.size() == registered, "the inventory has %d instances of %d",
         inventory_.size(), registered);

  const Violations inventory = inventory_.FindViolations();
  out.insert(out.end(), inventory.begin(), inventory.end());
  return out;
}

std::vector<std::string> State::FindViolations() const {
  const Impl& state = *impl_;
  Violations out = state.definitions.FindViolations();
  const Violations account = state.account.FindViolations();
  out.insert(out.end(), account.begin(), account.end());
  absl::btree_map<model::DefinitionId, int64_t> references;
  size_t stopped = 0;
  size_t inactive = 0;
  size_t tokens = 0;
  size_t deleted = 0;
  for (const auto& [name, cluster] : state.clusters) {
    const model::Cluster& record = *cluster->record();
    const bool listed = state.active_clusters.contains(name);
    const bool goes = state.inactive_clusters.contains({record.deleted_at, name});
    Expect(out, record.name == name && cluster->active() == listed && listed != goes,
           "cluster %s is %s, and listed: %d, to be forgotten: %d", name.value,
           std::string(model::ToString(record.status)), listed, goes);
    deleted += goes ? 1 : 0;
    for (const auto desired : {DesiredStatus::kRunning, DesiredStatus::kStopped}) {
      for (const TaskRef& ref : cluster->tasks().Of(desired)) {
        ++references[ref.entry->record->definition->id];
      }
    }
    for (const std::string& violation : cluster->FindViolations()) {
      out.push_back(absl::StrCat("cluster ", name.value, ": ", violation));
    }
    for (const TaskRef& ref : cluster->tasks().Of(DesiredStatus::kStopped)) {
      const Task& task = *ref.entry->record;
      if (task.last_status != TaskStatus::kStopped) continue;
      ++stopped;
      Expect(out, state.stopped_tasks.contains({task.stopped_at, task.sequence}),
             "task %s is STOPPED and never forgotten", task.id.value);
    }
    for (const auto& [id, entry] : cluster->instances()) {
      if (entry->record->status != InstanceStatus::kInactive) continue;
      ++inactive;
      Expect(out, state.inactive_instances.contains({entry->record->deregistered_at, id}),
             "instance %s is INACTIVE and never forgotten", id.value);
    }
    for (const auto& [token, entry] : cluster->tokens()) {
      ++tokens;
      Expect(out, state.tokens.contains({entry.record.created_at, TokenKey(entry.record)}),
             "client token %s is never forgotten", token);
      const bool stands = std::any_of(
          entry.record.tasks.begin(), entry.record.tasks.end(),
          [&cluster = cluster](const auto& id) { return cluster->FindTask(id) != nullptr; });
      Expect(out, stands, "client token %s stands for no task", token);
    }
  }
  Expect(out,
         stopped == state.stopped_tasks.size() && inactive == state.inactive_instances.size() &&
             tokens == state.tokens.size() && deleted == state.inactive_clusters.size() &&
             state.clusters.size() == state.active_clusters.size() + deleted,
         "more waits to be forgotten than there is");
  for (const auto& [id, count] : references) {
    const DefinitionEntry* entry = state.definitions.Find(id);
    Expect(out, entry != nullptr && entry->references == count,
           "definition %s:%d has %d tasks, and counts %d", id.family, id.revision, count,
           entry == nullptr ? 0 : entry->references);
  }
  Expect(out, state.definitions.CountReferenced() == static_cast<int64_t>(references.size()),
         "definitions count tasks that are not there");
  return out;
}

}  // namespace berth::scheduler

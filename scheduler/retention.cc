// Tick: forgets STOPPED tasks, INACTIVE instances, INACTIVE clusters with what is in them, and
// client tokens whose time has passed, oldest first, a bounded number each time, so that no tick
// holds up the cluster loop for long.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

// Some milliseconds of the loop's time (benchmarks/scheduler_benchmark.cc), and a transaction of
// the store that nobody notices. The loop ticks often enough for this to be thousands a second.
constexpr int64_t kForgottenPerTickMax = 1'000;

// Versions that an instance owes to tasks which are forgotten: what clients have seen of it may not
// go backwards. By the instance's sequence, so that the order of the changes is fixed.
struct Owed {
  ClusterState* cluster = nullptr;
  InstanceEntry* instance = nullptr;
  int64_t versions = 0;
};
using OwedBySequence = absl::btree_map<int64_t, Owed>;

void Owe(OwedBySequence& owed, ClusterState& cluster, const model::Task& task) {
  InstanceEntry* instance = cluster.FindInstance(task.instance);
  if (instance == nullptr) return;
  Owed& entry = owed[instance->record->sequence];
  entry.cluster = &cluster;
  entry.instance = instance;
  entry.versions += TaskEvents(task);
}

void PayVersions(Decision& decision, const OwedBySequence& owed) {
  for (const auto& [sequence, debt] : owed) {
    model::ContainerInstance next = *debt.instance->record;
    next.version += debt.versions;
    decision.PutInstance(*debt.cluster, *debt.instance, std::move(next));
  }
}

// Each of these returns how many it forgot.
int64_t ForgetTasks(Decision& decision, absl::Time now, int64_t budget) {
  State::Impl& state = decision.state();
  OwedBySequence owed;
  int64_t forgotten = 0;
  while (forgotten < budget && !state.stopped_tasks.empty()) {
    const absl::Time stopped_at = state.stopped_tasks.begin()->first.first;
    const auto [cluster, entry] = state.stopped_tasks.begin()->second;
    const bool too_old = now - stopped_at >= state.retention.stopped_tasks;
    const bool too_many =
        static_cast<int64_t>(state.stopped_tasks.size()) > state.retention.stopped_tasks_max;
    if (!too_old && !too_many) break;
    Owe(owed, *cluster, *entry->record);
    decision.DeleteTask(*cluster, *entry);
    ++forgotten;
  }
  PayVersions(decision, owed);
  return forgotten;
}

int64_t ForgetInstances(Decision& decision, absl::Time now, int64_t budget) {
  State::Impl& state = decision.state();
  int64_t forgotten = 0;
  while (forgotten < budget && !state.inactive_instances.empty()) {
    const auto& [key, cluster] = *state.inactive_instances.begin();
    if (now - key.first < state.retention.inactive_instances) break;
    decision.DeleteInstance(*cluster, *cluster->FindInstance(key.second));
    ++forgotten;
  }
  return forgotten;
}

// The tasks of a deleted cluster, then its instances; both may be younger than it and go with it.
int64_t ForgetContents(Decision& decision, ClusterState& cluster, int64_t budget) {
  OwedBySequence owed;
  int64_t forgotten = 0;
  const TasksById& stopped = cluster.tasks().Of(model::DesiredStatus::kStopped);
  for (; forgotten < budget && !stopped.empty(); ++forgotten) {
    TaskEntry& task = *stopped.begin()->entry;
    Owe(owed, cluster, *task.record);
    decision.DeleteTask(cluster, task);
  }
  PayVersions(decision, owed);
  const ClusterState::Instances& instances = cluster.instances();
  for (; forgotten < budget && !instances.empty(); ++forgotten) {
    decision.DeleteInstance(cluster, *instances.begin()->second);
  }
  return forgotten;
}

int64_t ForgetClusters(Decision& decision, absl::Time now, int64_t budget) {
  State::Impl& state = decision.state();
  int64_t forgotten = 0;
  while (forgotten < budget && !state.inactive_clusters.empty()) {
    const auto& [key, cluster] = *state.inactive_clusters.begin();
    if (now - key.first < state.retention.inactive_clusters) break;
    forgotten += ForgetContents(decision, *cluster, budget - forgotten);
    if (forgotten == budget) break;
    decision.DeleteCluster(*cluster);
    ++forgotten;
  }
  return forgotten;
}

int64_t ForgetTokens(Decision& decision, absl::Time now, int64_t budget) {
  State::Impl& state = decision.state();
  int64_t forgotten = 0;
  while (forgotten < budget && !state.tokens.empty()) {
    const auto& [key, cluster] = *state.tokens.begin();
    if (now - key.first < state.retention.client_tokens) break;
    const std::string token = key.second.substr(cluster->record()->name.value.size() + 1);
    decision.DeleteToken(*cluster, token);
    ++forgotten;
  }
  return forgotten;
}

// Nothing is written for it, so it needs no budget.
void ForgetFailures(State::Impl& state, absl::Time now) {
  for (const auto& [name, cluster] : state.clusters) {
    cluster->failures().ForgetBefore(now - state.retention.failed_placements);
  }
}

}  // namespace

Outcome<Tick::Reply> Decide(State& state, const Tick&, Context context) {
  Decision decision(state);
  int64_t budget = kForgottenPerTickMax;
  budget -= ForgetTasks(decision, context.now, budget);
  budget -= ForgetInstances(decision, context.now, budget);
  budget -= ForgetClusters(decision, context.now, budget);
  ForgetTokens(decision, context.now, budget);
  ForgetFailures(decision.state(), context.now);
  return decision.Answer(Tick::Reply{});
}

}  // namespace berth::scheduler

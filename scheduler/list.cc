// The List actions: one page of ids in a fixed order, from the key after the page before, so that
// what comes and goes between two pages is neither shown twice nor skipped over.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/errors.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

using model::DefinitionId;
using model::InstanceStatus;

// Fills the page from [from, to) with what `pick` makes of each entry; nothing skips it. Returns
// whether one more would have come.
template <class Iterator, class Item, class Pick>
bool FillPage(Iterator from, Iterator to, int64_t limit, std::vector<Item>& page, Pick pick) {
  BERTH_CHECK(limit > 0);
  for (; from != to; ++from) {
    std::optional<Item> item = pick(*from);
    if (!item) continue;
    if (static_cast<int64_t>(page.size()) == limit) return true;
    page.push_back(*std::move(item));
  }
  return false;
}

bool Matches(const ListTasks& command, const model::Task& task) {
  if (command.instance && task.instance != *command.instance) return false;
  if (command.family && task.definition->id.family != *command.family) return false;
  if (command.started_by && task.started_by != *command.started_by) return false;
  if (command.launch_type && task.launch_type != *command.launch_type) return false;
  return true;
}

// The smallest index that holds everything asked for; null when one of them knows no such task.
const TasksById* ChooseIndex(const ClusterState& cluster, const ListTasks& command,
                             const InstanceEntry* instance) {
  const TasksById* best = &cluster.tasks().Of(command.desired_status);
  const auto consider = [&](const TaskIndex* index) {
    if (best == nullptr || index == nullptr) {
      best = nullptr;
      return;
    }
    const TasksById& tasks = index->Of(command.desired_status);
    if (tasks.size() < best->size()) best = &tasks;
  };
  if (instance != nullptr) consider(&instance->tasks);
  if (command.family) consider(cluster.TasksOfFamily(*command.family));
  if (command.started_by && !command.started_by->empty()) {
    consider(cluster.TasksStartedBy(*command.started_by));
  }
  return best;
}

}  // namespace

Outcome<ListClusters::Reply> Decide(State& state, const ListClusters& command, Context) {
  Decision decision(state);
  const auto& clusters = decision.state().active_clusters;
  decision.Saw(decision.state().newest_cluster_change);
  ListClusters::Reply reply;
  reply.more = FillPage(clusters.upper_bound(model::ClusterName{command.after}), clusters.end(),
                        command.limit, reply.names,
                        [](const model::ClusterName& name) { return std::optional(name); });
  return decision.Answer(std::move(reply));
}

Outcome<ListTaskDefinitions::Reply> Decide(State& state, const ListTaskDefinitions& command,
                                           Context) {
  Decision decision(state);
  const Definitions& definitions = decision.state().definitions;
  decision.Saw(definitions.newest_change());
  const auto& all = definitions.WithStatus(command.status);
  auto from = all.begin();
  auto to = all.end();
  std::optional<DefinitionId> after = command.after;
  if (command.family) {
    const DefinitionId lowest{.family = *command.family, .revision = 0};
    const DefinitionId highest{.family = *command.family,
                               .revision = std::numeric_limits<int64_t>::max()};
    from = all.lower_bound(lowest);
    to = all.upper_bound(highest);
    if (after) after = std::clamp(*after, lowest, highest);
  }
  const auto pick = [](const DefinitionId& id) { return std::optional(id); };
  ListTaskDefinitions::Reply reply;
  if (command.descending) {
    if (after) to = all.lower_bound(*after);
    reply.more = FillPage(std::make_reverse_iterator(to), std::make_reverse_iterator(from),
                          command.limit, reply.ids, pick);
  } else {
    if (after) from = all.upper_bound(*after);
    reply.more = FillPage(from, to, command.limit, reply.ids, pick);
  }
  return decision.Answer(std::move(reply));
}

Outcome<ListTaskDefinitionFamilies::Reply> Decide(State& state,
                                                  const ListTaskDefinitionFamilies& command,
                                                  Context) {
  Decision decision(state);
  const Definitions& definitions = decision.state().definitions;
  decision.Saw(definitions.newest_change());
  const absl::btree_set<std::string>& families = definitions.Families(command.filter);
  // Behind every name that begins with the prefix: names are ASCII.
  const std::string end = command.prefix + '';
  const auto from = command.after < command.prefix
                        ? families.lower_bound(command.prefix)
                        : families.upper_bound(std::min(command.after, end));
  ListTaskDefinitionFamilies::Reply reply;
  reply.more = FillPage(from, families.upper_bound(end), command.limit, reply.families,
                        [](const std::string& family) { return std::optional(family); });
  return decision.Answer(std::move(reply));
}

Outcome<ListContainerInstances::Reply> Decide(State& state, const ListContainerInstances& command,
                                              Context) {
  using Reply = ListContainerInstances::Reply;
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (command.status == InstanceStatus::kInactive) {
    return decision.Refuse<Reply>(model::InvalidParameter(
        "status is INACTIVE; it must be one of ACTIVE, DRAINING, REGISTERING, DEREGISTERING, "
        "REGISTRATION_FAILED"));
  }
  decision.Saw(cluster->newest_change());
  const ClusterState::Instances& instances = cluster->instances();
  Reply reply;
  reply.more = FillPage(
      instances.upper_bound(model::InstanceId{command.after}), instances.end(), command.limit,
      reply.ids, [&](const auto& entry) -> std::optional<model::InstanceId> {
        const InstanceStatus status = entry.second->record->status;
        if (command.status ? status != *command.status : status == InstanceStatus::kInactive) {
          return std::nullopt;
        }
        if (command.filter != nullptr &&
            !cluster->inventory().Matches(entry.first, *command.filter)) {
          return std::nullopt;
        }
        return entry.first;
      });
  return decision.Answer(std::move(reply));
}

Outcome<ListTasks::Reply> Decide(State& state, const ListTasks& command, Context) {
  using Reply = ListTasks::Reply;
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  const InstanceEntry* instance = nullptr;
  if (command.instance) {
    instance = cluster->FindInstance(*command.instance);
    if (instance == nullptr) {
      decision.SawNothing();
      return decision.Refuse<Reply>(model::InstanceNotFound(command.instance->value));
    }
  }

  decision.Saw(cluster->newest_change());
  Reply reply;
  const TasksById* tasks = ChooseIndex(*cluster, command, instance);
  if (command.pending || tasks == nullptr) return decision.Answer(std::move(reply));
  reply.more = FillPage(tasks->upper_bound(TaskKey(command.after)), tasks->end(), command.limit,
                        reply.ids, [&](const TaskRef& ref) -> std::optional<model::TaskId> {
                          const model::Task& task = *ref.entry->record;
                          if (!Matches(command, task)) return std::nullopt;
                          return task.id;
                        });
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

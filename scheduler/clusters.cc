// CreateCluster.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/errors.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

constexpr char kEmptyDocument[] = "{}";

bool IsAlike(const CreateCluster& command, const std::string& document) {
  return std::find(command.alike.begin(), command.alike.end(), document) != command.alike.end();
}

// A bare CreateCluster asks for no more than that the cluster be there: agents send it at every
// start.
bool AsksForTheSame(const CreateCluster& command, const model::Cluster& cluster) {
  const bool bare = (command.document == kEmptyDocument || IsAlike(command, kEmptyDocument)) &&
                    command.tags.empty() && !command.has_settings;
  if (bare) return true;
  if (command.tags != cluster.tags) return false;
  return command.document == cluster.document || IsAlike(command, cluster.document);
}

// Nothing of a deleted cluster shows in the one that takes its name. Such a cluster has no instance
// that is not INACTIVE and no task that is not STOPPED.
void ForgetContents(Decision& decision, ClusterState& cluster) {
  const TasksById& stopped = cluster.tasks().Of(model::DesiredStatus::kStopped);
  while (!stopped.empty()) decision.DeleteTask(cluster, *stopped.begin()->entry);
  const ClusterState::Instances& instances = cluster.instances();
  while (!instances.empty()) decision.DeleteInstance(cluster, *instances.begin()->second);
}

}  // namespace

Outcome<CreateCluster::Reply> Decide(State& state, const CreateCluster& command, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.name);
  if (cluster != nullptr && cluster->active()) {
    decision.Saw(cluster->newest_change());
    if (!AsksForTheSame(command, *cluster->record())) {
      return decision.Refuse<ClusterSnapshot>(model::InvalidParameter(
          "Arguments on this idempotent request are inconsistent with arguments used in previous "
          "request(s)."));
    }
    return decision.Answer(cluster->Snapshot());
  }

  model::Cluster record{.name = command.name,
                        .document = command.document,
                        .tags = command.tags,
                        .created_at = context.now};
  if (cluster == nullptr) {
    cluster = &decision.AddCluster(std::move(record));
  } else {
    ForgetContents(decision, *cluster);
    record.sequence = cluster->record()->sequence;
    decision.PutCluster(*cluster, std::move(record));
  }
  return decision.Answer(cluster->Snapshot());
}

}  // namespace berth::scheduler

// CreateCluster, UpdateCluster, DeleteCluster.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/errors.h"
#include "scheduler/decision.h"
#include "scheduler/gpu_policy_tag.h"

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

// In the order in which ECS looks: services, of which there are none yet, instances, tasks.
absl::Status CheckEmpty(const ClusterState& cluster) {
  if (cluster.registered_instances() > 0) {
    return model::MakeError(model::ErrorKind::kClusterContainsInstances,
                            "The Cluster cannot be deleted while Container Instances are active or "
                            "draining.");
  }
  // A task that is not STOPPED is on a registered instance, as long as no task waits for one.
  const TasksById& wanted = cluster.tasks().Of(model::DesiredStatus::kRunning);
  if (!wanted.empty()) {
    return model::MakeError(model::ErrorKind::kClusterContainsTasks,
                            "The Cluster cannot be deleted while Tasks are active.");
  }
  return absl::OkStatus();
}

}  // namespace

Outcome<CreateCluster::Reply> Decide(State& state, const CreateCluster& command, Context context) {
  Decision decision(state);
  if (absl::Status status = CheckGpuPolicyTag(command.tags); !status.ok()) {
    return decision.Refuse<ClusterSnapshot>(std::move(status));
  }
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

Outcome<UpdateCluster::Reply> Decide(State& state, const UpdateCluster& command, Context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindActiveCluster(command.name);
  if (cluster == nullptr) return decision.Refuse<UpdateCluster::Reply>(model::ClusterNotFound());
  decision.Saw(cluster->newest_change());
  const model::Cluster& record = *cluster->record();
  if (record.document != command.expected_document) {
    return decision.Answer(UpdateCluster::Reply{});
  }
  if (record.document != command.document) {
    model::Cluster next = record;
    next.document = command.document;
    decision.PutCluster(*cluster, std::move(next));
  }
  return decision.Answer(UpdateCluster::Reply{cluster->Snapshot()});
}

Outcome<DeleteCluster::Reply> Decide(State& state, const DeleteCluster& command, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.name);
  if (cluster == nullptr) return decision.Refuse<ClusterSnapshot>(model::ClusterNotFound());
  decision.Saw(cluster->newest_change());
  // Sent again, when the first answer was lost.
  if (!cluster->active()) return decision.Answer(cluster->Snapshot());
  if (absl::Status empty = CheckEmpty(*cluster); !empty.ok()) {
    return decision.Refuse<ClusterSnapshot>(std::move(empty));
  }
  model::Cluster next = *cluster->record();
  next.status = model::ClusterStatus::kInactive;
  next.deleted_at = context.now;
  next.tags.clear();
  decision.PutCluster(*cluster, std::move(next));
  return decision.Answer(cluster->Snapshot());
}

}  // namespace berth::scheduler

// DeregisterContainerInstance: an instance leaves the cluster for good.
#include <utility>

#include "model/errors.h"
#include "scheduler/agent_key.h"
#include "scheduler/decision.h"
#include "scheduler/task_end.h"

namespace berth::scheduler {
namespace {

constexpr char kForcedReason[] = "Container instance deregistration forced by user.";

}  // namespace

Outcome<DeregisterContainerInstance::Reply> Decide(State& state,
                                                   const DeregisterContainerInstance& command,
                                                   Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<InstanceSnapshot>(model::ClusterNotFound());
  InstanceEntry* entry = cluster->FindInstance(command.id);
  if (entry == nullptr) {
    decision.SawNothing();
    return decision.Refuse<InstanceSnapshot>(model::InstanceNotFound(command.id.value));
  }
  decision.Saw(entry->change);
  if (absl::Status status = CheckSpeaksFor(decision.state().account, command.agent_key, *entry);
      !status.ok()) {
    return decision.Refuse<InstanceSnapshot>(std::move(status));
  }
  if (entry->record->status != model::InstanceStatus::kInactive) {
    if (!entry->live.empty() && !command.force) {
      return decision.Refuse<InstanceSnapshot>(
          model::InvalidParameter("Found running tasks on the instance."));
    }
    ForceOut(decision, *cluster, *entry,
             {.code = model::StopCode::kUserInitiated, .reason = kForcedReason}, context.now);
  }
  return decision.Answer(cluster->Snapshot(*entry));
}

}  // namespace berth::scheduler

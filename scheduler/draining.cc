// UpdateContainerInstancesState: instances go to DRAINING, where they take no tasks, and back to
// ACTIVE. Tasks that were started one by one stay where they are (ecs-api.md 6.4).
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/agent_key.h"
#include "scheduler/decision.h"
#include "scheduler/unique_ids.h"

namespace berth::scheduler {
namespace {

using model::InstanceStatus;
using Reply = UpdateContainerInstancesState::Reply;

constexpr size_t kInstancesMax = 10;

absl::Status CheckArguments(const UpdateContainerInstancesState& command) {
  if (command.status != InstanceStatus::kActive && command.status != InstanceStatus::kDraining) {
    return model::InvalidParameter("Container instance status should be one of [ACTIVE, DRAINING]");
  }
  if (command.ids.empty()) return model::ClientError("Container Instances cannot be empty.");
  if (command.ids.size() > kInstancesMax) {
    return model::InvalidParameter(
        absl::StrFormat("instanceIds can have at most %d items.", kInstancesMax));
  }
  return absl::OkStatus();
}

absl::Status CheckKey(const Account& account, const ClusterState& cluster,
                      const UpdateContainerInstancesState& command) {
  for (const model::InstanceId& id : command.ids) {
    const InstanceEntry* entry = cluster.FindInstance(id);
    if (entry == nullptr) continue;
    absl::Status status = CheckSpeaksFor(account, command.agent_key, *entry);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void SetStatus(Decision& decision, ClusterState& cluster, InstanceEntry& entry,
               InstanceStatus status) {
  if (entry.record->status == status) return;
  model::ContainerInstance next = *entry.record;
  next.status = status;
  next.version += 1;
  decision.PutInstance(cluster, entry, std::move(next));
}

}  // namespace

Outcome<Reply> Decide(State& state, const UpdateContainerInstancesState& command, Context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (absl::Status status = CheckArguments(command); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  if (absl::Status status = CheckKey(decision.state().account, *cluster, command); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }

  Reply reply;
  for (const model::InstanceId& id : WithoutRepeats(command.ids)) {
    InstanceEntry* entry = cluster->FindInstance(id);
    if (entry == nullptr) {
      decision.SawNothing();
      reply.missing.push_back(id);
      continue;
    }
    decision.Saw(entry->change);
    if (entry->record->status == InstanceStatus::kInactive) {
      reply.inactive.push_back(id);
      continue;
    }
    SetStatus(decision, *cluster, *entry, command.status);
    reply.instances.push_back(cluster->Snapshot(*entry));
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

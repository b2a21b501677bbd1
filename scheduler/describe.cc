// The Describe actions: what is there, in the order asked for, and which of it is not.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/decision.h"
#include "scheduler/unique_ids.h"

namespace berth::scheduler {
namespace {

constexpr size_t kDescribeMax = 100;
constexpr char kDefaultCluster[] = "default";

absl::Status CheckBatch(const char* member, size_t size) {
  if (size <= kDescribeMax) return absl::OkStatus();
  return model::InvalidParameter(
      absl::StrFormat("%s can have at most %d items.", member, kDescribeMax));
}

}  // namespace

Outcome<DescribeClusters::Reply> Decide(State& state, const DescribeClusters& command, Context) {
  Decision decision(state);
  if (absl::Status status = CheckBatch("clusters", command.names.size()); !status.ok()) {
    return decision.Refuse<DescribeClusters::Reply>(std::move(status));
  }
  const bool asks_for_default = command.names.empty();
  const std::vector<model::ClusterName> names =
      asks_for_default ? std::vector{model::ClusterName{kDefaultCluster}}
                       : WithoutRepeats(command.names);
  DescribeClusters::Reply reply;
  for (const model::ClusterName& name : names) {
    if (const ClusterState* cluster = decision.state().FindCluster(name)) {
      decision.Saw(cluster->newest_change());
      reply.clusters.push_back(cluster->Snapshot());
    } else {
      decision.SawNothing();
      if (!asks_for_default) reply.missing.push_back(name);
    }
  }
  return decision.Answer(std::move(reply));
}

Outcome<DescribeTaskDefinition::Reply> Decide(State& state, const DescribeTaskDefinition& command,
                                              Context) {
  Decision decision(state);
  const DefinitionEntry* entry = decision.state().definitions.Resolve(command.definition);
  if (entry == nullptr) {
    decision.SawNothing();
    return decision.Refuse<DefinitionRecord>(model::UnableToDescribeDefinition());
  }
  decision.Saw(entry->change);
  return decision.Answer(entry->record);
}

Outcome<DescribeContainerInstances::Reply> Decide(State& state,
                                                  const DescribeContainerInstances& command,
                                                  Context) {
  using Reply = DescribeContainerInstances::Reply;
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (command.ids.empty()) {
    return decision.Refuse<Reply>(model::ClientError("Container Instances cannot be empty."));
  }
  if (absl::Status status = CheckBatch("instanceIds", command.ids.size()); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  Reply reply;
  for (const model::InstanceId& id : WithoutRepeats(command.ids)) {
    if (InstanceEntry* entry = cluster->FindInstance(id)) {
      decision.Saw(entry->change);
      reply.instances.push_back(cluster->Snapshot(*entry));
    } else {
      decision.SawNothing();
      reply.missing.push_back(id);
    }
  }
  return decision.Answer(std::move(reply));
}

Outcome<DescribeTasks::Reply> Decide(State& state, const DescribeTasks& command, Context) {
  using Reply = DescribeTasks::Reply;
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (command.ids.empty()) {
    return decision.Refuse<Reply>(model::InvalidParameter("Tasks cannot be empty."));
  }
  if (absl::Status status = CheckBatch("taskIds", command.ids.size()); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  Reply reply;
  for (const model::TaskId& id : WithoutRepeats(command.ids)) {
    if (const TaskEntry* entry = cluster->FindTask(id)) {
      decision.Saw(entry->change);
      reply.tasks.push_back(entry->record);
    } else {
      decision.SawNothing();
      reply.missing.push_back(id);
    }
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

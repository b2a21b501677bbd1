// UpdateContainerInstancesState sets container instances DRAINING, so that they take no more tasks,
// or ACTIVE again.
#include <utility>

#include "absl/time/clock.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/common.h"
#include "api/shapes/container_instance.h"
#include "model/task_status.h"
#include "scheduler/commands.h"

namespace berth::api {

struct UpdateContainerInstancesStateRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::vector<std::string> instances = {};
  std::string status = {};
};
template <>
inline constexpr auto kFields<UpdateContainerInstancesStateRequest> = std::array{
    Field<&UpdateContainerInstancesStateRequest::cluster>("cluster"),
    Field<&UpdateContainerInstancesStateRequest::instances>("containerInstances"),
    Field<&UpdateContainerInstancesStateRequest::status>("status"),
};

namespace {

constexpr std::string_view kInactive = "INACTIVE";

}  // namespace

net::awaitable<Answer> UpdateContainerInstancesState(Call call) {
  const auto request = Decode<UpdateContainerInstancesStateRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  auto ids = InstanceArguments(call.scope(), *cluster, request.instances);
  if (!ids.ok()) co_return ids.status();

  // Other words than the two are refused when the cluster has been looked at, and INACTIVE is one.
  scheduler::UpdateContainerInstancesState command{
      .cluster = *cluster,
      .ids = *std::move(ids),
      .status =
          model::ParseInstanceStatus(request.status).value_or(model::InstanceStatus::kInactive),
      .agent_key = call.caller.agent_key()};
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("containerInstances");
  for (const scheduler::InstanceSnapshot& instance : reply->instances) {
    WriteContainerInstance(instance, {.tags = false}, call.scope(), absl::Now(), writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const model::InstanceId& id : reply->missing) {
    WriteFailure(model::InstanceArn(call.scope(), *cluster, id), kMissing, "", writer);
  }
  for (const model::InstanceId& id : reply->inactive) {
    WriteFailure(model::InstanceArn(call.scope(), *cluster, id), kInactive, "", writer);
  }
  writer.EndArray();
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

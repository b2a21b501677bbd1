// DescribeContainerInstances shows machines: what they have, what is left, and how each GPU is
// used.
#include <utility>

#include "absl/time/clock.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/common.h"
#include "api/shapes/container_instance.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DescribeContainerInstancesRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::vector<std::string> instances = {};
  std::vector<std::string> include = {};
};
template <>
inline constexpr auto kFields<DescribeContainerInstancesRequest> = std::array{
    Field<&DescribeContainerInstancesRequest::cluster>("cluster"),
    Field<&DescribeContainerInstancesRequest::instances>("containerInstances"),
    Field<&DescribeContainerInstancesRequest::include>("include"),
};

net::awaitable<Answer> DescribeContainerInstances(Call call) {
  const auto request = Decode<DescribeContainerInstancesRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();

  if (const auto unknown = FindUnknownWord(call.body.root())) {
    co_return model::InvalidParameter(*unknown);
  }
  scheduler::DescribeContainerInstances command{.cluster = *cluster};
  auto ids = InstanceArguments(call.scope(), *cluster, request.instances);
  if (!ids.ok()) co_return ids.status();
  command.ids = *std::move(ids);
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  const InstanceParts parts{.tags = Includes(request.include, "TAGS"),
                            .health = Includes(request.include, "CONTAINER_INSTANCE_HEALTH")};
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("containerInstances");
  for (const scheduler::InstanceSnapshot& instance : reply->instances) {
    WriteContainerInstance(instance, parts, call.scope(), absl::Now(), writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const model::InstanceId& id : reply->missing) {
    WriteFailure(model::InstanceArn(call.scope(), *cluster, id), kMissing, "", writer);
  }
  writer.EndArray();
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

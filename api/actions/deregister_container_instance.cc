// DeregisterContainerInstance takes a machine out of its cluster; with `force` although tasks are
// on it, which are then STOPPED as far as the cluster is concerned.
#include <utility>

#include "absl/time/clock.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/container_instance.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DeregisterContainerInstanceRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string instance = {};
  bool force = false;
};
template <>
inline constexpr auto kFields<DeregisterContainerInstanceRequest> = std::array{
    Field<&DeregisterContainerInstanceRequest::cluster>("cluster"),
    Field<&DeregisterContainerInstanceRequest::instance>("containerInstance"),
    Field<&DeregisterContainerInstanceRequest::force>("force"),
};

net::awaitable<Answer> DeregisterContainerInstance(Call call) {
  const auto request = Decode<DeregisterContainerInstanceRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  if (request.instance.empty()) {
    co_return model::InvalidParameter("Container Instance can not be blank.");
  }
  absl::StatusOr<model::InstanceId> id =
      model::ParseInstance(call.scope(), *cluster, request.instance);
  if (!id.ok()) co_return id.status();

  scheduler::DeregisterContainerInstance command{.cluster = *std::move(cluster),
                                                 .id = *std::move(id),
                                                 .force = request.force,
                                                 .agent_key = call.caller.agent_key()};
  absl::StatusOr<scheduler::InstanceSnapshot> instance =
      co_await call.context.loop.Submit(std::move(command));
  if (!instance.ok()) co_return instance.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("containerInstance");
  WriteContainerInstance(*instance, {}, call.scope(), absl::Now(), writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

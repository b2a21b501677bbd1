// DeleteCluster makes an empty cluster INACTIVE; it stays describable for a while.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/cluster.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DeleteClusterRequest {
  std::string cluster = {};
};
template <>
inline constexpr auto kFields<DeleteClusterRequest> = std::array{
    Field<&DeleteClusterRequest::cluster>("cluster"),
};

net::awaitable<Answer> DeleteCluster(Call call) {
  const auto request = Decode<DeleteClusterRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> name = RequiredClusterArgument(call.scope(), request.cluster);
  if (!name.ok()) co_return name.status();

  scheduler::DeleteCluster command{.name = *std::move(name)};
  const absl::StatusOr<scheduler::ClusterSnapshot> cluster =
      co_await call.context.loop.Submit(std::move(command));
  if (!cluster.ok()) co_return cluster.status();
  co_return WriteClusterAnswer(*cluster, call.scope());
}

}  // namespace berth::api

// UpdateContainerAgent: there never is an update that the server could order. Agents are a part of
// berth and are upgraded with it, on their machines.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/errors.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct UpdateContainerAgentRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string instance = {};
};
template <>
inline constexpr auto kFields<UpdateContainerAgentRequest> = std::array{
    Field<&UpdateContainerAgentRequest::cluster>("cluster"),
    Field<&UpdateContainerAgentRequest::instance>("containerInstance"),
};

net::awaitable<Answer> UpdateContainerAgent(Call call) {
  const auto request = Decode<UpdateContainerAgentRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  if (request.instance.empty()) {
    co_return model::InvalidParameter("Container Instance can not be blank.");
  }
  auto id = model::ParseInstance(call.scope(), *cluster, request.instance);
  if (!id.ok()) co_return id.status();

  scheduler::DescribeContainerInstances command{.cluster = *cluster, .ids = {*id}};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  const bool there = !reply->instances.empty() &&
                     reply->instances[0].record->status != model::InstanceStatus::kInactive;
  if (!there) co_return model::InstanceNotFound(id->value);
  co_return MakeApiError(
      ApiError::kNoUpdateAvailable,
      absl::StrFormat("There is no update for the agent of container instance %s: agents are "
                      "upgraded by installing a new version of berth on their machines",
                      id->value));
}

}  // namespace berth::api

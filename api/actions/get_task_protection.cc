// GetTaskProtection says which tasks of services the scheduler may not end now, and until when.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/task_protection.h"
#include "scheduler/commands.h"

namespace berth::api {

struct GetTaskProtectionRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::vector<std::string> tasks = {};
};
template <>
inline constexpr auto kFields<GetTaskProtectionRequest> = std::array{
    Field<&GetTaskProtectionRequest::cluster>("cluster"),
    Field<&GetTaskProtectionRequest::tasks>("tasks"),
};

net::awaitable<Answer> GetTaskProtection(Call call) {
  const auto request = Decode<GetTaskProtectionRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  auto tasks = TaskArguments(call.scope(), *cluster, request.tasks);
  if (!tasks.ok()) co_return tasks.status();

  scheduler::GetTaskProtection command{
      .cluster = *cluster, .tasks = *std::move(tasks), .agent_key = call.caller.agent_key()};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return WriteTaskProtection(*reply, *cluster, call.scope());
}

}  // namespace berth::api

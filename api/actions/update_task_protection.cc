// UpdateTaskProtection keeps the scheduler from ending tasks of services of its own accord for a
// while, or lets it again. StopTask and failures end them all the same.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/task_protection.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct UpdateTaskProtectionRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::vector<std::string> tasks = {};
  std::optional<bool> enabled = std::nullopt;
  std::optional<int64_t> expires_in_minutes = std::nullopt;
};
template <>
inline constexpr auto kFields<UpdateTaskProtectionRequest> = std::array{
    Field<&UpdateTaskProtectionRequest::cluster>("cluster"),
    Field<&UpdateTaskProtectionRequest::tasks>("tasks"),
    Field<&UpdateTaskProtectionRequest::enabled>("protectionEnabled"),
    Field<&UpdateTaskProtectionRequest::expires_in_minutes>("expiresInMinutes"),
};

namespace {

constexpr int64_t kMinutesDefault = 120;

}  // namespace

net::awaitable<Answer> UpdateTaskProtection(Call call) {
  const auto request = Decode<UpdateTaskProtectionRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  auto tasks = TaskArguments(call.scope(), *cluster, request.tasks);
  if (!tasks.ok()) co_return tasks.status();
  if (!request.enabled) {
    co_return model::InvalidParameter("protectionEnabled is missing: it should be true or false");
  }

  scheduler::UpdateTaskProtection command{
      .cluster = *cluster,
      .tasks = *std::move(tasks),
      .enabled = *request.enabled,
      .duration = absl::Minutes(request.expires_in_minutes.value_or(kMinutesDefault)),
      .agent_key = call.caller.agent_key()};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return WriteTaskProtection(*reply, *cluster, call.scope());
}

}  // namespace berth::api

// StartTask starts one task on each container instance that is named. One that cannot be there is
// no error: it shows in `failures`.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/launch_request.h"
#include "scheduler/commands.h"

namespace berth::api {

// Beside what RunTask has too (launch_request.h).
struct StartTaskRequest {
  std::vector<std::string> instances = {};
};
template <>
inline constexpr auto kFields<StartTaskRequest> = std::array{
    Field<&StartTaskRequest::instances>("containerInstances"),
};

net::awaitable<Answer> StartTask(Call call) {
  absl::StatusOr<scheduler::RunTask> task = ParseLaunch(call.body.root(), call.scope());
  if (!task.ok()) co_return task.status();
  const model::ClusterName cluster = task->cluster;
  const auto request = Decode<StartTaskRequest>(call.body.root());
  auto instances = InstanceArguments(call.scope(), cluster, request.instances);
  if (!instances.ok()) co_return instances.status();

  scheduler::StartTask command{.instances = *std::move(instances), .task = *std::move(task)};
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return WriteLaunched(*reply, cluster, call.scope());
}

}  // namespace berth::api

// SubmitContainerStateChange: an agent says how far one container has come. Taken as
// SubmitTaskStateChange is.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/state_report.h"
#include "scheduler/commands.h"

namespace berth::api {

struct SubmitContainerStateChangeRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string task = {};
  std::string container = {};
  std::string runtime_id = {};
  std::string status = {};
  std::optional<int64_t> exit_code = std::nullopt;
  std::string reason = {};
  std::optional<std::vector<NetworkBindingArgument>> network_bindings = std::nullopt;
};
template <>
inline constexpr auto kFields<SubmitContainerStateChangeRequest> = std::array{
    Field<&SubmitContainerStateChangeRequest::cluster>("cluster"),
    Field<&SubmitContainerStateChangeRequest::task>("task"),
    Field<&SubmitContainerStateChangeRequest::container>("containerName"),
    Field<&SubmitContainerStateChangeRequest::runtime_id>("runtimeId"),
    Field<&SubmitContainerStateChangeRequest::status>("status"),
    Field<&SubmitContainerStateChangeRequest::exit_code>("exitCode"),
    Field<&SubmitContainerStateChangeRequest::reason>("reason"),
    Field<&SubmitContainerStateChangeRequest::network_bindings>("networkBindings"),
};

net::awaitable<Answer> SubmitContainerStateChange(Call call) {
  auto request = Decode<SubmitContainerStateChangeRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  absl::StatusOr<model::TaskId> task = model::ParseTask(call.scope(), *cluster, request.task);
  if (!task.ok()) co_return task.status();
  ContainerReportArgument container{.name = std::move(request.container),
                                    .runtime_id = std::move(request.runtime_id),
                                    .exit_code = request.exit_code,
                                    .network_bindings = std::move(request.network_bindings),
                                    .reason = std::move(request.reason),
                                    .status = std::move(request.status)};
  absl::StatusOr<scheduler::ContainerReport> report = ParseContainerReport(std::move(container));
  if (!report.ok()) co_return report.status();

  scheduler::ReportTask command{.cluster = *std::move(cluster),
                                .task = *std::move(task),
                                .agent_key = call.caller.agent_key()};
  command.containers.push_back(*std::move(report));
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return Acknowledgment();
}

}  // namespace berth::api

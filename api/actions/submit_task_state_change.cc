// SubmitTaskStateChange: an agent says how far a task has come. A report that is old, repeated or
// about a task that is unknown is acknowledged and changes nothing: refusing it would make the
// agent send it for ever.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/state_report.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

template <>
inline constexpr auto kFields<ContainerReportArgument> = std::array{
    Field<&ContainerReportArgument::name>("containerName"),
    Field<&ContainerReportArgument::image_digest>("imageDigest"),
    Field<&ContainerReportArgument::runtime_id>("runtimeId"),
    Field<&ContainerReportArgument::exit_code>("exitCode"),
    Field<&ContainerReportArgument::network_bindings>("networkBindings"),
    Field<&ContainerReportArgument::reason>("reason"),
    Field<&ContainerReportArgument::status>("status"),
};

struct SubmitTaskStateChangeRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string task = {};
  std::string status = {};
  std::string reason = {};
  std::vector<ContainerReportArgument> containers = {};
  std::optional<absl::Time> pull_started_at = std::nullopt;
  std::optional<absl::Time> pull_stopped_at = std::nullopt;
  std::optional<absl::Time> execution_stopped_at = std::nullopt;
};
template <>
inline constexpr auto kFields<SubmitTaskStateChangeRequest> = std::array{
    Field<&SubmitTaskStateChangeRequest::cluster>("cluster"),
    Field<&SubmitTaskStateChangeRequest::task>("task"),
    Field<&SubmitTaskStateChangeRequest::status>("status"),
    Field<&SubmitTaskStateChangeRequest::reason>("reason"),
    Field<&SubmitTaskStateChangeRequest::containers>("containers"),
    Field<&SubmitTaskStateChangeRequest::pull_started_at>("pullStartedAt"),
    Field<&SubmitTaskStateChangeRequest::pull_stopped_at>("pullStoppedAt"),
    Field<&SubmitTaskStateChangeRequest::execution_stopped_at>("executionStoppedAt"),
};

namespace {

absl::StatusOr<std::optional<model::TaskStatus>> ParseReportedStatus(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "PENDING") return model::TaskStatus::kPending;
  if (text == "RUNNING") return model::TaskStatus::kRunning;
  if (text == "STOPPED") return model::TaskStatus::kStopped;
  return model::InvalidParameter(
      absl::StrFormat("status is '%s': it should be one of PENDING, RUNNING, STOPPED", text));
}

absl::StatusOr<scheduler::ReportTask> MakeCommand(SubmitTaskStateChangeRequest request,
                                                  const model::ArnScope& scope) {
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(scope, request.cluster);
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<model::TaskId> task = model::ParseTask(scope, *cluster, request.task);
  if (!task.ok()) return task.status();
  const auto status = ParseReportedStatus(request.status);
  if (!status.ok()) return status.status();
  scheduler::ReportTask command{.cluster = *std::move(cluster),
                                .task = *std::move(task),
                                .status = *status,
                                .reason = std::move(request.reason),
                                .pull_started_at = request.pull_started_at,
                                .pull_stopped_at = request.pull_stopped_at,
                                .execution_stopped_at = request.execution_stopped_at};
  for (ContainerReportArgument& container : request.containers) {
    absl::StatusOr<scheduler::ContainerReport> report = ParseContainerReport(std::move(container));
    if (!report.ok()) return report.status();
    command.containers.push_back(*std::move(report));
  }
  return command;
}

}  // namespace

net::awaitable<Answer> SubmitTaskStateChange(Call call) {
  auto request = Decode<SubmitTaskStateChangeRequest>(call.body.root());
  // About attachments alone, of which Berth has none.
  const JsonView attachments = call.body.root().Find("attachments");
  if (request.task.empty() && attachments && attachments.size() > 0) co_return Acknowledgment();
  absl::StatusOr<scheduler::ReportTask> command = MakeCommand(std::move(request), call.scope());
  if (!command.ok()) co_return command.status();
  command->agent_key = call.caller.agent_key();

  const auto reply = co_await call.context.loop.Submit(*std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return Acknowledgment();
}

}  // namespace berth::api

// ListTasks names tasks, by ARN. All filters must hold; without desiredStatus it is those that
// should be RUNNING.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/errors.h"
#include "api/paging.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ListTasksRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::optional<std::string> instance = std::nullopt;
  std::optional<std::string> family = std::nullopt;
  std::optional<std::string> started_by = std::nullopt;
  std::optional<std::string> service_name = std::nullopt;
  std::optional<std::string> launch_type = std::nullopt;
  std::optional<std::string> desired_status = std::nullopt;
  std::optional<std::string> daemon_name = std::nullopt;
};
template <>
inline constexpr auto kFields<ListTasksRequest> = std::array{
    Field<&ListTasksRequest::cluster>("cluster"),
    Field<&ListTasksRequest::instance>("containerInstance"),
    Field<&ListTasksRequest::family>("family"),
    Field<&ListTasksRequest::started_by>("startedBy"),
    Field<&ListTasksRequest::service_name>("serviceName"),
    Field<&ListTasksRequest::launch_type>("launchType"),
    Field<&ListTasksRequest::desired_status>("desiredStatus"),
    Field<&ListTasksRequest::daemon_name>("daemonName"),
};

namespace {

// An empty filter counts as none.
std::optional<std::string> NonEmpty(std::optional<std::string> text) {
  if (text && text->empty()) return std::nullopt;
  return text;
}

absl::Status AddStatus(const std::string& text, scheduler::ListTasks& command) {
  if (text == "PENDING") {
    command.pending = true;
    return absl::OkStatus();
  }
  const auto status = model::ParseDesiredStatus(text);
  if (!status) {
    return model::InvalidParameter(absl::StrFormat(
        "desiredStatus is '%s': it should be one of RUNNING, PENDING, STOPPED", text));
  }
  command.desired_status = *status;
  return absl::OkStatus();
}

absl::StatusOr<scheduler::ListTasks> MakeCommand(const ListTasksRequest& request, const Page& page,
                                                 const model::ArnScope& scope) {
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(scope, request.cluster);
  if (!cluster.ok()) return cluster.status();
  scheduler::ListTasks command{.cluster = *std::move(cluster),
                               .family = NonEmpty(request.family),
                               .started_by = NonEmpty(request.started_by),
                               .after = page.after,
                               .limit = page.limit};
  if (const auto text = NonEmpty(request.instance)) {
    absl::StatusOr<model::InstanceId> id = model::ParseInstance(scope, command.cluster, *text);
    if (!id.ok()) return id.status();
    command.instance = *std::move(id);
  }
  if (const auto text = NonEmpty(request.launch_type)) {
    command.launch_type = model::ParseLaunchType(*text);
    if (!command.launch_type) {
      return model::InvalidParameter(
          "launch type should be one of [EC2,FARGATE,EXTERNAL,MANAGED_INSTANCES]");
    }
  }
  if (const auto text = NonEmpty(request.desired_status)) {
    absl::Status added = AddStatus(*text, command);
    if (!added.ok()) return added;
  }
  if (NonEmpty(request.daemon_name)) {
    return model::InvalidParameter(
        "daemonName names no daemon: this installation has no managed daemons");
  }
  return command;
}

}  // namespace

net::awaitable<Answer> ListTasks(Call call) {
  const auto request = Decode<ListTasksRequest>(call.body.root());
  const absl::StatusOr<Page> page = ParsePage("ListTasks", call.body.root());
  if (!page.ok()) co_return page.status();
  absl::StatusOr<scheduler::ListTasks> command = MakeCommand(request, *page, call.scope());
  if (!command.ok()) co_return command.status();
  const model::ClusterName cluster = command->cluster;
  auto reply = co_await call.context.loop.Submit(*std::move(command));
  if (!reply.ok()) co_return reply.status();
  // There are no services yet, so none of them is known; the cluster is, or we were not here.
  if (NonEmpty(request.service_name)) {
    co_return MakeApiError(ApiError::kServiceNotFound, "Service not found.");
  }

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("taskArns");
  for (const model::TaskId& id : reply->ids) {
    writer.String(model::TaskArn(call.scope(), cluster, id));
  }
  writer.EndArray();
  if (!reply->ids.empty()) WriteNextToken(*page, reply->more, reply->ids.back().value, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

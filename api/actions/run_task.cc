// RunTask starts `count` tasks. One that finds no place is no error: it shows in `failures`, with
// the reason for each container instance.
#include <memory>
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/digest.h"
#include "api/errors.h"
#include "api/shapes/common.h"
#include "api/shapes/launch_arguments.h"
#include "api/shapes/task.h"
#include "api/shapes/task_override.h"
#include "scheduler/commands.h"

namespace berth::api {

struct RunTaskRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string definition = {};
  int64_t count = 1;
  std::optional<std::string> launch_type = std::nullopt;
  std::string group = {};
  std::string started_by = {};
  std::string reference_id = {};
  std::string client_token = {};
  std::string platform_version = {};
  std::string propagate_tags = {};
  bool enable_managed_tags = false;
  bool enable_execute_command = false;
  std::vector<TagArgument> tags = {};
};
template <>
inline constexpr auto kFields<RunTaskRequest> = std::array{
    Field<&RunTaskRequest::cluster>("cluster"),
    Field<&RunTaskRequest::definition>("taskDefinition"),
    Field<&RunTaskRequest::count>("count"),
    Field<&RunTaskRequest::launch_type>("launchType"),
    Field<&RunTaskRequest::group>("group"),
    Field<&RunTaskRequest::started_by>("startedBy"),
    Field<&RunTaskRequest::reference_id>("referenceId"),
    Field<&RunTaskRequest::client_token>("clientToken"),
    Field<&RunTaskRequest::platform_version>("platformVersion"),
    Field<&RunTaskRequest::propagate_tags>("propagateTags"),
    Field<&RunTaskRequest::enable_managed_tags>("enableECSManagedTags"),
    Field<&RunTaskRequest::enable_execute_command>("enableExecuteCommand"),
    Field<&RunTaskRequest::tags>("tags"),
};

namespace {

void AddNetwork(JsonView body, scheduler::RunTask& command) {
  const JsonView network = body.Find("networkConfiguration");
  if (!network || network.size() == 0) return;
  command.has_network_configuration = true;
  command.network_configuration = ToJson(network);
  const JsonView subnets = network.At(0).Find("subnets");
  command.subnets = subnets ? subnets.size() : 0;
}

absl::StatusOr<scheduler::RunTask> MakeCommand(const RunTaskRequest& request, JsonView body,
                                               const model::ArnScope& scope) {
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(scope, request.cluster);
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<model::DefinitionRef> definition =
      model::ParseDefinition(scope, request.definition);
  if (!definition.ok()) return definition.status();
  absl::Status checked = CheckLaunchArguments(body);
  absl::StatusOr<model::Tags> tags = ParseTags(request.tags);
  if (checked.ok() && !tags.ok()) checked = tags.status();

  scheduler::RunTask command{
      .cluster = *std::move(cluster),
      .definition = *std::move(definition),
      .later_refusal = std::move(checked),
      .count = request.count,
      .group = request.group,
      .started_by = request.started_by,
      .reference_id = request.reference_id,
      .client_token = request.client_token,
      // Equal requests have equal fingerprints, however they are written.
      .fingerprint = Sha256Hex(ToCanonicalJson(body, {"clientToken"})),
      .platform_version = request.platform_version,
      .tags = tags.ok() ? *std::move(tags) : model::Tags{},
      .propagate_definition_tags = request.propagate_tags == "TASK_DEFINITION",
      .enable_managed_tags = request.enable_managed_tags,
      .enable_execute_command = request.enable_execute_command};
  if (request.launch_type) command.launch_type = model::ParseLaunchType(*request.launch_type);
  if (const JsonView overrides = body.Find("overrides"); overrides && overrides.size() > 0) {
    command.overrides = std::make_shared<const model::TaskOverrides>(DecodeOverrides(overrides));
  }
  AddNetwork(body, command);
  return command;
}

}  // namespace

net::awaitable<Answer> RunTask(Call call) {
  const auto request = Decode<RunTaskRequest>(call.body.root());
  absl::StatusOr<scheduler::RunTask> command = MakeCommand(request, call.body.root(), call.scope());
  if (!command.ok()) co_return command.status();
  const model::ClusterName cluster = command->cluster;
  auto reply = co_await call.context.loop.Submit(*std::move(command));
  if (!reply.ok()) co_return InCluster(reply.status(), cluster);

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("tasks");
  for (const model::TaskRecord& task : reply->tasks) {
    WriteTask(*task, /*with_tags=*/true, call.scope(), writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const scheduler::PlacementFailure& failure : reply->failures) {
    const std::string arn = failure.instance.empty()
                                ? std::string()
                                : model::InstanceArn(call.scope(), cluster, failure.instance);
    WriteFailure(arn, failure.reason, failure.detail, writer);
  }
  writer.EndArray();
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

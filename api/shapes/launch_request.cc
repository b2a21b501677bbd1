#include "api/shapes/launch_request.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/arguments.h"
#include "api/json_writer.h"
#include "api/shapes/common.h"
#include "api/shapes/launch_arguments.h"
#include "api/shapes/task.h"
#include "api/shapes/task_override.h"

namespace berth::api {

struct LaunchRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string definition = {};
  std::string group = {};
  std::string started_by = {};
  std::string reference_id = {};
  std::string propagate_tags = {};
  bool enable_managed_tags = false;
  bool enable_execute_command = false;
  std::vector<TagArgument> tags = {};
};
template <>
inline constexpr auto kFields<LaunchRequest> = std::array{
    Field<&LaunchRequest::cluster>("cluster"),
    Field<&LaunchRequest::definition>("taskDefinition"),
    Field<&LaunchRequest::group>("group"),
    Field<&LaunchRequest::started_by>("startedBy"),
    Field<&LaunchRequest::reference_id>("referenceId"),
    Field<&LaunchRequest::propagate_tags>("propagateTags"),
    Field<&LaunchRequest::enable_managed_tags>("enableECSManagedTags"),
    Field<&LaunchRequest::enable_execute_command>("enableExecuteCommand"),
    Field<&LaunchRequest::tags>("tags"),
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

}  // namespace

absl::StatusOr<scheduler::RunTask> ParseLaunch(JsonView body, const model::ArnScope& scope) {
  const auto request = Decode<LaunchRequest>(body);
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
      .group = request.group,
      .started_by = request.started_by,
      .reference_id = request.reference_id,
      .tags = tags.ok() ? *std::move(tags) : model::Tags{},
      .propagate_definition_tags = request.propagate_tags == "TASK_DEFINITION",
      .enable_managed_tags = request.enable_managed_tags,
      .enable_execute_command = request.enable_execute_command};
  if (const JsonView overrides = body.Find("overrides"); overrides && overrides.size() > 0) {
    command.overrides = std::make_shared<const model::TaskOverrides>(DecodeOverrides(overrides));
  }
  AddNetwork(body, command);
  return command;
}

std::string WriteLaunched(const scheduler::RunTask::Reply& reply, const model::ClusterName& cluster,
                          const model::ArnScope& scope) {
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("tasks");
  for (const model::TaskRecord& task : reply.tasks) {
    WriteTask(*task, /*with_tags=*/true, scope, writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const scheduler::PlacementFailure& failure : reply.failures) {
    const std::string arn = failure.instance.empty()
                                ? std::string()
                                : model::InstanceArn(scope, cluster, failure.instance);
    WriteFailure(arn, failure.reason, failure.detail, writer);
  }
  writer.EndArray();
  writer.EndObject();
  return writer.Take();
}

}  // namespace berth::api

// RegisterContainerInstance: a machine joins a cluster, or comes back to it. The answer carries
// every attribute that was sent, or the agent ends for good.
#include <utility>

#include "absl/time/clock.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/container_instance.h"
#include "api/shapes/registration.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

template <>
inline constexpr auto kFields<model::Attribute> = std::array{
    Field<&model::Attribute::name>("name"),
    Field<&model::Attribute::value>("value"),
};

template <>
inline constexpr auto kFields<model::VersionInfo> = std::array{
    Field<&model::VersionInfo::agent_version>("agentVersion"),
    Field<&model::VersionInfo::agent_hash>("agentHash"),
    Field<&model::VersionInfo::docker_version>("dockerVersion"),
};

struct RegisterContainerInstanceRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string instance_arn = {};
  std::string client_token = {};
  std::string identity_document = {};
  std::vector<ResourceArgument> total_resources = {};
  std::vector<DeviceArgument> platform_devices = {};
  std::vector<model::Attribute> attributes = {};
  model::VersionInfo version_info = {};
  std::vector<TagArgument> tags = {};
};
template <>
inline constexpr auto kFields<RegisterContainerInstanceRequest> = std::array{
    Field<&RegisterContainerInstanceRequest::cluster>("cluster"),
    Field<&RegisterContainerInstanceRequest::instance_arn>("containerInstanceArn"),
    Field<&RegisterContainerInstanceRequest::client_token>("clientToken"),
    Field<&RegisterContainerInstanceRequest::identity_document>("instanceIdentityDocument"),
    Field<&RegisterContainerInstanceRequest::total_resources>("totalResources"),
    Field<&RegisterContainerInstanceRequest::platform_devices>("platformDevices"),
    Field<&RegisterContainerInstanceRequest::attributes>("attributes"),
    Field<&RegisterContainerInstanceRequest::version_info>("versionInfo"),
    Field<&RegisterContainerInstanceRequest::tags>("tags"),
};

namespace {

constexpr size_t kClientTokenLengthMax = 128;
constexpr size_t kAttributeLengthMax = 256;
constexpr size_t kVersionLengthMax = 256;
// Understands task manifests: every agent of flesh and blood says so.
constexpr std::string_view kAgentCapability = "ecs.capability.full-sync";

absl::Status CheckLengths(const RegisterContainerInstanceRequest& request) {
  if (request.client_token.size() > kClientTokenLengthMax) {
    return model::InvalidParameter("clientToken is longer than 128 characters");
  }
  const model::VersionInfo& version = request.version_info;
  for (const std::string* text :
       {&version.agent_version, &version.agent_hash, &version.docker_version}) {
    if (text->size() > kVersionLengthMax) {
      return model::InvalidParameter("a member of versionInfo is longer than 256 bytes");
    }
  }
  for (const model::Attribute& attribute : request.attributes) {
    if (attribute.name.empty()) return model::InvalidParameter("an attribute has no name");
    if (attribute.name.size() > kAttributeLengthMax ||
        attribute.value.value_or("").size() > kAttributeLengthMax) {
      return model::InvalidParameter("the name or value of an attribute is longer than 256 bytes");
    }
  }
  return absl::OkStatus();
}

bool HasAgent(const std::vector<model::Attribute>& attributes) {
  for (const model::Attribute& attribute : attributes) {
    if (attribute.name == kAgentCapability) return true;
  }
  return false;
}

absl::StatusOr<scheduler::RegisterContainerInstance> MakeCommand(
    RegisterContainerInstanceRequest request, const Caller& caller,
    const ServerSettings& settings) {
  scheduler::RegisterContainerInstance command{.client_token = request.client_token,
                                               .version_info = request.version_info,
                                               .registered_by = caller.access_key,
                                               .agent_key = caller.agent_key()};
  absl::Status checked = CheckLengths(request);
  if (!checked.ok()) return checked;
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(settings.scope, request.cluster);
  if (!cluster.ok()) return cluster.status();
  command.cluster = *std::move(cluster);
  if (!request.instance_arn.empty()) {
    absl::StatusOr<model::InstanceId> existing =
        model::ParseInstance(settings.scope, command.cluster, request.instance_arn);
    if (!existing.ok()) return existing.status();
    command.existing = *std::move(existing);
  }
  const absl::StatusOr<IdentityDocument> identity =
      ParseIdentityDocument(request.identity_document);
  if (!identity.ok()) return identity.status();
  command.ec2_instance_id = identity->instance_id;
  command.emulated = settings.emulate_agents && !HasAgent(request.attributes);
  command.attributes =
      WithBuiltInAttributes(std::move(request.attributes), *identity, settings.availability_zone);
  absl::StatusOr<model::RegisteredResources> resources =
      ParseResources(request.total_resources, request.platform_devices, command.attributes);
  if (!resources.ok()) return resources.status();
  command.resources = *std::move(resources);
  if (command.emulated) {
    command.attributes = WithEmulatedCapabilities(std::move(command.attributes), command.resources);
  }
  absl::StatusOr<model::Tags> tags = ParseTags(request.tags);
  if (!tags.ok()) return tags.status();
  command.tags = *std::move(tags);
  return command;
}

}  // namespace

net::awaitable<Answer> RegisterContainerInstance(Call call) {
  auto request = Decode<RegisterContainerInstanceRequest>(call.body.root());
  if (const auto zero = FindZeroCharacter(call.body.root())) {
    co_return model::InvalidParameter(*zero);
  }
  absl::StatusOr<scheduler::RegisterContainerInstance> command =
      MakeCommand(std::move(request), call.caller, call.context.settings);
  if (!command.ok()) co_return command.status();

  absl::StatusOr<scheduler::InstanceSnapshot> instance =
      co_await call.context.loop.Submit(*std::move(command));
  if (!instance.ok()) co_return instance.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("containerInstance");
  WriteContainerInstance(*instance, {}, call.scope(), absl::Now(), writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

// model::TaskSpec from JSON: one table per shape, leaves first.
#include "api/decode.h"
#include "api/shapes/requirement_tables.h"
#include "api/shapes/task_definition.h"

namespace berth::api {

using model::ContainerDefinition;
using model::TaskSpec;
using model::Volume;

namespace {

std::string StringMember(JsonView structure, std::string_view name) {
  const JsonView member = structure.Find(name);
  return member ? std::string(member.AsString()) : std::string();
}

void DecodeProtocol(JsonView value, model::PortMapping& mapping) {
  mapping.protocol = value.AsString() == model::ToString(model::Protocol::kUdp)
                         ? model::Protocol::kUdp
                         : model::Protocol::kTcp;
}

void DecodeRepositoryCredentials(JsonView, ContainerDefinition& container) {
  container.has_repository_credentials = true;
}

void DecodeFirelens(JsonView value, ContainerDefinition& container) {
  container.firelens_type = StringMember(value, "type");
}

void DecodeExtraHosts(JsonView value, ContainerDefinition& container) {
  container.extra_hosts.clear();
  for (int i = 0; i < value.size(); ++i) {
    container.extra_hosts.push_back(StringMember(value.At(i), "hostname"));
  }
}

void DecodeLinuxParameters(JsonView value, ContainerDefinition& container) {
  container.has_linux_parameters = true;
  if (const JsonView swappiness = value.Find("swappiness")) {
    container.swappiness = swappiness.AsInteger();
  }
  if (const JsonView max_swap = value.Find("maxSwap")) {
    container.max_swap_mib = max_swap.AsInteger();
  }
}

void DecodeHost(JsonView value, Volume& volume) {
  volume.has_host = true;
  if (const JsonView path = value.Find("sourcePath")) volume.host_source_path = path.AsString();
}

void DecodeDockerVolume(JsonView value, Volume& volume) {
  volume.has_docker = true;
  volume.docker_driver = StringMember(value, "driver");
}

void DecodeEfs(JsonView value, Volume& volume) {
  volume.has_efs = true;
  volume.efs_uses_authorization = static_cast<bool>(value.Find("authorizationConfig"));
}

void DecodeS3Files(JsonView, Volume& volume) { volume.has_s3files = true; }
void DecodeFsx(JsonView, Volume& volume) { volume.has_fsx = true; }

// An unknown mode stays absent here; FindUnknownWord refuses it.
void DecodeNetworkMode(JsonView value, TaskSpec& spec) {
  spec.network_mode = model::ParseNetworkMode(value.AsString());
}

void DecodeProxy(JsonView, TaskSpec& spec) { spec.has_proxy_configuration = true; }

void DecodeAccelerators(JsonView value, TaskSpec& spec) {
  spec.has_inference_accelerators = value.size() > 0;
}

void DecodeRuntimePlatform(JsonView value, TaskSpec& spec) {
  spec.operating_system_family = StringMember(value, "operatingSystemFamily");
}

}  // namespace

template <>
inline constexpr auto kFields<model::PortMapping> = std::array{
    Field<&model::PortMapping::container_port>("containerPort"),
    Field<&model::PortMapping::host_port>("hostPort"),
    Custom<&DecodeProtocol>("protocol"),
    Field<&model::PortMapping::container_port_range>("containerPortRange"),
    Field<&model::PortMapping::name>("name"),
};

template <>
inline constexpr auto kFields<model::Secret> = std::array{
    Field<&model::Secret::name>("name"),
    Field<&model::Secret::value_from>("valueFrom"),
};

template <>
inline constexpr auto kFields<model::ContainerDependency> = std::array{
    Field<&model::ContainerDependency::container_name>("containerName"),
    Field<&model::ContainerDependency::condition>("condition"),
};

template <>
inline constexpr auto kFields<model::MountPoint> = std::array{
    Field<&model::MountPoint::source_volume>("sourceVolume"),
    Field<&model::MountPoint::container_path>("containerPath"),
    Field<&model::MountPoint::read_only>("readOnly"),
};

template <>
inline constexpr auto kFields<model::VolumeFrom> = std::array{
    Field<&model::VolumeFrom::source_container>("sourceContainer"),
    Field<&model::VolumeFrom::read_only>("readOnly"),
};

template <>
inline constexpr auto kFields<model::LogConfiguration> = std::array{
    Field<&model::LogConfiguration::driver>("logDriver"),
    Field<&model::LogConfiguration::options>("options"),
    Field<&model::LogConfiguration::secret_options>("secretOptions"),
};

template <>
inline constexpr auto kFields<model::HealthCheck> = std::array{
    Field<&model::HealthCheck::command>("command"),
    Field<&model::HealthCheck::interval_seconds>("interval"),
    Field<&model::HealthCheck::timeout_seconds>("timeout"),
    Field<&model::HealthCheck::retries>("retries"),
    Field<&model::HealthCheck::start_period_seconds>("startPeriod"),
};

template <>
inline constexpr auto kFields<model::RestartPolicy> = std::array{
    Field<&model::RestartPolicy::enabled>("enabled"),
    Field<&model::RestartPolicy::ignored_exit_codes>("ignoredExitCodes"),
    Field<&model::RestartPolicy::attempt_period_seconds>("restartAttemptPeriod"),
};

template <>
inline constexpr auto kFields<model::Ulimit> = std::array{
    Field<&model::Ulimit::name>("name"),
    Field<&model::Ulimit::soft>("softLimit"),
    Field<&model::Ulimit::hard>("hardLimit"),
};

template <>
inline constexpr auto kFields<ContainerDefinition> = std::array{
    Field<&ContainerDefinition::name>("name"),
    Field<&ContainerDefinition::image>("image"),
    Field<&ContainerDefinition::cpu_units>("cpu"),
    Field<&ContainerDefinition::memory_mib>("memory"),
    Field<&ContainerDefinition::memory_reservation_mib>("memoryReservation"),
    Field<&ContainerDefinition::essential>("essential"),
    Field<&ContainerDefinition::command>("command"),
    Field<&ContainerDefinition::entry_point>("entryPoint"),
    Field<&ContainerDefinition::environment>("environment"),
    Field<&ContainerDefinition::environment_files>("environmentFiles"),
    Field<&ContainerDefinition::secrets>("secrets"),
    Field<&ContainerDefinition::port_mappings>("portMappings"),
    Field<&ContainerDefinition::resource_requirements>("resourceRequirements"),
    Field<&ContainerDefinition::depends_on>("dependsOn"),
    Field<&ContainerDefinition::start_timeout_seconds>("startTimeout"),
    Field<&ContainerDefinition::stop_timeout_seconds>("stopTimeout"),
    Field<&ContainerDefinition::links>("links"),
    Field<&ContainerDefinition::mount_points>("mountPoints"),
    Field<&ContainerDefinition::volumes_from>("volumesFrom"),
    Field<&ContainerDefinition::log_configuration>("logConfiguration"),
    Field<&ContainerDefinition::health_check>("healthCheck"),
    Field<&ContainerDefinition::restart_policy>("restartPolicy"),
    Field<&ContainerDefinition::ulimits>("ulimits"),
    Field<&ContainerDefinition::hostname>("hostname"),
    Field<&ContainerDefinition::user>("user"),
    Field<&ContainerDefinition::dns_servers>("dnsServers"),
    Field<&ContainerDefinition::dns_search_domains>("dnsSearchDomains"),
    Custom<&DecodeExtraHosts>("extraHosts"),
    Field<&ContainerDefinition::docker_security_options>("dockerSecurityOptions"),
    Field<&ContainerDefinition::disable_networking>("disableNetworking"),
    Field<&ContainerDefinition::privileged>("privileged"),
    Custom<&DecodeRepositoryCredentials>("repositoryCredentials"),
    Custom<&DecodeFirelens>("firelensConfiguration"),
    Custom<&DecodeLinuxParameters>("linuxParameters"),
};

template <>
inline constexpr auto kFields<Volume> = std::array{
    Field<&Volume::name>("name"),
    Custom<&DecodeHost>("host"),
    Custom<&DecodeDockerVolume>("dockerVolumeConfiguration"),
    Custom<&DecodeEfs>("efsVolumeConfiguration"),
    Custom<&DecodeS3Files>("s3filesVolumeConfiguration"),
    Custom<&DecodeFsx>("fsxWindowsFileServerVolumeConfiguration"),
    Field<&Volume::configured_at_launch>("configuredAtLaunch"),
};

template <>
inline constexpr auto kFields<model::PlacementConstraint> = std::array{
    Field<&model::PlacementConstraint::type>("type"),
    Field<&model::PlacementConstraint::expression>("expression"),
};

template <>
inline constexpr auto kFields<TaskSpec> = std::array{
    Field<&TaskSpec::family>("family"),
    Custom<&DecodeNetworkMode>("networkMode"),
    Field<&TaskSpec::cpu_text>("cpu"),
    Field<&TaskSpec::memory_text>("memory"),
    Field<&TaskSpec::containers>("containerDefinitions"),
    Field<&TaskSpec::volumes>("volumes"),
    Field<&TaskSpec::placement_constraints>("placementConstraints"),
    Field<&TaskSpec::requires_compatibilities>("requiresCompatibilities"),
    Field<&TaskSpec::task_role_arn>("taskRoleArn"),
    Field<&TaskSpec::execution_role_arn>("executionRoleArn"),
    Field<&TaskSpec::pid_mode>("pidMode"),
    Field<&TaskSpec::ipc_mode>("ipcMode"),
    Custom<&DecodeRuntimePlatform>("runtimePlatform"),
    Custom<&DecodeProxy>("proxyConfiguration"),
    Custom<&DecodeAccelerators>("inferenceAccelerators"),
    Field<&TaskSpec::enable_fault_injection>("enableFaultInjection"),
};

const schema::Shape& DefinitionShape() {
  static const schema::Shape& shape =
      schema::InputOf(*schema::FindOperation("RegisterTaskDefinition"));
  return shape;
}

TaskSpec DecodeTaskSpec(JsonView definition) {
  auto spec = Decode<TaskSpec>(definition);
  if (spec.cpu_text) spec.cpu_units = model::ParseCpuUnits(*spec.cpu_text);
  if (spec.memory_text) spec.memory_mib = model::ParseMemoryMib(*spec.memory_text);
  return spec;
}

}  // namespace berth::api

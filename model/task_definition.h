// A task definition: the template that tasks are runs of.
//
// The typed part (TaskSpec) holds what Berth decides by: validation, placement, and what an agent
// is told. The whole definition as it was registered, with every member of the API model, is kept
// beside it as JSON text (`document`), opaque to the core; api/ wrote it and echoes it, and makes
// the typed part from it again after a restart.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "model/tag.h"
#include "model/task_status.h"

namespace berth::model {

enum class NetworkMode { kBridge, kHost, kAwsvpc, kNone };
std::string_view ToString(NetworkMode mode);
std::optional<NetworkMode> ParseNetworkMode(std::string_view text);

enum class Protocol { kTcp, kUdp };
std::string_view ToString(Protocol protocol);

struct PortMapping {
  std::optional<int64_t> container_port = std::nullopt;
  std::optional<int64_t> host_port = std::nullopt;  // as given; see ReservedPorts for the default
  Protocol protocol = Protocol::kTcp;
  std::string container_port_range = {};
  std::string name = {};
};

struct EnvironmentVariable {
  std::string name = {};
  std::string value = {};
};

// One entry of resourceRequirements, as decoded and not yet judged: validation names what is wrong.
struct ResourceRequirement {
  struct SharingStrategy {
    bool has_nvidia_mps = false;
    std::optional<int64_t> memory_mib = std::nullopt;
    std::optional<int64_t> max_compute_percent = std::nullopt;
  };
  std::string type = {};
  std::optional<std::string> value = std::nullopt;
  std::optional<SharingStrategy> sharing_strategy = std::nullopt;
};

enum class DependencyCondition { kStart, kComplete, kSuccess, kHealthy };
std::string_view ToString(DependencyCondition condition);
std::optional<DependencyCondition> ParseDependencyCondition(std::string_view text);

struct ContainerDependency {
  std::string container_name = {};
  std::string condition = {};  // as given; validation checks it
};

struct HealthCheck {
  std::vector<std::string> command = {};
  std::optional<int64_t> interval_seconds = std::nullopt;
  std::optional<int64_t> timeout_seconds = std::nullopt;
  std::optional<int64_t> retries = std::nullopt;
  std::optional<int64_t> start_period_seconds = std::nullopt;
};

struct RestartPolicy {
  bool enabled = false;
  std::vector<int64_t> ignored_exit_codes = {};
  std::optional<int64_t> attempt_period_seconds = std::nullopt;
};

struct MountPoint {
  std::string source_volume = {};
  std::string container_path = {};
  bool read_only = false;
};

struct VolumeFrom {
  std::string source_container = {};
  bool read_only = false;
};

struct Secret {
  std::string name = {};
  std::string value_from = {};
};

struct EnvironmentFile {
  std::string type = {};
  std::string value = {};
};

struct LogConfiguration {
  std::string driver = {};
  std::map<std::string, std::string> options = {};
  std::vector<Secret> secret_options = {};
};

struct Ulimit {
  std::string name = {};
  int64_t soft = 0;
  int64_t hard = 0;
};

struct ContainerDefinition {
  std::string name = {};
  std::string image = {};
  int64_t cpu_units = 0;
  std::optional<int64_t> memory_mib = std::nullopt;              // hard limit
  std::optional<int64_t> memory_reservation_mib = std::nullopt;  // soft limit; wins when reserving
  bool essential = true;
  std::vector<std::string> command = {};
  std::vector<std::string> entry_point = {};
  std::vector<EnvironmentVariable> environment = {};
  std::vector<EnvironmentFile> environment_files = {};
  std::vector<Secret> secrets = {};
  std::vector<PortMapping> port_mappings = {};
  std::vector<ResourceRequirement> resource_requirements = {};
  std::vector<ContainerDependency> depends_on = {};
  std::optional<int64_t> start_timeout_seconds = std::nullopt;
  std::optional<int64_t> stop_timeout_seconds = std::nullopt;
  std::vector<std::string> links = {};
  std::vector<MountPoint> mount_points = {};
  std::vector<VolumeFrom> volumes_from = {};
  std::optional<LogConfiguration> log_configuration = std::nullopt;
  std::optional<HealthCheck> health_check = std::nullopt;
  std::optional<RestartPolicy> restart_policy = std::nullopt;
  std::vector<Ulimit> ulimits = {};
  std::string hostname = {};
  std::string user = {};
  std::vector<std::string> dns_servers = {};
  std::vector<std::string> dns_search_domains = {};
  std::vector<std::string> extra_hosts = {};  // host names
  std::vector<std::string> docker_security_options = {};
  bool disable_networking = false;
  bool privileged = false;
  bool has_repository_credentials = false;
  std::string firelens_type = {};
  std::optional<int64_t> swappiness = std::nullopt;
  std::optional<int64_t> max_swap_mib = std::nullopt;
  bool has_linux_parameters = false;
};

struct Volume {
  std::string name = {};
  bool has_host = false;
  std::optional<std::string> host_source_path = std::nullopt;
  bool has_docker = false;
  std::string docker_driver = {};
  bool has_efs = false;
  bool efs_uses_authorization = false;
  bool has_s3files = false;
  bool has_fsx = false;
  bool configured_at_launch = false;
};

struct PlacementConstraint {
  std::string type = {};
  std::string expression = {};
};

// What one run of a definition needs. With overrides merged in it is what one task needs.
struct TaskSpec {
  std::string family = {};
  std::optional<NetworkMode> network_mode =
      std::nullopt;  // absent: the default, see EffectiveNetworkMode
  std::optional<std::string> cpu_text = std::nullopt;     // as given: "1 vCPU", "1024"
  std::optional<std::string> memory_text = std::nullopt;  // as given: "2GB", "2048"
  std::optional<int64_t> cpu_units = std::nullopt;        // parsed; absent when absent or not valid
  std::optional<int64_t> memory_mib = std::nullopt;
  std::vector<ContainerDefinition> containers = {};
  std::vector<Volume> volumes = {};
  std::vector<PlacementConstraint> placement_constraints = {};
  std::vector<std::string> requires_compatibilities = {};
  std::string task_role_arn = {};
  std::string execution_role_arn = {};
  std::string pid_mode = {};
  std::string ipc_mode = {};
  std::string operating_system_family = {};  // runtimePlatform; empty means LINUX
  bool has_proxy_configuration = false;
  bool enable_fault_injection = false;
  bool has_inference_accelerators = false;  // a list with entries
};

struct TaskDefinition {
  DefinitionId id = {};
  int64_t sequence = 0;  // primary key in the store; unique over all definitions
  DefinitionStatus status = DefinitionStatus::kActive;
  absl::Time registered_at = absl::InfinitePast();
  // InfinitePast: never.
  absl::Time deregistered_at = absl::InfinitePast();
  absl::Time delete_requested_at = absl::InfinitePast();
  std::string registered_by = {};
  Tags tags = {};
  // The members of `taskDefinition` that the caller gave, normalised, as one JSON object; without
  // ARN, revision, status and the other members that Berth computes. Shared, never copied.
  std::shared_ptr<const std::string> document = {};
  std::shared_ptr<const TaskSpec> spec = {};
  std::vector<LaunchType> compatibilities = {};       // computed from spec
  std::vector<std::string> requires_attributes = {};  // computed from spec, sorted
};

// Computed parts (definition_traits.cc). Sources: ecs-api.md 4.4, 4.5.
std::vector<LaunchType> ComputeCompatibilities(const TaskSpec& spec);
std::vector<std::string> ComputeRequiredAttributes(const TaskSpec& spec);
// awsvpc when FARGATE is required, else bridge, when none is given.
NetworkMode EffectiveNetworkMode(const TaskSpec& spec);
// "1 vCPU", ".5 vcpu", "1024" -> CPU units; "1GB", "512" -> MiB. Nothing when it is neither.
std::optional<int64_t> ParseCpuUnits(std::string_view text);
std::optional<int64_t> ParseMemoryMib(std::string_view text);
// Requires: the container has passed validation.
GpuRequirement GpuRequirementOf(const ContainerDefinition& container);

// Every rule of ecs-api.md 4.3 and gpu-sharing.md 1.2; the first violation, as a ClientError that
// names the container and member (definition_validation.cc).
absl::Status ValidateTaskSpec(const TaskSpec& spec);

// What RunTask may change of a definition for one task.
struct ContainerOverride {
  std::string name = {};
  std::optional<std::vector<std::string>> command = std::nullopt;
  std::vector<EnvironmentVariable> environment = {};
  std::vector<EnvironmentFile> environment_files = {};
  std::optional<int64_t> cpu_units = std::nullopt;
  std::optional<int64_t> memory_mib = std::nullopt;
  std::optional<int64_t> memory_reservation_mib = std::nullopt;
  std::vector<ResourceRequirement> resource_requirements = {};
  bool empty_but_for_name = true;
};

struct TaskOverrides {
  std::string document = {};  // the `overrides` object as given, normalised JSON
  std::optional<std::string> cpu_text = std::nullopt;
  std::optional<std::string> memory_text = std::nullopt;
  std::optional<std::string> task_role_arn = std::nullopt;
  std::optional<std::string> execution_role_arn = std::nullopt;
  std::vector<ContainerOverride> containers = {};
};

// The definition as this task runs it: overrides merged in, then validated again. Errors are
// InvalidParameter: an unknown container, or the first rule that the merged result breaks.
absl::StatusOr<std::shared_ptr<const TaskSpec>> MergeOverrides(const TaskSpec& spec,
                                                               const TaskOverrides& overrides);

}  // namespace berth::model

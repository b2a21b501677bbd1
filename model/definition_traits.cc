// What follows from a definition without being written in it: ecs-api.md 4.2, 4.4, 4.5.
#include <algorithm>
#include <charconv>
#include <set>

#include "model/capabilities.h"
#include "model/capability_names.h"
#include "model/check.h"
#include "model/container_instance.h"
#include "model/enum_table.h"
#include "model/launch_compatibility.h"
#include "model/task_definition.h"
#include "model/vocabulary.h"

namespace berth::model {
namespace {

constexpr EnumEntry<NetworkMode> kNetworkModes[] = {
    {NetworkMode::kBridge, "bridge"},
    {NetworkMode::kHost, "host"},
    {NetworkMode::kAwsvpc, "awsvpc"},
    {NetworkMode::kNone, "none"},
};

constexpr EnumEntry<Protocol> kProtocols[] = {
    {Protocol::kTcp, "tcp"},
    {Protocol::kUdp, "udp"},
};

constexpr EnumEntry<DependencyCondition> kDependencyConditions[] = {
    {DependencyCondition::kStart, "START"},
    {DependencyCondition::kComplete, "COMPLETE"},
    {DependencyCondition::kSuccess, "SUCCESS"},
    {DependencyCondition::kHealthy, "HEALTHY"},
};

constexpr LaunchType kEveryLaunchType[] = {LaunchType::kEc2, LaunchType::kFargate,
                                           LaunchType::kExternal, LaunchType::kManagedInstances};

// Above 10 vCPU an agent must know the larger limit.
constexpr int64_t kPlainTaskCpuUnitsMax = 10 * 1024;
constexpr int kDockerApiMinorForLogDrivers = 18;
constexpr int kDockerApiMinorForMemoryReservation = 21;

// Enough digits for any size that passes validation, few enough for 64 bits.
constexpr size_t kSizeDigitsMax = 9;
constexpr int64_t kUnitsPerWhole = 1024;  // CPU units per vCPU, MiB per GB

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EndsWithIgnoringCase(std::string_view text, std::string_view lower_case_end) {
  if (text.size() < lower_case_end.size()) return false;
  text.remove_prefix(text.size() - lower_case_end.size());
  return std::ranges::equal(text, lower_case_end, {}, ToLower);
}

std::optional<int64_t> ParseDigits(std::string_view digits) {
  if (digits.empty() || digits.size() > kSizeDigitsMax) return std::nullopt;
  if (!std::ranges::all_of(digits, IsDigit)) return std::nullopt;
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// "2", "2.5" or ".5" times 1024, a fraction of a unit rounded up: a demand is never rounded down.
std::optional<int64_t> ParseWholes(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole_digits = text.substr(0, point);
  const std::optional<int64_t> whole =
      whole_digits.empty() && point != std::string_view::npos ? 0 : ParseDigits(whole_digits);
  if (!whole.has_value()) return std::nullopt;
  if (point == std::string_view::npos) return *whole * kUnitsPerWhole;

  const std::string_view fraction_digits = text.substr(point + 1);
  const std::optional<int64_t> fraction = ParseDigits(fraction_digits);
  if (!fraction.has_value()) return std::nullopt;
  int64_t denominator = 1;
  for (size_t i = 0; i < fraction_digits.size(); ++i) denominator *= 10;
  return *whole * kUnitsPerWhole + (*fraction * kUnitsPerWhole + denominator - 1) / denominator;
}

// A plain number of units, or a number of wholes before the suffix, with or without a space.
std::optional<int64_t> ParseSize(std::string_view text, std::string_view suffix) {
  if (!EndsWithIgnoringCase(text, suffix)) return ParseDigits(text);
  text.remove_suffix(suffix.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return ParseWholes(text);
}

// <account>.dkr.ecr.<region>.amazonaws.com[.cn]/...
bool IsEcrImage(std::string_view image) {
  const std::string_view registry = image.substr(0, image.find('/'));
  return registry.size() < image.size() && registry.find(".dkr.ecr.") != std::string_view::npos &&
         registry.find(".amazonaws.com") != std::string_view::npos;
}

bool IsInSecretsManager(const Secret& secret) {
  return secret.value_from.starts_with("arn:") &&
         secret.value_from.find(":secretsmanager:") != std::string::npos;
}

using Names = std::set<std::string>;

void AddLogging(const TaskSpec& spec, const LogConfiguration& log, Names& names) {
  names.insert(LoggingDriverCapability(log.driver));
  names.insert(DockerApiCapability(kDockerApiMinorForLogDrivers));
  if (log.driver == "awslogs" && !spec.execution_role_arn.empty()) {
    names.emplace(capability::kExecutionRoleAwslogs);
  }
  for (const Secret& secret : log.secret_options) {
    names.emplace(IsInSecretsManager(secret) ? capability::kAsmLogSecrets
                                             : capability::kSsmLogSecrets);
  }
}

void AddContainer(const TaskSpec& spec, const ContainerDefinition& container, Names& names) {
  if (container.log_configuration.has_value()) {
    AddLogging(spec, *container.log_configuration, names);
  }
  if (IsEcrImage(container.image)) {
    names.emplace(capability::kEcrAuth);
    if (!spec.execution_role_arn.empty()) names.emplace(capability::kExecutionRoleEcrPull);
  }
  if (container.memory_reservation_mib.has_value()) {
    names.insert(DockerApiCapability(kDockerApiMinorForMemoryReservation));
  }
  if (container.privileged) names.emplace(capability::kPrivileged);
  if (container.health_check.has_value()) names.emplace(capability::kHealthCheck);
  if (!container.depends_on.empty()) names.emplace(capability::kOrdering);
  if (container.restart_policy.has_value() && container.restart_policy->enabled) {
    names.emplace(capability::kRestartPolicy);
  }
  for (const Secret& secret : container.secrets) {
    names.emplace(IsInSecretsManager(secret) ? capability::kAsmSecrets : capability::kSsmSecrets);
  }
  if (container.has_repository_credentials) names.emplace(capability::kPrivateRegistry);
  if (!container.environment_files.empty()) names.emplace(capability::kEnvironmentFiles);
  if (container.firelens_type == "fluentd") names.emplace(capability::kFirelensFluentd);
  if (container.firelens_type == "fluentbit") names.emplace(capability::kFirelensFluentbit);
  for (const PortMapping& mapping : container.port_mappings) {
    if (!mapping.container_port_range.empty()) names.emplace(capability::kPortRange);
  }
  for (const std::string& option : container.docker_security_options) {
    if (option.starts_with("apparmor:")) names.emplace(capability::kAppArmor);
    if (option.starts_with("label:")) names.emplace(capability::kSeLinux);
  }
  for (const ResourceRequirement& requirement : container.resource_requirements) {
    if (requirement.type == kGpuType && requirement.sharing_strategy.has_value()) {
      names.emplace(kGpuSharingCapability);
    }
  }
}

void AddTask(const TaskSpec& spec, Names& names) {
  const NetworkMode mode = EffectiveNetworkMode(spec);
  if (!spec.task_role_arn.empty()) {
    names.emplace(mode == NetworkMode::kHost ? capability::kTaskIamRoleHost
                                             : capability::kTaskIamRole);
  }
  if (spec.cpu_text.has_value() || spec.memory_text.has_value()) {
    names.emplace(capability::kTaskCpuMemLimit);
  }
  if (spec.cpu_units.value_or(0) > kPlainTaskCpuUnitsMax) {
    names.emplace(capability::kIncreasedTaskCpuLimit);
  }
  if (mode == NetworkMode::kAwsvpc) names.emplace(capability::kTaskEni);
  if (!spec.pid_mode.empty() || !spec.ipc_mode.empty()) names.emplace(capability::kPidIpcSharing);
  if (spec.enable_fault_injection) names.emplace(capability::kFaultInjection);
  for (const Volume& volume : spec.volumes) {
    if (volume.has_efs) names.emplace(capability::kEfs);
    if (volume.has_efs && volume.efs_uses_authorization) names.emplace(capability::kEfsAuth);
    if (volume.has_docker) {
      names.insert(
          DockerPluginCapability(volume.docker_driver.empty() ? "local" : volume.docker_driver));
    }
  }
}

}  // namespace

std::string_view ToString(NetworkMode mode) { return NameOf(kNetworkModes, mode); }
std::optional<NetworkMode> ParseNetworkMode(std::string_view text) {
  return ValueOf(kNetworkModes, text);
}

std::string_view ToString(Protocol protocol) { return NameOf(kProtocols, protocol); }

std::string_view ToString(DependencyCondition condition) {
  return NameOf(kDependencyConditions, condition);
}
std::optional<DependencyCondition> ParseDependencyCondition(std::string_view text) {
  return ValueOf(kDependencyConditions, text);
}

std::vector<LaunchType> ComputeCompatibilities(const TaskSpec& spec) {
  std::vector<LaunchType> compatible;
  for (const LaunchType launch_type : kEveryLaunchType) {
    if (!FindObstacle(launch_type, spec).has_value()) compatible.push_back(launch_type);
  }
  return compatible;
}

std::vector<std::string> ComputeRequiredAttributes(const TaskSpec& spec) {
  Names names;
  AddTask(spec, names);
  for (const ContainerDefinition& container : spec.containers) {
    AddContainer(spec, container, names);
  }
  return {names.begin(), names.end()};
}

NetworkMode EffectiveNetworkMode(const TaskSpec& spec) {
  if (spec.network_mode.has_value()) return *spec.network_mode;
  const bool requires_fargate =
      std::ranges::find(spec.requires_compatibilities, ToString(LaunchType::kFargate)) !=
      spec.requires_compatibilities.end();
  return requires_fargate ? NetworkMode::kAwsvpc : NetworkMode::kBridge;
}

std::optional<int64_t> ParseCpuUnits(std::string_view text) { return ParseSize(text, "vcpu"); }

std::optional<int64_t> ParseMemoryMib(std::string_view text) { return ParseSize(text, "gb"); }

GpuRequirement GpuRequirementOf(const ContainerDefinition& container) {
  for (const ResourceRequirement& requirement : container.resource_requirements) {
    if (requirement.type != kGpuType) continue;
    if (requirement.sharing_strategy.has_value()) {
      const ResourceRequirement::SharingStrategy& strategy = *requirement.sharing_strategy;
      BERTH_CHECK(strategy.has_nvidia_mps && strategy.memory_mib.has_value());
      return {.kind = GpuRequirement::Kind::kShared,
              .share = {.memory_mib = *strategy.memory_mib,
                        .max_compute_percent = strategy.max_compute_percent}};
    }
    BERTH_CHECK(requirement.value.has_value());
    if (*requirement.value == kAllGpus) return {.kind = GpuRequirement::Kind::kAll};
    const std::optional<int64_t> count = ParseDigits(*requirement.value);
    BERTH_CHECK(count.has_value());
    return {.kind = GpuRequirement::Kind::kDedicated, .count = *count};
  }
  return {};
}

}  // namespace berth::model

#include "model/launch_compatibility.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/vocabulary.h"

namespace berth::model {
namespace {

// The memory sizes that go with one task cpu on Fargate: from..to in steps.
struct FargateSizes {
  int64_t cpu_units;
  int64_t memory_mib_min;
  int64_t memory_mib_max;
  int64_t memory_mib_step;
};

constexpr int64_t kMibPerGib = 1024;
constexpr FargateSizes kFargateSizes[] = {
    {256, 1 * kMibPerGib, 2 * kMibPerGib, kMibPerGib},  // and 512 MiB, see IsFargatePair
    {512, 1 * kMibPerGib, 4 * kMibPerGib, kMibPerGib},
    {1024, 2 * kMibPerGib, 8 * kMibPerGib, kMibPerGib},
    {2048, 4 * kMibPerGib, 16 * kMibPerGib, kMibPerGib},
    {4096, 8 * kMibPerGib, 30 * kMibPerGib, kMibPerGib},
    {8192, 16 * kMibPerGib, 60 * kMibPerGib, 4 * kMibPerGib},
    {16384, 32 * kMibPerGib, 120 * kMibPerGib, 8 * kMibPerGib},
};
constexpr int64_t kFargateStopTimeoutSecondsMax = 120;

constexpr std::string_view kFargateLogDrivers[] = {"awslogs", "splunk", "awsfirelens"};
constexpr std::string_view kManagedInstancesLogDrivers[] = {"awslogs", "splunk", "awsfirelens",
                                                            "json-file"};

bool IsFargatePair(int64_t cpu_units, int64_t memory_mib) {
  if (cpu_units == 256 && memory_mib == 512) return true;
  return std::ranges::any_of(kFargateSizes, [&](const FargateSizes& sizes) {
    return sizes.cpu_units == cpu_units && memory_mib >= sizes.memory_mib_min &&
           memory_mib <= sizes.memory_mib_max &&
           (memory_mib - sizes.memory_mib_min) % sizes.memory_mib_step == 0;
  });
}

bool IsGpu(const ResourceRequirement& requirement) { return requirement.type == kGpuType; }

bool HasGpu(const ContainerDefinition& container) {
  return std::ranges::any_of(container.resource_requirements, IsGpu);
}

bool SharesGpu(const ContainerDefinition& container) {
  return std::ranges::any_of(container.resource_requirements, [](const ResourceRequirement& r) {
    return IsGpu(r) && r.sharing_strategy.has_value();
  });
}

std::string Unsupported(std::string_view launch_type, std::string_view what) {
  return absl::StrFormat("Tasks using the %s launch type do not support %s.", launch_type, what);
}

// The drivers that the launch type has are few; `drivers` names them.
template <size_t N>
std::optional<std::string> FindLogDriverObstacle(std::string_view launch_type,
                                                 const std::string_view (&drivers)[N],
                                                 const ContainerDefinition& container) {
  if (!container.log_configuration.has_value()) return std::nullopt;
  const std::string& driver = container.log_configuration->driver;
  if (std::ranges::find(drivers, driver) != std::end(drivers)) return std::nullopt;
  return Unsupported(launch_type,
                     absl::StrFormat("log driver '%s' of container '%s'", driver, container.name));
}

std::optional<std::string> FindFargateContainerObstacle(const ContainerDefinition& container) {
  const auto unsupported = [&](std::string_view what) {
    return Unsupported("Fargate", absl::StrFormat("%s of container '%s'", what, container.name));
  };
  if (container.privileged) return unsupported("privileged");
  if (!container.links.empty()) return unsupported("links");
  if (!container.docker_security_options.empty()) return unsupported("dockerSecurityOptions");
  if (container.max_swap_mib.has_value()) return unsupported("linuxParameters.maxSwap");
  if (container.swappiness.has_value()) return unsupported("linuxParameters.swappiness");
  if (container.stop_timeout_seconds.value_or(0) > kFargateStopTimeoutSecondsMax) {
    return unsupported("a stopTimeout above 120 seconds");
  }
  for (const Ulimit& ulimit : container.ulimits) {
    if (ulimit.name != "nofile") return unsupported(absl::StrFormat("ulimit '%s'", ulimit.name));
  }
  return FindLogDriverObstacle("Fargate", kFargateLogDrivers, container);
}

std::optional<std::string> FindFargateSizeObstacle(const TaskSpec& spec) {
  if (!spec.cpu_text.has_value()) {
    return "Fargate requires that 'cpu' be defined at the task level.";
  }
  if (!spec.memory_text.has_value()) {
    return "Fargate requires that 'memory' be defined at the task level.";
  }
  if (!IsFargatePair(spec.cpu_units.value_or(0), spec.memory_mib.value_or(0))) {
    return "No Fargate configuration exists for given values.";
  }
  return std::nullopt;
}

std::optional<std::string> FindFargateObstacle(const TaskSpec& spec) {
  if (std::ranges::any_of(spec.containers, HasGpu)) {
    return "Tasks using the Fargate launch type do not support GPU resource requirements";
  }
  if (EffectiveNetworkMode(spec) != NetworkMode::kAwsvpc) {
    return "Fargate only supports network mode ‘awsvpc’.";
  }
  if (auto obstacle = FindFargateSizeObstacle(spec)) return obstacle;
  if (!spec.pid_mode.empty() && spec.pid_mode != "task") {
    return absl::StrFormat(
        "Tasks using the Fargate launch type do not support pidMode '%s'. The supported value for "
        "pidMode is 'task'.",
        spec.pid_mode);
  }
  if (!spec.ipc_mode.empty()) return Unsupported("Fargate", "ipcMode");
  if (!spec.placement_constraints.empty()) return Unsupported("Fargate", "placementConstraints");
  for (const Volume& volume : spec.volumes) {
    const auto of_volume = [&](std::string_view what) {
      return Unsupported("Fargate", absl::StrFormat("%s of volume '%s'", what, volume.name));
    };
    if (volume.has_docker) return of_volume("dockerVolumeConfiguration");
    if (volume.has_fsx) return of_volume("fsxWindowsFileServerVolumeConfiguration");
    if (volume.host_source_path.has_value()) return of_volume("host.sourcePath");
  }
  for (const ContainerDefinition& container : spec.containers) {
    if (auto obstacle = FindFargateContainerObstacle(container)) return obstacle;
  }
  return std::nullopt;
}

// The agent of an external instance withholds the capabilities that these need.
std::optional<std::string> FindExternalObstacle(const TaskSpec& spec) {
  for (const ContainerDefinition& container : spec.containers) {
    if (SharesGpu(container)) {
      return Unsupported("External", absl::StrFormat("sharingStrategy of container '%s'; require "
                                                     "EC2 or MANAGED_INSTANCES, or give the "
                                                     "container whole GPUs with 'value'",
                                                     container.name));
    }
  }
  if (EffectiveNetworkMode(spec) == NetworkMode::kAwsvpc) {
    return Unsupported("External", "network mode 'awsvpc'; use bridge, host or none");
  }
  for (const Volume& volume : spec.volumes) {
    const auto of_volume = [&](std::string_view what) {
      return Unsupported("External", absl::StrFormat("%s of volume '%s'", what, volume.name));
    };
    if (volume.has_efs) return of_volume("efsVolumeConfiguration");
    if (volume.has_s3files) return of_volume("s3filesVolumeConfiguration");
    if (volume.has_fsx) return of_volume("fsxWindowsFileServerVolumeConfiguration");
    if (volume.configured_at_launch) return of_volume("configuredAtLaunch");
  }
  if (spec.has_proxy_configuration) return Unsupported("External", "proxyConfiguration");
  if (spec.enable_fault_injection) return Unsupported("External", "enableFaultInjection");
  return std::nullopt;
}

std::optional<std::string> FindManagedInstancesObstacle(const TaskSpec& spec) {
  constexpr std::string_view kName = "Managed Instances";
  if (EffectiveNetworkMode(spec) == NetworkMode::kBridge) {
    return Unsupported(kName, "network mode 'bridge'; set networkMode to awsvpc, host or none");
  }
  for (const Volume& volume : spec.volumes) {
    if (volume.has_docker) {
      return Unsupported(kName,
                         absl::StrFormat("dockerVolumeConfiguration of volume '%s'", volume.name));
    }
  }
  for (const ContainerDefinition& container : spec.containers) {
    if (!container.links.empty()) {
      return Unsupported(kName, absl::StrFormat("links of container '%s'", container.name));
    }
    if (auto obstacle = FindLogDriverObstacle(kName, kManagedInstancesLogDrivers, container)) {
      return obstacle;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindObstacle(LaunchType launch_type, const TaskSpec& spec) {
  switch (launch_type) {
    case LaunchType::kEc2:
      return std::nullopt;
    case LaunchType::kFargate:
      return FindFargateObstacle(spec);
    case LaunchType::kExternal:
      return FindExternalObstacle(spec);
    case LaunchType::kManagedInstances:
      return FindManagedInstancesObstacle(spec);
  }
  BERTH_CHECK(false && "an unknown launch type");
}

}  // namespace berth::model

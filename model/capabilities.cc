#include "model/capabilities.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/capability_names.h"
#include "model/container_instance.h"
#include "model/vocabulary.h"

namespace berth::model {
namespace {

constexpr std::string_view kLocalVolumeDriver = "local";

void AddDockerApi(int minor_max, std::vector<std::string>& names) {
  for (int minor = kDockerApiMinorMin; minor <= std::min(minor_max, kDockerApiMinorMax); ++minor) {
    names.push_back(DockerApiCapability(minor));
  }
}

}  // namespace

std::string LoggingDriverCapability(std::string_view driver) {
  return absl::StrFormat("com.amazonaws.ecs.capability.logging-driver.%s", driver);
}

std::string DockerPluginCapability(std::string_view volume_driver) {
  return absl::StrFormat("ecs.capability.docker-plugin.%s", volume_driver);
}

std::string DockerApiCapability(int minor) {
  return absl::StrFormat("com.amazonaws.ecs.capability.docker-remote-api.1.%d", minor);
}

std::vector<std::string> AgentCapabilities(const DockerFeatures& features) {
  std::vector<std::string> names;
  AddDockerApi(features.api_minor, names);
  for (const std::string& driver : features.logging_drivers) {
    names.push_back(LoggingDriverCapability(driver));
  }
  for (const std::string& driver : features.volume_drivers) {
    names.push_back(DockerPluginCapability(driver));
  }
  for (const std::string_view name :
       {capability::kPrivileged, capability::kTaskCpuMemLimit, capability::kIncreasedTaskCpuLimit,
        capability::kTaskEni, capability::kHealthCheck, capability::kOrdering,
        capability::kPidIpcSharing, capability::kRestartPolicy, capability::kSsmSecrets,
        capability::kAsmSecrets, capability::kSsmLogSecrets, capability::kAsmLogSecrets,
        capability::kFullSync}) {
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> AllCapabilities() {
  std::vector<std::string> names;
  AddDockerApi(kDockerApiMinorMax, names);
  for (const std::string_view driver : kLogDrivers) {
    names.push_back(LoggingDriverCapability(driver));
  }
  names.push_back(DockerPluginCapability(kLocalVolumeDriver));
  for (const std::string_view name : {capability::kPrivileged,
                                      capability::kTaskIamRole,
                                      capability::kTaskIamRoleHost,
                                      capability::kEcrAuth,
                                      capability::kAppArmor,
                                      capability::kSeLinux,
                                      capability::kExecutionRoleAwslogs,
                                      capability::kExecutionRoleEcrPull,
                                      capability::kTaskCpuMemLimit,
                                      capability::kIncreasedTaskCpuLimit,
                                      capability::kTaskEni,
                                      capability::kHealthCheck,
                                      capability::kOrdering,
                                      capability::kRestartPolicy,
                                      capability::kPidIpcSharing,
                                      capability::kSsmSecrets,
                                      capability::kAsmSecrets,
                                      capability::kSsmLogSecrets,
                                      capability::kAsmLogSecrets,
                                      capability::kPrivateRegistry,
                                      capability::kEnvironmentFiles,
                                      capability::kFirelensFluentd,
                                      capability::kFirelensFluentbit,
                                      capability::kEfs,
                                      capability::kEfsAuth,
                                      capability::kPortRange,
                                      capability::kFaultInjection,
                                      capability::kFullSync}) {
    names.emplace_back(name);
  }
  names.emplace_back(kGpuSharingCapability);
  std::ranges::sort(names);
  return names;
}

}  // namespace berth::model

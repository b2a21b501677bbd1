// The words of a task's life and their ECS spelling. Conversion both ways is one table per enum,
// and a test walks all of it. Life cycle: ecs-api.md 7.6.
#pragma once

#include <optional>
#include <string_view>

namespace berth::model {

// In the order a task goes through them; it never goes back, so `<` means "earlier".
enum class TaskStatus {
  kProvisioning,
  kPending,
  kActivating,
  kRunning,
  kDeactivating,
  kStopping,
  kDeprovisioning,
  kStopped,
};
std::string_view ToString(TaskStatus status);
std::optional<TaskStatus> ParseTaskStatus(std::string_view text);

enum class DesiredStatus { kRunning, kStopped };
std::string_view ToString(DesiredStatus status);
std::optional<DesiredStatus> ParseDesiredStatus(std::string_view text);

enum class ContainerStatus { kPending, kRunning, kStopped };
std::string_view ToString(ContainerStatus status);
std::optional<ContainerStatus> ParseContainerStatus(std::string_view text);

enum class HealthStatus { kUnknown, kHealthy, kUnhealthy };
std::string_view ToString(HealthStatus status);
std::optional<HealthStatus> ParseHealthStatus(std::string_view text);

enum class StopCode {
  kNone,
  kTaskFailedToStart,
  kEssentialContainerExited,
  kUserInitiated,
  kServiceSchedulerInitiated,
  kSpotInterruption,
  kTerminationNotice,
  kInfrastructureHealth,
};
std::string_view ToString(StopCode code);
std::optional<StopCode> ParseStopCode(std::string_view text);

enum class LaunchType { kEc2, kFargate, kExternal, kManagedInstances };
std::string_view ToString(LaunchType type);
std::optional<LaunchType> ParseLaunchType(std::string_view text);

enum class DefinitionStatus { kActive, kInactive, kDeleteInProgress };
std::string_view ToString(DefinitionStatus status);
std::optional<DefinitionStatus> ParseDefinitionStatus(std::string_view text);

enum class InstanceStatus { kActive, kDraining, kInactive };
std::string_view ToString(InstanceStatus status);
std::optional<InstanceStatus> ParseInstanceStatus(std::string_view text);

enum class ClusterStatus { kActive, kInactive };
std::string_view ToString(ClusterStatus status);
std::optional<ClusterStatus> ParseClusterStatus(std::string_view text);

}  // namespace berth::model

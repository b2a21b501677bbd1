#include "model/task_status.h"

#include "model/enum_table.h"

namespace berth::model {
namespace {

constexpr EnumEntry<TaskStatus> kTaskStatuses[] = {
    {TaskStatus::kProvisioning, "PROVISIONING"},     {TaskStatus::kPending, "PENDING"},
    {TaskStatus::kActivating, "ACTIVATING"},         {TaskStatus::kRunning, "RUNNING"},
    {TaskStatus::kDeactivating, "DEACTIVATING"},     {TaskStatus::kStopping, "STOPPING"},
    {TaskStatus::kDeprovisioning, "DEPROVISIONING"}, {TaskStatus::kStopped, "STOPPED"},
};

constexpr EnumEntry<DesiredStatus> kDesiredStatuses[] = {
    {DesiredStatus::kRunning, "RUNNING"},
    {DesiredStatus::kStopped, "STOPPED"},
};

constexpr EnumEntry<ContainerStatus> kContainerStatuses[] = {
    {ContainerStatus::kPending, "PENDING"},
    {ContainerStatus::kRunning, "RUNNING"},
    {ContainerStatus::kStopped, "STOPPED"},
};

constexpr EnumEntry<HealthStatus> kHealthStatuses[] = {
    {HealthStatus::kUnknown, "UNKNOWN"},
    {HealthStatus::kHealthy, "HEALTHY"},
    {HealthStatus::kUnhealthy, "UNHEALTHY"},
};

// No stop code is the empty word, so that a column of them reads back as it was written.
constexpr EnumEntry<StopCode> kStopCodes[] = {
    {StopCode::kNone, ""},
    {StopCode::kTaskFailedToStart, "TaskFailedToStart"},
    {StopCode::kEssentialContainerExited, "EssentialContainerExited"},
    {StopCode::kUserInitiated, "UserInitiated"},
    {StopCode::kServiceSchedulerInitiated, "ServiceSchedulerInitiated"},
    {StopCode::kSpotInterruption, "SpotInterruption"},
    {StopCode::kTerminationNotice, "TerminationNotice"},
    {StopCode::kInfrastructureHealth, "InfrastructureHealth"},
};

constexpr EnumEntry<LaunchType> kLaunchTypes[] = {
    {LaunchType::kEc2, "EC2"},
    {LaunchType::kFargate, "FARGATE"},
    {LaunchType::kExternal, "EXTERNAL"},
    {LaunchType::kManagedInstances, "MANAGED_INSTANCES"},
};

constexpr EnumEntry<DefinitionStatus> kDefinitionStatuses[] = {
    {DefinitionStatus::kActive, "ACTIVE"},
    {DefinitionStatus::kInactive, "INACTIVE"},
    {DefinitionStatus::kDeleteInProgress, "DELETE_IN_PROGRESS"},
};

constexpr EnumEntry<InstanceStatus> kInstanceStatuses[] = {
    {InstanceStatus::kActive, "ACTIVE"},
    {InstanceStatus::kDraining, "DRAINING"},
    {InstanceStatus::kInactive, "INACTIVE"},
};

constexpr EnumEntry<ClusterStatus> kClusterStatuses[] = {
    {ClusterStatus::kActive, "ACTIVE"},
    {ClusterStatus::kInactive, "INACTIVE"},
};

}  // namespace

std::string_view ToString(TaskStatus status) { return NameOf(kTaskStatuses, status); }
std::optional<TaskStatus> ParseTaskStatus(std::string_view text) {
  return ValueOf(kTaskStatuses, text);
}

std::string_view ToString(DesiredStatus status) { return NameOf(kDesiredStatuses, status); }
std::optional<DesiredStatus> ParseDesiredStatus(std::string_view text) {
  return ValueOf(kDesiredStatuses, text);
}

std::string_view ToString(ContainerStatus status) { return NameOf(kContainerStatuses, status); }
std::optional<ContainerStatus> ParseContainerStatus(std::string_view text) {
  return ValueOf(kContainerStatuses, text);
}

std::string_view ToString(HealthStatus status) { return NameOf(kHealthStatuses, status); }
std::optional<HealthStatus> ParseHealthStatus(std::string_view text) {
  return ValueOf(kHealthStatuses, text);
}

std::string_view ToString(StopCode code) { return NameOf(kStopCodes, code); }
std::optional<StopCode> ParseStopCode(std::string_view text) { return ValueOf(kStopCodes, text); }

std::string_view ToString(LaunchType type) { return NameOf(kLaunchTypes, type); }
std::optional<LaunchType> ParseLaunchType(std::string_view text) {
  return ValueOf(kLaunchTypes, text);
}

std::string_view ToString(DefinitionStatus status) { return NameOf(kDefinitionStatuses, status); }
std::optional<DefinitionStatus> ParseDefinitionStatus(std::string_view text) {
  return ValueOf(kDefinitionStatuses, text);
}

std::string_view ToString(InstanceStatus status) { return NameOf(kInstanceStatuses, status); }
std::optional<InstanceStatus> ParseInstanceStatus(std::string_view text) {
  return ValueOf(kInstanceStatuses, text);
}

std::string_view ToString(ClusterStatus status) { return NameOf(kClusterStatuses, status); }
std::optional<ClusterStatus> ParseClusterStatus(std::string_view text) {
  return ValueOf(kClusterStatuses, text);
}

}  // namespace berth::model

// The capability attributes whose whole name is fixed. Internal to model/: others use
// capabilities.h.
#pragma once

#include <string_view>

namespace berth::model::capability {

inline constexpr std::string_view kPrivileged = "com.amazonaws.ecs.capability.privileged-container";
inline constexpr std::string_view kTaskIamRole = "com.amazonaws.ecs.capability.task-iam-role";
inline constexpr std::string_view kTaskIamRoleHost =
    "com.amazonaws.ecs.capability.task-iam-role-network-host";
inline constexpr std::string_view kEcrAuth = "com.amazonaws.ecs.capability.ecr-auth";
inline constexpr std::string_view kAppArmor = "com.amazonaws.ecs.capability.apparmor";
inline constexpr std::string_view kSeLinux = "com.amazonaws.ecs.capability.selinux";
inline constexpr std::string_view kExecutionRoleAwslogs = "ecs.capability.execution-role-awslogs";
inline constexpr std::string_view kExecutionRoleEcrPull = "ecs.capability.execution-role-ecr-pull";
inline constexpr std::string_view kTaskCpuMemLimit = "ecs.capability.task-cpu-mem-limit";
inline constexpr std::string_view kIncreasedTaskCpuLimit =
    "ecs.capability.increased-task-cpu-limit";
inline constexpr std::string_view kTaskEni = "ecs.capability.task-eni";
inline constexpr std::string_view kHealthCheck = "ecs.capability.container-health-check";
inline constexpr std::string_view kOrdering = "ecs.capability.container-ordering";
inline constexpr std::string_view kRestartPolicy = "ecs.capability.container-restart-policy";
inline constexpr std::string_view kPidIpcSharing = "ecs.capability.pid-ipc-namespace-sharing";
inline constexpr std::string_view kSsmSecrets = "ecs.capability.secrets.ssm.environment-variables";
inline constexpr std::string_view kAsmSecrets = "ecs.capability.secrets.asm.environment-variables";
inline constexpr std::string_view kSsmLogSecrets =
    "ecs.capability.secrets.ssm.bootstrap.log-driver";
inline constexpr std::string_view kAsmLogSecrets =
    "ecs.capability.secrets.asm.bootstrap.log-driver";
inline constexpr std::string_view kPrivateRegistry =
    "ecs.capability.private-registry-authentication.secretsmanager";
inline constexpr std::string_view kEnvironmentFiles = "ecs.capability.env-files.s3";
inline constexpr std::string_view kFirelensFluentd = "ecs.capability.firelens.fluentd";
inline constexpr std::string_view kFirelensFluentbit = "ecs.capability.firelens.fluentbit";
inline constexpr std::string_view kEfs = "ecs.capability.efs";
inline constexpr std::string_view kEfsAuth = "ecs.capability.efsAuth";
inline constexpr std::string_view kPortRange = "ecs.capability.network.container-port-range";
inline constexpr std::string_view kFaultInjection = "ecs.capability.fault-injection";
inline constexpr std::string_view kFullSync = "ecs.capability.full-sync";  // agents only

}  // namespace berth::model::capability

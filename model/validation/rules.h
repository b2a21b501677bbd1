// The chapters of ValidateTaskSpec. Each returns its first violation, containers and members in the
// order given; each may rely on the chapters before it. Sources: ecs-api.md 4.3,
// gpu-sharing.md 1.2.
//
// Texts that the real service is known to give stand here to the letter; the others name the
// container and member, what was found and what would be right.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "model/task_definition.h"

namespace berth::model::validation {

// The API's Integer. Nothing above it gets in, so that sums over a task fit 64 bits many times
// over.
inline constexpr int64_t kIntegerMax = 2147483647;

// Family, number of containers, their names and images, one essential at least.
absl::Status CheckContainerList(const TaskSpec& spec);
// Task cpu and memory, pid and ipc modes, placement constraints, what is no longer offered.
absl::Status CheckTaskSettings(const TaskSpec& spec);
// Cpu and memory of the containers, alone and against the task's.
absl::Status CheckSizes(const TaskSpec& spec);
absl::Status CheckPorts(const TaskSpec& spec);
// Environment, environment files, secrets.
absl::Status CheckEnvironment(const TaskSpec& spec);
// Log driver, health check, restart policy, ulimits, timeouts, swap, what awsvpc excludes.
absl::Status CheckContainerSettings(const TaskSpec& spec);
// dependsOn, links, volumesFrom.
absl::Status CheckDependencies(const TaskSpec& spec);
absl::Status CheckVolumes(const TaskSpec& spec);
// resourceRequirements, and the variables reserved in containers that share a GPU.
absl::Status CheckGpus(const TaskSpec& spec);
// requiresCompatibilities. Relies on all the others.
absl::Status CheckLaunchTypes(const TaskSpec& spec);

// "container 'NAME': MEMBER is FOUND; it must be RIGHT".
absl::Status Wrong(const ContainerDefinition& container, std::string_view member,
                   std::string_view found, std::string_view right);
// The same for an integer that must lie between two bounds.
absl::Status CheckRange(const ContainerDefinition& container, std::string_view member,
                        std::optional<int64_t> value, int64_t min, int64_t max);

// The position of the container of that name, if there is one.
std::optional<size_t> FindContainer(const TaskSpec& spec, std::string_view name);

}  // namespace berth::model::validation

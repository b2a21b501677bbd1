// RunTask's overrides merged into a definition.
#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/task_definition.h"

namespace berth::model {
namespace {

// By name: what the override gives replaces every earlier value, and takes the place of the first.
void MergeEnvironment(const std::vector<EnvironmentVariable>& overrides,
                      std::vector<EnvironmentVariable>& environment) {
  for (const EnvironmentVariable& variable : overrides) {
    const auto same_name = [&](const EnvironmentVariable& other) {
      return other.name == variable.name;
    };
    const auto first = std::ranges::find_if(environment, same_name);
    if (first == environment.end()) {
      environment.push_back(variable);
      continue;
    }
    first->value = variable.value;
    environment.erase(std::remove_if(first + 1, environment.end(), same_name), environment.end());
  }
}

void Merge(const ContainerOverride& override, ContainerDefinition& container) {
  if (override.command.has_value()) container.command = *override.command;
  MergeEnvironment(override.environment, container.environment);
  if (!override.environment_files.empty()) {
    container.environment_files = override.environment_files;
  }
  if (override.cpu_units.has_value()) container.cpu_units = *override.cpu_units;
  if (override.memory_mib.has_value()) container.memory_mib = override.memory_mib;
  if (override.memory_reservation_mib.has_value()) {
    container.memory_reservation_mib = override.memory_reservation_mib;
  }
  if (!override.resource_requirements.empty()) {
    container.resource_requirements = override.resource_requirements;
  }
}

absl::Status MergeContainers(const TaskOverrides& overrides, TaskSpec& spec) {
  for (size_t i = 0; i < overrides.containers.size(); ++i) {
    const ContainerOverride& override = overrides.containers[i];
    if (override.name.empty()) {
      if (override.empty_but_for_name) continue;
      return InvalidParameter(absl::StrFormat(
          "containerOverrides[%d].name is missing; it must name a container of the task "
          "definition",
          i));
    }
    const auto container =
        std::ranges::find(spec.containers, override.name, &ContainerDefinition::name);
    if (container == spec.containers.end()) {
      return InvalidParameter(
          absl::StrFormat("Override for container named %s is not a container in the "
                          "TaskDefinition.",
                          override.name));
    }
    Merge(override, *container);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TaskSpec>> MergeOverrides(const TaskSpec& spec,
                                                               const TaskOverrides& overrides) {
  auto merged = std::make_shared<TaskSpec>(spec);
  if (overrides.cpu_text.has_value()) {
    merged->cpu_text = overrides.cpu_text;
    merged->cpu_units = ParseCpuUnits(*overrides.cpu_text);
  }
  if (overrides.memory_text.has_value()) {
    merged->memory_text = overrides.memory_text;
    merged->memory_mib = ParseMemoryMib(*overrides.memory_text);
  }
  if (overrides.task_role_arn.has_value()) merged->task_role_arn = *overrides.task_role_arn;
  if (overrides.execution_role_arn.has_value()) {
    merged->execution_role_arn = *overrides.execution_role_arn;
  }
  if (absl::Status status = MergeContainers(overrides, *merged); !status.ok()) return status;
  if (const absl::Status status = ValidateTaskSpec(*merged); !status.ok()) {
    // The definition alone was right, so what is wrong is an argument of this call.
    return InvalidParameter(std::string(status.message()));
  }
  return merged;
}

}  // namespace berth::model

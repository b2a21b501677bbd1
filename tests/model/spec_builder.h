// Small definitions for tests: right as they stand, so that a test says only what it changes.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/errors.h"
#include "model/task_definition.h"

namespace berth::model {

using Change = std::function<void(TaskSpec&)>;

inline ContainerDefinition Container(std::string name) {
  return {.name = std::move(name), .image = "busybox:1.36", .memory_mib = 128};
}

// One essential container `app` of 128 MiB, under bridge.
inline TaskSpec Spec(std::vector<ContainerDefinition> containers = {Container("app")}) {
  return {.family = "web", .containers = std::move(containers)};
}

inline TaskSpec Changed(TaskSpec spec, const Change& change) {
  change(spec);
  return spec;
}

// Sets the task's size as the decoder does: the text and what it means.
inline void SetCpu(TaskSpec& spec, const std::string& text) {
  spec.cpu_text = text;
  spec.cpu_units = ParseCpuUnits(text);
}
inline void SetMemory(TaskSpec& spec, const std::string& text) {
  spec.memory_text = text;
  spec.memory_mib = ParseMemoryMib(text);
}

inline ResourceRequirement Mps(int64_t memory_mib,
                               std::optional<int64_t> max_compute_percent = std::nullopt) {
  return {.type = "GPU",
          .sharing_strategy =
              ResourceRequirement::SharingStrategy{.has_nvidia_mps = true,
                                                   .memory_mib = memory_mib,
                                                   .max_compute_percent = max_compute_percent}};
}

inline ResourceRequirement Whole(std::string value) {
  return {.type = "GPU", .value = std::move(value)};
}

inline ContainerDefinition WithGpu(std::string name, ResourceRequirement requirement) {
  ContainerDefinition container = Container(std::move(name));
  container.resource_requirements = {std::move(requirement)};
  return container;
}

// What is wrong with the definition; empty when nothing is.
inline std::string Refusal(const TaskSpec& spec) {
  return std::string(ValidateTaskSpec(spec).message());
}

}  // namespace berth::model

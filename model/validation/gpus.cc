#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/reserved_variables.h"
#include "model/validation/rules.h"
#include "model/vocabulary.h"

namespace berth::model::validation {
namespace {

constexpr size_t kGpuCountDigitsMax = 9;  // far above what a machine holds; sums stay in bounds
constexpr int64_t kComputePercentMin = 1;
constexpr int64_t kComputePercentMax = 100;

std::string Member(size_t index, std::string_view rest) {
  return absl::StrFormat("resourceRequirements[%d]%s", index, rest);
}

// The digits of a whole number from 1 on, without a leading zero.
bool IsGpuCount(std::string_view value) {
  return !value.empty() && value.size() <= kGpuCountDigitsMax && value.front() != '0' &&
         std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
}

absl::Status CheckType(const ContainerDefinition& container, size_t index,
                       const ResourceRequirement& requirement) {
  const std::string member = Member(index, ".type");
  const bool known = requirement.type == kGpuType ||
                     requirement.type == kInferenceAcceleratorType ||
                     requirement.type == kNeuronDeviceType;
  if (!known) {
    return Wrong(container, member,
                 requirement.type.empty() ? "missing" : absl::StrFormat("'%s'", requirement.type),
                 kGpuType);
  }
  if (requirement.type == kGpuType) return absl::OkStatus();
  if (requirement.sharing_strategy.has_value()) {
    return Wrong(container, Member(index, ".sharingStrategy"),
                 absl::StrFormat("given for type %s", requirement.type),
                 "absent, since only a GPU can be shared");
  }
  return Wrong(container, member,
               absl::StrFormat("%s, which is not offered here", requirement.type), kGpuType);
}

absl::Status CheckShare(const ContainerDefinition& container, size_t index,
                        const ResourceRequirement::SharingStrategy& strategy) {
  if (!strategy.has_nvidia_mps) {
    return Wrong(container, Member(index, ".sharingStrategy"),
                 "without a member that is known here",
                 "an object with exactly one member, nvidiaMps");
  }
  const std::string memory = Member(index, ".sharingStrategy.nvidiaMps.memory");
  if (!strategy.memory_mib.has_value()) {
    return Wrong(container, memory, "missing", "the share of the GPU's memory in MiB, at least 1");
  }
  if (*strategy.memory_mib < 1 || *strategy.memory_mib > kIntegerMax) {
    return Wrong(
        container, memory, absl::StrFormat("%d", *strategy.memory_mib),
        absl::StrFormat("the share of the GPU's memory in MiB, from 1 to %d", kIntegerMax));
  }
  return CheckRange(container, Member(index, ".sharingStrategy.nvidiaMps.maxComputePercent"),
                    strategy.max_compute_percent, kComputePercentMin, kComputePercentMax);
}

absl::Status CheckValue(const ContainerDefinition& container, size_t index,
                        const std::string& value) {
  if (value == kAllGpus || IsGpuCount(value)) return absl::OkStatus();
  return Wrong(container, Member(index, ".value"), absl::StrFormat("'%s'", value),
               "a whole number of GPUs from 1 on, or ALL; for a part of one GPU give "
               "sharingStrategy.nvidiaMps.memory instead of value");
}

absl::Status CheckGpu(const ContainerDefinition& container, size_t index,
                      const ResourceRequirement& requirement) {
  const bool whole = requirement.value.has_value();
  const bool shared = requirement.sharing_strategy.has_value();
  if (whole && shared) {
    return ClientError(
        absl::StrFormat("container '%s': %s has both value and sharingStrategy; it must have "
                        "exactly one: value for "
                        "whole GPUs, sharingStrategy for a share of one",
                        container.name, Member(index, "")));
  }
  if (!whole && !shared) {
    // What clients older than GPU sharing send when they drop the member that they do not know.
    return ClientError(absl::StrFormat(
        "container '%s': %s of type GPU has neither value nor sharingStrategy; it must have value "
        "for whole GPUs (such as \"1\") or sharingStrategy.nvidiaMps.memory for a share of one. If "
        "sharingStrategy was given, the client may be too old for it and have dropped it: use a "
        "newer AWS SDK or CLI",
        container.name, Member(index, "")));
  }
  return whole ? CheckValue(container, index, *requirement.value)
               : CheckShare(container, index, *requirement.sharing_strategy);
}

// The container's GPU entry, or null. Requires: there is one at most.
const ResourceRequirement* FindGpu(const ContainerDefinition& container) {
  const auto found =
      std::ranges::find(container.resource_requirements, kGpuType,
                        [](const ResourceRequirement& r) -> std::string_view { return r.type; });
  return found == container.resource_requirements.end() ? nullptr : &*found;
}

absl::Status CheckContainer(const ContainerDefinition& container) {
  const ResourceRequirement* first = FindGpu(container);
  for (size_t i = 0; i < container.resource_requirements.size(); ++i) {
    const ResourceRequirement& requirement = container.resource_requirements[i];
    if (absl::Status status = CheckType(container, i, requirement); !status.ok()) return status;
    if (&requirement != first) {
      return Wrong(container, Member(i, ""), "a second entry of type GPU",
                   "the only one: put the number of GPUs in one value, or the memory in one share");
    }
    if (absl::Status status = CheckGpu(container, i, requirement); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckReservedVariables(const ContainerDefinition& container) {
  const auto refuse = [&](std::string_view member, std::string_view name) {
    return ClientError(absl::StrFormat(
        "container '%s': %s sets %s, which is reserved in a container that shares a GPU (the agent "
        "sets what the share needs); remove it",
        container.name, member, name));
  };
  for (const EnvironmentVariable& variable : container.environment) {
    if (IsReservedGpuVariable(variable.name)) return refuse("environment", variable.name);
  }
  for (const Secret& secret : container.secrets) {
    if (IsReservedGpuVariable(secret.name)) return refuse("secrets", secret.name);
  }
  return absl::OkStatus();
}

// All GPU containers of a task are of one kind: its shares lie on one GPU, which takes no other
// use.
absl::Status CheckTogether(const TaskSpec& spec) {
  const ContainerDefinition* first = nullptr;
  for (const ContainerDefinition& container : spec.containers) {
    const ResourceRequirement* gpu = FindGpu(container);
    if (gpu == nullptr) continue;
    if (first == nullptr) {
      first = &container;
      continue;
    }
    const ResourceRequirement& other = *FindGpu(*first);
    const auto option = [](const ResourceRequirement& requirement) {
      return requirement.value.has_value() ? "value" : "sharingStrategy";
    };
    if (gpu->value.has_value() != other.value.has_value()) {
      return ClientError(absl::StrFormat(
          "container '%s' asks for a GPU by %s and container '%s' by %s; all GPU containers of a "
          "task must use the same option, either value or sharingStrategy",
          first->name, option(other), container.name, option(*gpu)));
    }
    if (gpu->value == kAllGpus || other.value == kAllGpus) {
      const bool first_takes_all = other.value == kAllGpus;
      return ClientError(
          absl::StrFormat("container '%s' takes ALL GPUs of the container instance, which leaves "
                          "none for container "
                          "'%s'; give each a number",
                          first_takes_all ? first->name : container.name,
                          first_takes_all ? container.name : first->name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGpus(const TaskSpec& spec) {
  const bool windows = spec.operating_system_family.starts_with("WINDOWS");
  for (const ContainerDefinition& container : spec.containers) {
    if (absl::Status status = CheckContainer(container); !status.ok()) return status;
    const ResourceRequirement* gpu = FindGpu(container);
    if (gpu == nullptr) continue;
    if (windows) {
      return Wrong(container, "resourceRequirements",
                   absl::StrFormat("given with runtimePlatform.operatingSystemFamily %s",
                                   spec.operating_system_family),
                   "absent, since GPUs need LINUX");
    }
    if (!gpu->sharing_strategy.has_value()) continue;
    if (absl::Status status = CheckReservedVariables(container); !status.ok()) return status;
  }
  return CheckTogether(spec);
}

}  // namespace berth::model::validation

#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/launch_compatibility.h"
#include "model/utf8.h"
#include "model/validation/rules.h"
#include "model/vocabulary.h"

namespace berth::model::validation {
namespace {

constexpr int64_t kTaskCpuUnitsMin = 128;
constexpr int64_t kTaskCpuUnitsMax = 196608;
constexpr int64_t kTaskMemoryMibMax = kIntegerMax;
constexpr size_t kPlacementConstraintsMax = 10;
constexpr size_t kExpressionLengthMax = 2000;

bool IsWithin(std::optional<int64_t> value, int64_t min, int64_t max) {
  return value.has_value() && *value >= min && *value <= max;
}

absl::Status CheckPlacementConstraints(const TaskSpec& spec) {
  if (spec.placement_constraints.size() > kPlacementConstraintsMax) {
    return ClientError(
        absl::StrFormat("placementConstraints has %d entries; it may have at most %d",
                        spec.placement_constraints.size(), kPlacementConstraintsMax));
  }
  for (size_t i = 0; i < spec.placement_constraints.size(); ++i) {
    const PlacementConstraint& constraint = spec.placement_constraints[i];
    if (constraint.type != kMemberOf) {
      return ClientError(
          absl::StrFormat("constraint.type '%s' is not supported.", constraint.type));
    }
    if (constraint.expression.empty()) {
      return ClientError(absl::StrFormat(
          "placementConstraints[%d].expression is empty; a memberOf constraint needs one", i));
    }
    const size_t length = CountCharacters(constraint.expression);
    if (length > kExpressionLengthMax) {
      return ClientError(absl::StrFormat(
          "placementConstraints[%d].expression is %d characters long; it must be at most %d", i,
          length, kExpressionLengthMax));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTaskSettings(const TaskSpec& spec) {
  if (spec.cpu_text.has_value() && !IsWithin(spec.cpu_units, kTaskCpuUnitsMin, kTaskCpuUnitsMax)) {
    return ClientError("Invalid 'cpu' setting for task.");
  }
  if (spec.memory_text.has_value() && !IsWithin(spec.memory_mib, 1, kTaskMemoryMibMax)) {
    return ClientError("Invalid 'memory' setting for task.");
  }
  if (!spec.pid_mode.empty() && !IsOneOf(kPidModes, spec.pid_mode)) {
    return ClientError(
        absl::StrFormat("pidMode is '%s'; it must be one of %s", spec.pid_mode, Listed(kPidModes)));
  }
  if (!spec.ipc_mode.empty() && !IsOneOf(kIpcModes, spec.ipc_mode)) {
    return ClientError(
        absl::StrFormat("ipcMode is '%s'; it must be one of %s", spec.ipc_mode, Listed(kIpcModes)));
  }
  if (spec.has_inference_accelerators) {
    return ClientError(
        "inferenceAccelerators is given; inference accelerators are no longer offered, ask for a "
        "GPU in resourceRequirements instead");
  }
  return CheckPlacementConstraints(spec);
}

absl::Status CheckLaunchTypes(const TaskSpec& spec) {
  for (size_t i = 0; i < spec.requires_compatibilities.size(); ++i) {
    const std::string& name = spec.requires_compatibilities[i];
    const std::optional<LaunchType> launch_type = ParseLaunchType(name);
    if (!launch_type.has_value()) {
      return ClientError(
          absl::StrFormat("requiresCompatibilities[%d] is '%s'; it must be one of EC2, FARGATE, "
                          "EXTERNAL, MANAGED_INSTANCES",
                          i, name));
    }
    if (const auto obstacle = FindObstacle(*launch_type, spec)) return ClientError(*obstacle);
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation

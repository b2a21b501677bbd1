// The order of the rules. It is part of the behaviour: a definition with several mistakes is told
// of the same one each time. Chapter by chapter as below; within a chapter container by container;
// the launch types come last, since they judge a definition that is otherwise right.
#include <string>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/task_definition.h"
#include "model/validation/rules.h"

namespace berth::model {
namespace validation {

absl::Status Wrong(const ContainerDefinition& container, std::string_view member,
                   std::string_view found, std::string_view right) {
  return ClientError(absl::StrFormat("container '%s': %s is %s; it must be %s", container.name,
                                     member, found, right));
}

absl::Status CheckRange(const ContainerDefinition& container, std::string_view member,
                        std::optional<int64_t> value, int64_t min, int64_t max) {
  if (!value.has_value() || (*value >= min && *value <= max)) return absl::OkStatus();
  return Wrong(container, member, absl::StrFormat("%d", *value),
               absl::StrFormat("from %d to %d", min, max));
}

std::optional<size_t> FindContainer(const TaskSpec& spec, std::string_view name) {
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    if (spec.containers[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace validation

absl::Status ValidateTaskSpec(const TaskSpec& spec) {
  using Chapter = absl::Status (*)(const TaskSpec&);
  constexpr Chapter kChapters[] = {
      validation::CheckContainerList, validation::CheckTaskSettings,
      validation::CheckSizes,         validation::CheckPorts,
      validation::CheckEnvironment,   validation::CheckContainerSettings,
      validation::CheckDependencies,  validation::CheckVolumes,
      validation::CheckGpus,          validation::CheckLaunchTypes,
  };
  for (const Chapter chapter : kChapters) {
    if (absl::Status status = chapter(spec); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace berth::model

#include <set>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/validation/rules.h"
#include "model/vocabulary.h"

namespace berth::model::validation {
namespace {

constexpr size_t kEnvironmentFilesMax = 10;  // per container
constexpr std::string_view kEnvironmentFileSuffix = ".env";

// A name that no process could be given.
bool IsVariableName(std::string_view name) {
  return !name.empty() && name.find('=') == std::string_view::npos;
}

absl::Status CheckVariables(const ContainerDefinition& container) {
  for (size_t i = 0; i < container.environment.size(); ++i) {
    const std::string& name = container.environment[i].name;
    if (!IsVariableName(name)) {
      return Wrong(container, absl::StrFormat("environment[%d].name", i),
                   absl::StrFormat("'%s'", name), "not empty and without '='");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSecrets(const ContainerDefinition& container) {
  std::set<std::string_view> names;
  for (const EnvironmentVariable& variable : container.environment) names.insert(variable.name);

  for (size_t i = 0; i < container.secrets.size(); ++i) {
    const Secret& secret = container.secrets[i];
    if (!IsVariableName(secret.name)) {
      return Wrong(container, absl::StrFormat("secrets[%d].name", i),
                   absl::StrFormat("'%s'", secret.name), "not empty and without '='");
    }
    if (secret.value_from.empty()) {
      return Wrong(container, absl::StrFormat("secrets[%d].valueFrom", i), "empty",
                   "the name or ARN of a parameter or secret");
    }
    if (!names.insert(secret.name).second) {
      return ClientError(absl::StrFormat(
          "The secret name must be unique and not shared with any new or existing environment "
          "variables set on the container, such as '%s'.",
          secret.name));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckEnvironmentFiles(const ContainerDefinition& container) {
  if (container.environment_files.size() > kEnvironmentFilesMax) {
    return Wrong(container, "the number of environmentFiles",
                 absl::StrFormat("%d", container.environment_files.size()),
                 absl::StrFormat("at most %d", kEnvironmentFilesMax));
  }
  for (size_t i = 0; i < container.environment_files.size(); ++i) {
    const EnvironmentFile& file = container.environment_files[i];
    if (file.type != kEnvironmentFileType) {
      return Wrong(container, absl::StrFormat("environmentFiles[%d].type", i),
                   absl::StrFormat("'%s'", file.type), kEnvironmentFileType);
    }
    if (!file.value.ends_with(kEnvironmentFileSuffix)) {
      return Wrong(container, absl::StrFormat("environmentFiles[%d].value", i),
                   absl::StrFormat("'%s'", file.value), "the ARN of an object that ends in .env");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckEnvironment(const TaskSpec& spec) {
  for (const ContainerDefinition& container : spec.containers) {
    if (absl::Status status = CheckVariables(container); !status.ok()) return status;
    if (absl::Status status = CheckSecrets(container); !status.ok()) return status;
    if (absl::Status status = CheckEnvironmentFiles(container); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation

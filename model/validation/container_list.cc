#include <algorithm>
#include <set>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/arn.h"
#include "model/errors.h"
#include "model/validation/rules.h"

namespace berth::model::validation {
namespace {

constexpr size_t kContainersMax = 10;
constexpr size_t kImageLengthMax = 255;

bool IsImageCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_:./#@").find(c) != std::string_view::npos;
}

absl::Status CheckNameAndImage(const ContainerDefinition& container) {
  if (container.name.empty()) {
    return ClientError("Container.name should not be null or empty.");
  }
  if (container.image.empty()) {
    return ClientError("Container.image should not be null or empty.");
  }
  if (!IsValidName(container.name)) {
    return ClientError("Container.name contains invalid characters.");
  }
  if (!std::ranges::all_of(container.image, IsImageCharacter)) {
    return ClientError("Container.image contains invalid characters.");
  }
  if (container.image.size() > kImageLengthMax) {
    return Wrong(container, "image", absl::StrFormat("%d characters long", container.image.size()),
                 absl::StrFormat("at most %d characters long", kImageLengthMax));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckContainerList(const TaskSpec& spec) {
  if (spec.family.empty()) return ClientError("Family should not be null or empty.");
  if (!IsValidName(spec.family)) return ClientError("Family contains invalid characters.");
  if (spec.containers.empty()) return ClientError("Container list cannot be empty.");
  if (spec.containers.size() > kContainersMax) {
    return ClientError(
        absl::StrFormat("containerDefinitions has %d containers; a task definition may have at "
                        "most %d",
                        spec.containers.size(), kContainersMax));
  }

  std::set<std::string_view> names;
  bool any_essential = false;
  for (const ContainerDefinition& container : spec.containers) {
    if (absl::Status status = CheckNameAndImage(container); !status.ok()) return status;
    if (!names.insert(container.name).second) {
      return ClientError("Container names must be unique within a Task Definition.");
    }
    any_essential = any_essential || container.essential;
  }
  if (!any_essential) {
    return ClientError(
        "The task definition doesn't have any essential container; set essential to true for at "
        "least one");
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation

#include "api/shapes/launch_arguments.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "api/shape_checks.h"
#include "model/errors.h"
#include "model/task_status.h"

namespace berth::api {

namespace {

using model::InvalidParameter;

// Lists and structures that come with issues of their own. Empty ones ask for nothing.
constexpr std::string_view kLaterMembers[] = {"capacityProviderStrategy", "volumeConfigurations"};
constexpr std::string_view kLaterOverrides[] = {"inferenceAcceleratorOverrides"};

// ecs-api.md 2.3.
constexpr int kSubnetsMax = 16;
constexpr int kSecurityGroupsMax = 5;

bool IsGiven(JsonView body, std::string_view name) {
  const JsonView member = body.Find(name);
  return member && member.size() > 0;
}

absl::Status NotAvailable(std::string_view member) {
  return InvalidParameter(
      absl::StrFormat("%s is not available in this version of Berth: leave it out", member));
}

absl::Status CheckLaunchType(JsonView body) {
  const JsonView launch_type = body.Find("launchType");
  if (!launch_type) return absl::OkStatus();
  if (IsGiven(body, "capacityProviderStrategy")) {
    return InvalidParameter(
        "Specify either Launch Type or Capacity Provider Strategy, but not both.");
  }
  if (!model::ParseLaunchType(launch_type.AsString())) {
    return InvalidParameter("launch type should be one of [EC2,FARGATE,EXTERNAL]");
  }
  return absl::OkStatus();
}

absl::Status CheckNothingLater(JsonView body) {
  for (const std::string_view name : kLaterMembers) {
    if (IsGiven(body, name)) return NotAvailable(name);
  }
  const JsonView overrides = body.Find("overrides");
  if (!overrides) return absl::OkStatus();
  for (const std::string_view name : kLaterOverrides) {
    if (IsGiven(overrides, name)) return NotAvailable(absl::StrFormat("overrides.%s", name));
  }
  return absl::OkStatus();
}

absl::Status CheckItems(JsonView structure, std::string_view name, int max) {
  const JsonView list = structure.Find(name);
  if (!list || list.size() <= max) return absl::OkStatus();
  return InvalidParameter(absl::StrFormat("%s can have at most %d items.", name, max));
}

absl::Status CheckNetworkSizes(JsonView body) {
  const JsonView network = body.Find("networkConfiguration");
  if (!network) return absl::OkStatus();
  const JsonView awsvpc = network.Find("awsvpcConfiguration");
  if (!awsvpc) return absl::OkStatus();
  absl::Status checked = CheckItems(awsvpc, "subnets", kSubnetsMax);
  if (!checked.ok()) return checked;
  return CheckItems(awsvpc, "securityGroups", kSecurityGroupsMax);
}

}  // namespace

absl::Status CheckLaunchArguments(JsonView body) {
  absl::Status checked = CheckLaunchType(body);
  if (!checked.ok()) return checked;
  checked = CheckNothingLater(body);
  if (!checked.ok()) return checked;
  const JsonView propagate = body.Find("propagateTags");
  if (propagate && propagate.AsString() == "SERVICE") {
    return InvalidParameter(
        "propagateTags is SERVICE: for a task without a service it should be TASK_DEFINITION or "
        "NONE");
  }
  if (const auto zero = FindZeroCharacter(body)) return InvalidParameter(*zero);
  if (const auto unknown = FindUnknownWord(body)) return InvalidParameter(*unknown);
  checked = CheckNetworkSizes(body);
  if (!checked.ok()) return checked;
  if (const JsonView overrides = body.Find("overrides")) {
    if (const auto missing = FindMissingMember(overrides)) {
      return InvalidParameter(absl::StrFormat("overrides.%s", *missing));
    }
  }
  return absl::OkStatus();
}

}  // namespace berth::api

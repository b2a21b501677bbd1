#include "api/access/authorize.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"
#include "api/access/policy.h"
#include "model/check.h"
#include "model/errors.h"

namespace berth::api {
namespace {

constexpr std::string_view kEcs = "ecs:";
constexpr char kDefaultCluster[] = "default";

// ecs-api.md section 15, and the channel. Whose instance and task it is, the core looks after.
constexpr std::array<std::string_view, 12> kAgentActions = {
    "CreateCluster",
    "DeregisterContainerInstance",
    "DiscoverPollEndpoint",
    "GetTaskProtection",
    "ListTagsForResource",
    "Poll",
    "RegisterContainerInstance",
    "SubmitAttachmentStateChanges",
    "SubmitContainerStateChange",
    "SubmitTaskStateChange",
    "UpdateContainerInstancesState",
    "UpdateTaskProtection",
};

bool IsAgentAction(std::string_view name) {
  return std::find(kAgentActions.begin(), kAgentActions.end(), name) != kAgentActions.end();
}

bool RoleAllows(model::KeyRole role, std::string_view action, const CallResource& resource,
                const model::ArnScope& scope) {
  if (role == model::KeyRole::kAdmin) return true;
  if (!action.starts_with(kEcs)) return false;
  const std::string_view name = action.substr(kEcs.size());
  switch (role) {
    case model::KeyRole::kAdmin:
    case model::KeyRole::kOperator:
      return true;
    case model::KeyRole::kViewer:
      return IsReadAction(name);
    case model::KeyRole::kAgent:
      // An agent makes the default cluster when it starts before anybody else; no other.
      if (name == "CreateCluster") {
        return resource.arn == model::ClusterArn(scope, {kDefaultCluster});
      }
      return IsAgentAction(name);
  }
  return false;
}

absl::Status Denied(const Caller& caller, std::string_view action, const CallResource& resource,
                    bool explicitly) {
  const std::string what =
      absl::StrFormat("User: %s is not authorized to perform: %s on resource: %s",
                      caller.principal_arn, action, resource.arn);
  return model::MakeError(
      model::ErrorKind::kAccessDenied,
      explicitly ? what + " with an explicit deny in an identity-based policy"
                 : absl::StrFormat("%s because no identity-based policy allows the %s action", what,
                                   action));
}

}  // namespace

bool IsReadAction(std::string_view name) {
  return name.starts_with("Describe") || name.starts_with("List") || name.starts_with("Get");
}

bool IsAgentReport(std::string_view name) {
  return name.starts_with("Submit") || name == "DiscoverPollEndpoint" || name == "Poll";
}

absl::Status Authorize(const Caller& caller, std::string_view action,
                       std::span<const CallResource> resources, const model::ArnScope& scope) {
  BERTH_CHECK(!resources.empty());
  if (!caller.role) return absl::OkStatus();
  for (const CallResource& resource : resources) {
    if (!RoleAllows(*caller.role, action, resource, scope)) {
      return Denied(caller, action, resource, false);
    }
    if (caller.policy == nullptr) continue;
    const Policy::Verdict verdict = caller.policy->Evaluate(action, resource);
    if (verdict != Policy::Verdict::kAllowed) {
      return Denied(caller, action, resource, verdict == Policy::Verdict::kDenied);
    }
  }
  return absl::OkStatus();
}

}  // namespace berth::api

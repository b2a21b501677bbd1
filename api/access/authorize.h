// Whether a caller may do what it asks: its key's role, and within that its key's policy.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "api/access/call_resources.h"
#include "api/caller.h"

namespace berth::api {

// Actions beside those of the ECS API.
inline constexpr char kPollAction[] = "ecs:Poll";  // an agent's channel
inline constexpr char kGetExplanationAction[] = "ecs:GetExplanation";
inline constexpr char kGetPlanAction[] = "ecs:GetPlan";
inline constexpr char kGetDefragPlanAction[] = "ecs:GetDefragPlan";
inline constexpr char kCreateKeyAction[] = "iam:CreateAccessKey";
inline constexpr char kRevokeKeyAction[] = "iam:DeleteAccessKey";
inline constexpr char kListKeysAction[] = "iam:ListAccessKeys";

// OK, or AccessDenied in AWS's words. `action` has its service before it; an action about several
// resources needs all of them. Requires: there is at least one.
absl::Status Authorize(const Caller& caller, std::string_view action,
                       std::span<const CallResource> resources, const model::ArnScope& scope);

// What the call only looks at.
bool IsReadAction(std::string_view name);
// What agents say of their tasks and instances.
bool IsAgentReport(std::string_view name);

}  // namespace berth::api

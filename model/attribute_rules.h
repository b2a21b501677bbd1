// What an attribute of a container instance may be called and say, and whose it is.
// ecs-api.md 6.6.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "model/container_instance.h"

namespace berth::model {

inline constexpr size_t kAttributeNameMax = 128;
inline constexpr size_t kAttributeValueMax = 128;
// Of an operator's own, on one instance.
inline constexpr int64_t kCustomAttributesMax = 10;

// Whether the name is one that agents and the control plane give: `ecs.`, `com.amazonaws.` and
// `berth.` begin such names. All other attributes are the operator's.
bool IsReservedAttribute(std::string_view name);

// The characters and lengths. InvalidParameter names the attribute and says what would be right.
// An empty value passes: agents send names alone in that form too.
absl::Status CheckAttribute(const Attribute& attribute);

}  // namespace berth::model

// An access key: who may call the API, and what. ecs-api.md 1.4.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace berth::model {

// What a key may do when it has no policy of its own.
enum class KeyRole {
  kAdmin,     // everything, keys included
  kOperator,  // every ECS action
  kViewer,    // Describe, List and Get actions
  kAgent,     // what an agent calls, for its own instance and the tasks on it
};
std::string_view ToString(KeyRole role);
std::optional<KeyRole> ParseKeyRole(std::string_view text);

struct AccessKey {
  std::string id = {};    // 20 characters, as AWS's: "AKIA" and 16 of A-Z and 2-7
  int64_t sequence = 0;   // primary key in the store
  std::string user = {};  // the last part of its principal ARN: user/NAME
  KeyRole role = KeyRole::kViewer;
  // A document of IAM's shape that narrows the role: JSON text, opaque to the core. Empty: none.
  std::string policy = {};
  // The secret, encrypted with the installation's key file (api/auth). Opaque to the core.
  std::string sealed_secret = {};
  absl::Time created_at = absl::InfinitePast();
  absl::Time revoked_at = absl::InfinitePast();  // InfinitePast: never
};

using AccessKeyRecord = std::shared_ptr<const AccessKey>;

}  // namespace berth::model

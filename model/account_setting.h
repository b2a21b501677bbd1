#pragma once

#include <string>

namespace berth::model {

// An account setting that somebody has set; the others have their defaults. ecs-api.md 12.1.
struct AccountSetting {
  std::string principal_arn = {};  // whose; that of the root is the default of all
  std::string name = {};
  std::string value = {};

  bool operator==(const AccountSetting&) const = default;
};

}  // namespace berth::model

// Account settings (ecs-api.md 12.1): which there are, what they may be, whose they are, and which
// value is in force.
//
// Here only containerInsights has an effect, as the default of new clusters; the others are kept.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/call.h"
#include "api/json_writer.h"

namespace berth::api {

// Every name, in order.
std::vector<std::string_view> AccountSettingNames();
// Old clients still send it, and the API model has forgotten it: shown only where it has been set.
bool IsForgottenSetting(std::string_view name);
// InvalidParameter for a name that is none.
absl::Status CheckSettingName(std::string_view name);
// InvalidParameter also for values that it cannot have, and for settings that nobody can set.
absl::Status CheckSetting(std::string_view name, std::string_view value);

// Whoever asks: the root where there is no authentication.
std::string CallerOf(const Call& call);
// Whose settings a call is about. Given must be the caller or the root. Empty: the caller.
absl::StatusOr<std::string> PrincipalArgument(const Call& call, const std::string& given);

// What one principal has set, and what the root has.
struct AccountSettings {
  std::map<std::string, std::string, std::less<>> own = {};
  std::map<std::string, std::string, std::less<>> root = {};

  // The principal's own, or the root's, or the default. Requires: there is such a setting.
  std::string Effective(std::string_view name) const;
};
net::awaitable<absl::StatusOr<AccountSettings>> ReadAccountSettings(const Call& call,
                                                                    std::string principal);

struct SettingAnswer {
  std::string_view name = {};
  std::string_view value = {};
  std::string_view principal = {};
};
void WriteSetting(const SettingAnswer& setting, JsonWriter& writer);

}  // namespace berth::api

#include "api/account_settings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/access/authenticator.h"
#include "api/cluster_loop.h"
#include "model/check.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

namespace {

using Values = std::vector<std::string_view>;

struct Setting {
  std::string_view name;
  std::string_view value;  // the default
  Values values;           // that somebody can set; none: it is AWS's own
};

// In the order of ECS's own message. Long ARNs have become the only ones.
const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = {
      {"serviceLongArnFormat", "enabled", {"enabled"}},
      {"taskLongArnFormat", "enabled", {"enabled"}},
      {"containerInstanceLongArnFormat", "enabled", {"enabled"}},
      {"containerLongArnFormat", "enabled", {"enabled"}},
      {"awsvpcTrunking", "disabled", {"enabled", "disabled"}},
      {"containerInsights", "disabled", {"enabled", "disabled", "enhanced"}},
      {"dualStackIPv6", "enabled", {"enabled", "disabled"}},
      {"fargateFIPSMode", "disabled", {"enabled", "disabled"}},
      {"tagResourceAuthorization", "on", {"on", "off"}},
      {"fargateTaskRetirementWaitPeriod", "7", {"0", "7", "14"}},
      {"guardDutyActivate", "off", {}},
      {"defaultLogDriverMode", "non-blocking", {"blocking", "non-blocking"}},
      {"fargateEventWindows", "disabled", {"enabled", "disabled"}},
  };
  return settings;
}

const Setting* FindSetting(std::string_view name) {
  const auto found = std::ranges::find(Settings(), name, &Setting::name);
  return found == Settings().end() ? nullptr : &*found;
}

std::string Joined(const Values& words) {
  std::string text;
  for (const std::string_view word : words) {
    absl::StrAppendFormat(&text, "%s%s", text.empty() ? "" : ",", word);
  }
  return text;
}

}  // namespace

std::vector<std::string_view> AccountSettingNames() {
  Values names;
  for (const Setting& setting : Settings()) names.push_back(setting.name);
  std::ranges::sort(names);
  return names;
}

bool IsForgottenSetting(std::string_view name) {
  return name == "containerLongArnFormat" || name == "dualStackIPv6";
}

absl::Status CheckSettingName(std::string_view name) {
  if (FindSetting(name) != nullptr) return absl::OkStatus();
  Values names;
  for (const Setting& setting : Settings()) names.push_back(setting.name);
  return model::InvalidParameter(absl::StrFormat("%s should be one of [%s]", name, Joined(names)));
}

absl::Status CheckSetting(std::string_view name, std::string_view value) {
  if (absl::Status known = CheckSettingName(name); !known.ok()) return known;
  const Setting& setting = *FindSetting(name);
  if (setting.values.empty()) {
    return model::InvalidParameter(
        absl::StrFormat("%s is managed by AWS: nobody else sets it", name));
  }
  if (std::ranges::find(setting.values, value) != setting.values.end()) return absl::OkStatus();
  return model::InvalidParameter(absl::StrFormat(
      "the value of %s is '%s': it should be one of [%s]", name, value, Joined(setting.values)));
}

std::string CallerOf(const Call& call) {
  return call.caller.principal_arn.empty() ? RootArn(call.scope()) : call.caller.principal_arn;
}

absl::StatusOr<std::string> PrincipalArgument(const Call& call, const std::string& given) {
  const std::string caller = CallerOf(call);
  const std::string root = RootArn(call.scope());
  if (given.empty() || given == caller) return caller;
  if (given == root) return root;
  return model::InvalidParameter(absl::StrFormat(
      "principalArn is '%s': it should be your own, which is %s, or the root's, which is %s", given,
      caller, root));
}

std::string AccountSettings::Effective(std::string_view name) const {
  for (const auto* settings : {&own, &root}) {
    if (const auto found = settings->find(name); found != settings->end()) return found->second;
  }
  const Setting* setting = FindSetting(name);
  BERTH_CHECK(setting != nullptr);
  return std::string(setting->value);
}

net::awaitable<absl::StatusOr<AccountSettings>> ReadAccountSettings(const Call& call,
                                                                    std::string principal) {
  const std::string root = RootArn(call.scope());
  scheduler::ListAccountSettings command{.principal_arns = {principal}};
  if (principal != root) command.principal_arns.push_back(root);
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  AccountSettings settings;
  for (const model::AccountSetting& setting : reply->settings) {
    if (setting.principal_arn == principal) settings.own[setting.name] = setting.value;
    if (setting.principal_arn == root) settings.root[setting.name] = setting.value;
  }
  co_return settings;
}

void WriteSetting(const SettingAnswer& setting, JsonWriter& writer) {
  const Setting* known = FindSetting(setting.name);
  const bool of_aws = known != nullptr && known->values.empty();
  writer.BeginObject();
  writer.String("name", setting.name);
  writer.String("value", setting.value);
  writer.String("principalArn", setting.principal);
  writer.String("type", of_aws ? "aws_managed" : "user");
  writer.EndObject();
}

}  // namespace berth::api

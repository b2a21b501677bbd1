// DeleteAccountSetting takes back what a principal has set, and answers with what then holds for
// it.
#include <utility>

#include "api/account_settings.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/shape_checks.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DeleteAccountSettingRequest {
  std::string name = {};
  std::string principal = {};
};
template <>
inline constexpr auto kFields<DeleteAccountSettingRequest> = std::array{
    Field<&DeleteAccountSettingRequest::name>("name"),
    Field<&DeleteAccountSettingRequest::principal>("principalArn"),
};

net::awaitable<Answer> DeleteAccountSetting(Call call) {
  const auto request = Decode<DeleteAccountSettingRequest>(call.body.root());
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  absl::Status checked = CheckSettingName(request.name);
  if (!checked.ok()) co_return checked;
  const absl::StatusOr<std::string> principal = PrincipalArgument(call, request.principal);
  if (!principal.ok()) co_return principal.status();

  scheduler::DeleteAccountSetting command{.principal_arn = *principal, .name = request.name};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  const absl::StatusOr<AccountSettings> settings = co_await ReadAccountSettings(call, *principal);
  if (!settings.ok()) co_return settings.status();

  const std::string value = settings->Effective(request.name);
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("setting");
  WriteSetting({.name = request.name, .value = value, .principal = *principal}, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

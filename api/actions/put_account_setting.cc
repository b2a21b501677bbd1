// PutAccountSetting sets a value for the caller, or for the principal that it names.
#include <utility>

#include "api/account_settings.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/shape_checks.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct PutAccountSettingRequest {
  std::string name = {};
  std::string value = {};
  std::string principal = {};
};
template <>
inline constexpr auto kFields<PutAccountSettingRequest> = std::array{
    Field<&PutAccountSettingRequest::name>("name"),
    Field<&PutAccountSettingRequest::value>("value"),
    Field<&PutAccountSettingRequest::principal>("principalArn"),
};

net::awaitable<Answer> PutAccountSetting(Call call) {
  const auto request = Decode<PutAccountSettingRequest>(call.body.root());
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  absl::Status checked = CheckSetting(request.name, request.value);
  if (!checked.ok()) co_return checked;
  const absl::StatusOr<std::string> principal = PrincipalArgument(call, request.principal);
  if (!principal.ok()) co_return principal.status();

  scheduler::PutAccountSetting command{
      .setting = {.principal_arn = *principal, .name = request.name, .value = request.value}};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("setting");
  WriteSetting({.name = request.name, .value = request.value, .principal = *principal}, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

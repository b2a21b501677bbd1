// PutAccountSettingDefault sets a value for all who have set none of their own.
#include <utility>

#include "api/access/authenticator.h"
#include "api/account_settings.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/shape_checks.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct PutAccountSettingDefaultRequest {
  std::string name = {};
  std::string value = {};
};
template <>
inline constexpr auto kFields<PutAccountSettingDefaultRequest> = std::array{
    Field<&PutAccountSettingDefaultRequest::name>("name"),
    Field<&PutAccountSettingDefaultRequest::value>("value"),
};

net::awaitable<Answer> PutAccountSettingDefault(Call call) {
  const auto request = Decode<PutAccountSettingDefaultRequest>(call.body.root());
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  absl::Status checked = CheckSetting(request.name, request.value);
  if (!checked.ok()) co_return checked;
  const std::string root = RootArn(call.scope());

  scheduler::PutAccountSetting command{
      .setting = {.principal_arn = root, .name = request.name, .value = request.value}};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("setting");
  WriteSetting({.name = request.name, .value = request.value, .principal = root}, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

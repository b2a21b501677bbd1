// ListAccountSettings shows what a principal has set or, with effectiveSettings, every setting with
// the value that holds for it.
#include <map>
#include <string>
#include <utility>

#include "api/account_settings.h"
#include "api/call.h"
#include "api/decode.h"
#include "api/paging.h"
#include "model/errors.h"

namespace berth::api {

inline constexpr int64_t kSettingsPerPageMax = 10;

struct ListAccountSettingsRequest {
  std::string name = {};
  std::string value = {};
  std::string principal = {};
  bool effective = false;
};
template <>
inline constexpr auto kFields<ListAccountSettingsRequest> = std::array{
    Field<&ListAccountSettingsRequest::name>("name"),
    Field<&ListAccountSettingsRequest::value>("value"),
    Field<&ListAccountSettingsRequest::principal>("principalArn"),
    Field<&ListAccountSettingsRequest::effective>("effectiveSettings"),
};

namespace {

absl::Status CheckFilters(const ListAccountSettingsRequest& request) {
  if (request.name.empty() && !request.value.empty()) {
    return model::InvalidParameter(
        "value is given without name: it should come with the name whose value it is");
  }
  return request.name.empty() ? absl::OkStatus() : CheckSettingName(request.name);
}

// Those that the request asks for, by name.
std::map<std::string, std::string> Selected(const AccountSettings& settings,
                                            const ListAccountSettingsRequest& request) {
  std::map<std::string, std::string> selected;
  for (const std::string_view known : AccountSettingNames()) {
    const std::string name(known);
    const bool set =
        settings.own.contains(name) || (request.effective && settings.root.contains(name));
    if (!set && (!request.effective || IsForgottenSetting(name))) continue;
    if (!request.name.empty() && name != request.name) continue;
    std::string value = settings.Effective(name);
    if (!request.value.empty() && value != request.value) continue;
    selected[name] = std::move(value);
  }
  return selected;
}

}  // namespace

net::awaitable<Answer> ListAccountSettings(Call call) {
  const auto request = Decode<ListAccountSettingsRequest>(call.body.root());
  const absl::StatusOr<Page> page =
      ParsePage("ListAccountSettings", call.body.root(), kSettingsPerPageMax);
  if (!page.ok()) co_return page.status();
  absl::Status checked = CheckFilters(request);
  if (!checked.ok()) co_return checked;
  const absl::StatusOr<std::string> principal = PrincipalArgument(call, request.principal);
  if (!principal.ok()) co_return principal.status();
  const absl::StatusOr<AccountSettings> settings = co_await ReadAccountSettings(call, *principal);
  if (!settings.ok()) co_return settings.status();

  const std::map<std::string, std::string> selected = Selected(*settings, request);
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("settings");
  auto next = selected.upper_bound(page->after);
  std::string last;
  for (int64_t n = 0; n < page->limit && next != selected.end(); ++n, ++next) {
    last = next->first;
    WriteSetting({.name = last, .value = next->second, .principal = *principal}, writer);
  }
  writer.EndArray();
  WriteNextToken(*page, next != selected.end(), last, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

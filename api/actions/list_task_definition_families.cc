// ListTaskDefinitionFamilies names families, in alphabetical order.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/paging.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ListTaskDefinitionFamiliesRequest {
  std::string prefix = {};
  std::string status = {};
};
template <>
inline constexpr auto kFields<ListTaskDefinitionFamiliesRequest> = std::array{
    Field<&ListTaskDefinitionFamiliesRequest::prefix>("familyPrefix"),
    Field<&ListTaskDefinitionFamiliesRequest::status>("status"),
};

namespace {

using Filter = scheduler::ListTaskDefinitionFamilies::Filter;

absl::StatusOr<Filter> ParseStatus(const std::string& status) {
  if (status.empty() || status == "ALL") return Filter::kAll;
  if (status == "ACTIVE") return Filter::kActive;
  if (status == "INACTIVE") return Filter::kInactive;
  return model::InvalidParameter(
      absl::StrFormat("status is '%s': it should be one of ACTIVE, INACTIVE, ALL", status));
}

}  // namespace

net::awaitable<Answer> ListTaskDefinitionFamilies(Call call) {
  const auto request = Decode<ListTaskDefinitionFamiliesRequest>(call.body.root());
  const absl::StatusOr<Page> page = ParsePage("ListTaskDefinitionFamilies", call.body.root());
  if (!page.ok()) co_return page.status();
  const absl::StatusOr<Filter> filter = ParseStatus(request.status);
  if (!filter.ok()) co_return filter.status();

  scheduler::ListTaskDefinitionFamilies command{
      .prefix = request.prefix, .filter = *filter, .after = page->after, .limit = page->limit};
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("families");
  for (const std::string& family : reply->families) writer.String(family);
  writer.EndArray();
  if (!reply->families.empty()) {
    WriteNextToken(*page, reply->more, reply->families.back(), writer);
  }
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

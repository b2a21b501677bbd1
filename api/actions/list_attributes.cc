// ListAttributes lists the attributes of container instances, one row each.
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/paging.h"
#include "api/shapes/attribute.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ListAttributesRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::optional<std::string> target_type = std::nullopt;
  std::optional<std::string> name = std::nullopt;
  std::optional<std::string> value = std::nullopt;
};
template <>
inline constexpr auto kFields<ListAttributesRequest> = std::array{
    Field<&ListAttributesRequest::cluster>("cluster"),
    Field<&ListAttributesRequest::target_type>("targetType"),
    Field<&ListAttributesRequest::name>("attributeName"),
    Field<&ListAttributesRequest::value>("attributeValue"),
};

namespace {

// Between the two parts of a page's key. No instance's id has it.
constexpr char kKeySeparator = '/';

}  // namespace

net::awaitable<Answer> ListAttributes(Call call) {
  const auto request = Decode<ListAttributesRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  if (absl::Status checked = CheckTargetType(request.target_type); !checked.ok()) {
    co_return checked;
  }
  const absl::StatusOr<Page> page = ParsePage("ListAttributes", call.body.root());
  if (!page.ok()) co_return page.status();

  scheduler::ListAttributes command{
      .cluster = *cluster, .name = request.name, .value = request.value, .limit = page->limit};
  if (!page->after.empty()) {
    const size_t separator = page->after.find(kKeySeparator);
    if (separator == std::string::npos) co_return InvalidToken();
    command.after_instance = page->after.substr(0, separator);
    command.after_name = page->after.substr(separator + 1);
  }
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("attributes");
  for (const scheduler::ListAttributes::Row& row : reply->rows) {
    WriteAttribute(row.attribute, model::InstanceArn(call.scope(), *cluster, row.instance), writer);
  }
  writer.EndArray();
  if (!reply->rows.empty()) {
    const scheduler::ListAttributes::Row& last = reply->rows.back();
    const std::string key =
        absl::StrCat(last.instance.value, std::string(1, kKeySeparator), last.attribute.name);
    WriteNextToken(*page, reply->more, key, writer);
  }
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

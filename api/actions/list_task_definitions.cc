// ListTaskDefinitions names revisions: families in alphabetical order, then revisions by number.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/paging.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ListTaskDefinitionsRequest {
  std::optional<std::string> family = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  std::optional<std::string> sort = std::nullopt;
};
template <>
inline constexpr auto kFields<ListTaskDefinitionsRequest> = std::array{
    Field<&ListTaskDefinitionsRequest::family>("familyPrefix"),
    Field<&ListTaskDefinitionsRequest::status>("status"),
    Field<&ListTaskDefinitionsRequest::sort>("sort"),
};

namespace {

std::string KeyOf(const model::DefinitionId& id) {
  return absl::StrFormat("%s:%d", id.family, id.revision);
}

// The inverse of KeyOf.
absl::StatusOr<model::DefinitionId> DefinitionOf(const std::string& key,
                                                 const model::ArnScope& scope) {
  const absl::StatusOr<model::DefinitionRef> reference = model::ParseDefinition(scope, key);
  if (!reference.ok() || !reference->revision) return InvalidToken();
  return model::DefinitionId{.family = reference->family, .revision = *reference->revision};
}

}  // namespace

net::awaitable<Answer> ListTaskDefinitions(Call call) {
  const auto request = Decode<ListTaskDefinitionsRequest>(call.body.root());
  const absl::StatusOr<Page> page = ParsePage("ListTaskDefinitions", call.body.root());
  if (!page.ok()) co_return page.status();

  scheduler::ListTaskDefinitions command{.limit = page->limit};
  if (request.family && !request.family->empty()) command.family = request.family;
  if (request.status) {
    const auto status = model::ParseDefinitionStatus(*request.status);
    if (!status) {
      co_return model::InvalidParameter(absl::StrFormat(
          "status is '%s': it should be one of ACTIVE, INACTIVE, DELETE_IN_PROGRESS",
          *request.status));
    }
    command.status = *status;
  }
  if (request.sort && *request.sort != "ASC" && *request.sort != "DESC") {
    co_return model::InvalidParameter(
        absl::StrFormat("sort is '%s': it should be one of ASC, DESC", *request.sort));
  }
  command.descending = request.sort == "DESC";
  if (!page->after.empty()) {
    absl::StatusOr<model::DefinitionId> after = DefinitionOf(page->after, call.scope());
    if (!after.ok()) co_return after.status();
    command.after = *std::move(after);
  }
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("taskDefinitionArns");
  for (const model::DefinitionId& id : reply->ids) {
    writer.String(model::TaskDefinitionArn(call.scope(), id));
  }
  writer.EndArray();
  if (!reply->ids.empty()) WriteNextToken(*page, reply->more, KeyOf(reply->ids.back()), writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

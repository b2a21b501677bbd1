// DeleteTaskDefinitions: INACTIVE revisions are to go. Each that cannot is a failure with its
// reason; the others are deleted all the same.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/shapes/common.h"
#include "api/shapes/task_definition.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

inline constexpr size_t kDefinitionsPerDeletionMax = 10;

struct DeleteTaskDefinitionsRequest {
  std::vector<std::string> definitions = {};
};
template <>
inline constexpr auto kFields<DeleteTaskDefinitionsRequest> = std::array{
    Field<&DeleteTaskDefinitionsRequest::definitions>("taskDefinitions"),
};

namespace {

using Refusal = scheduler::DeleteTaskDefinitions::Refusal;

constexpr std::string_view kInvalid =
    "The specified task definition identifier is invalid. Specify a valid name or ARN and try "
    "again.";
constexpr std::string_view kUnknown =
    "The specified task definition does not exist. Specify a valid account, family, revision and "
    "try again.";
constexpr std::string_view kStillActive =
    "The specified task definition is still in ACTIVE status. Please deregister the target and try "
    "again.";

// One entry of the request, and what became of it.
struct Item {
  std::string text = {};
  std::string_view failure = {};
  scheduler::DefinitionRecord deleted = {};
};

absl::Status CheckSize(size_t size) {
  if (size == 0) {
    return model::InvalidParameter("size of TaskDefinition references list must be greater than 0");
  }
  if (size > kDefinitionsPerDeletionMax) {
    return model::InvalidParameter(absl::StrFormat(
        "Size of TaskDefinition references list cannot exceed %d", kDefinitionsPerDeletionMax));
  }
  return absl::OkStatus();
}

bool IsOfAnotherAccount(const model::ArnScope& scope, const std::string& text) {
  const std::optional<model::Arn> arn = model::ParseArn(text);
  return arn && arn->account != scope.account;
}

std::string_view ReasonOf(Refusal refusal) {
  return refusal == Refusal::kStillActive ? kStillActive : kUnknown;
}

std::string WriteAnswer(const std::vector<Item>& items, const model::ArnScope& scope) {
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("taskDefinitions");
  for (const Item& item : items) {
    if (item.failure.empty()) WriteTaskDefinition(*item.deleted, scope, writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const Item& item : items) {
    if (!item.failure.empty()) WriteFailure(item.text, item.failure, "", writer);
  }
  writer.EndArray();
  writer.EndObject();
  return writer.Take();
}

}  // namespace

net::awaitable<Answer> DeleteTaskDefinitions(Call call) {
  const auto request = Decode<DeleteTaskDefinitionsRequest>(call.body.root());
  absl::Status checked = CheckSize(request.definitions.size());
  if (!checked.ok()) co_return checked;

  std::vector<Item> items;
  scheduler::DeleteTaskDefinitions command;
  for (const std::string& text : request.definitions) {
    Item& item = items.emplace_back(Item{.text = text});
    const absl::StatusOr<model::DefinitionRef> reference =
        model::ParseDefinition(call.scope(), text);
    if (IsOfAnotherAccount(call.scope(), text)) {
      item.failure = kUnknown;
    } else if (!reference.ok() || !reference->revision) {
      item.failure = kInvalid;
    } else {
      command.definitions.push_back(
          {.family = reference->family, .revision = *reference->revision});
    }
  }
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  auto result = reply->results.begin();
  for (Item& item : items) {
    if (!item.failure.empty()) continue;
    if (result->record == nullptr) item.failure = ReasonOf(result->refusal);
    item.deleted = (result++)->record;
  }
  co_return WriteAnswer(items, call.scope());
}

}  // namespace berth::api

// RegisterTaskDefinition makes the next revision of a family. What the definition says wrong is a
// ClientException; the order is: Berth's own rules (model/), then what the API model says of every
// member, then size and tags.
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/common.h"
#include "api/shapes/task_definition.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

inline constexpr size_t kDefinitionBytesMax = 64 * 1024;

// What the typed spec does not hold.
struct RegisterTaskDefinitionRequest {
  std::vector<TagArgument> tags = {};
};
template <>
inline constexpr auto kFields<RegisterTaskDefinitionRequest> = std::array{
    Field<&RegisterTaskDefinitionRequest::tags>("tags"),
};

namespace {

constexpr std::string_view kSharedIsolation = "SHARED";

// The sandboxes are AWS's own machinery. To run such a task without one would break its promise.
absl::Status CheckIsolation(JsonView body) {
  const JsonView trusted = body.Find("trustedExecutionConfiguration");
  if (!trusted) return absl::OkStatus();
  const JsonView mode = trusted.Find("isolationMode");
  if (!mode || mode.AsString() == kSharedIsolation) return absl::OkStatus();
  return model::ClientError(absl::StrFormat(
      "trustedExecutionConfiguration.isolationMode is '%s', which is not offered here; it must be "
      "%s",
      mode.AsString(), kSharedIsolation));
}

absl::Status CheckDefinition(JsonView body, const model::TaskSpec& spec) {
  absl::Status valid = model::ValidateTaskSpec(spec);
  if (!valid.ok()) return valid;
  if (const auto zero = FindZeroCharacter(body)) return model::ClientError(*zero);
  if (const auto missing = FindMissingMember(body)) return model::ClientError(*missing);
  if (const auto unknown = FindUnknownWord(body)) return model::ClientError(*unknown);
  return CheckIsolation(body);
}

}  // namespace

net::awaitable<Answer> RegisterTaskDefinition(Call call) {
  const JsonView body = call.body.root();
  const auto request = Decode<RegisterTaskDefinitionRequest>(body);
  auto spec = std::make_shared<const model::TaskSpec>(DecodeTaskSpec(body));
  absl::Status checked = CheckDefinition(body, *spec);
  if (!checked.ok()) co_return checked;
  absl::StatusOr<model::Tags> tags = ParseTags(request.tags);
  if (!tags.ok()) co_return tags.status();
  auto document = std::make_shared<const std::string>(MakeDefinitionDocument(body, *spec));
  if (document->size() > kDefinitionBytesMax) {
    co_return model::ClientError(
        absl::StrFormat("Actual length: '%d'. Max allowed length is '%d' bytes.", document->size(),
                        kDefinitionBytesMax));
  }

  scheduler::RegisterTaskDefinition command{.family = spec->family,
                                            .document = std::move(document),
                                            .spec = std::move(spec),
                                            .tags = *std::move(tags),
                                            .registered_by = call.caller.principal_arn};
  absl::StatusOr<scheduler::DefinitionRecord> definition =
      co_await call.context.loop.Submit(std::move(command));
  if (!definition.ok()) co_return definition.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("taskDefinition");
  WriteTaskDefinition(**definition, call.scope(), writer);
  WriteTags((*definition)->tags, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

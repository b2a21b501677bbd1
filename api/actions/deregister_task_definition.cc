// DeregisterTaskDefinition makes a revision INACTIVE: what runs goes on, nothing new starts from
// it.
#include <utility>

#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/shapes/task_definition.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DeregisterTaskDefinitionRequest {
  std::string definition = {};
};
template <>
inline constexpr auto kFields<DeregisterTaskDefinitionRequest> = std::array{
    Field<&DeregisterTaskDefinitionRequest::definition>("taskDefinition"),
};

net::awaitable<Answer> DeregisterTaskDefinition(Call call) {
  const auto request = Decode<DeregisterTaskDefinitionRequest>(call.body.root());
  const absl::StatusOr<model::DefinitionRef> reference =
      model::ParseDefinition(call.scope(), request.definition);
  if (!reference.ok()) co_return reference.status();
  if (!reference->revision) co_return model::ClientError("Revision is missing.");

  scheduler::DeregisterTaskDefinition command{
      .definition = {.family = reference->family, .revision = *reference->revision}};
  absl::StatusOr<scheduler::DefinitionRecord> definition =
      co_await call.context.loop.Submit(std::move(command));
  if (!definition.ok()) co_return definition.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("taskDefinition");
  WriteTaskDefinition(**definition, call.scope(), writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

// DescribeTaskDefinition shows one revision; of a bare family the latest ACTIVE one.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/common.h"
#include "api/shapes/task_definition.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DescribeTaskDefinitionRequest {
  std::string definition = {};
  std::vector<std::string> include = {};
};
template <>
inline constexpr auto kFields<DescribeTaskDefinitionRequest> = std::array{
    Field<&DescribeTaskDefinitionRequest::definition>("taskDefinition"),
    Field<&DescribeTaskDefinitionRequest::include>("include"),
};

net::awaitable<Answer> DescribeTaskDefinition(Call call) {
  const auto request = Decode<DescribeTaskDefinitionRequest>(call.body.root());
  if (request.definition.empty()) {
    co_return model::InvalidParameter("Task Definition can not be blank.");
  }
  absl::StatusOr<model::DefinitionRef> reference =
      model::ParseDefinition(call.scope(), request.definition);
  if (!reference.ok()) co_return reference.status();

  if (const auto unknown = FindUnknownWord(call.body.root())) {
    co_return model::InvalidParameter(*unknown);
  }
  scheduler::DescribeTaskDefinition command{.definition = *std::move(reference)};
  absl::StatusOr<scheduler::DefinitionRecord> definition =
      co_await call.context.loop.Submit(std::move(command));
  if (!definition.ok()) co_return definition.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("taskDefinition");
  WriteTaskDefinition(**definition, call.scope(), writer);
  WriteTags(Includes(request.include, "TAGS") ? (*definition)->tags : model::Tags{}, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

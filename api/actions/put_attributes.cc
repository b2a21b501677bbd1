// PutAttributes gives container instances attributes of the caller's own, or new values to those.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/attribute.h"
#include "scheduler/commands.h"

namespace berth::api {

struct PutAttributesRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::vector<AttributeArgument> attributes = {};
};
template <>
inline constexpr auto kFields<PutAttributesRequest> = std::array{
    Field<&PutAttributesRequest::cluster>("cluster"),
    Field<&PutAttributesRequest::attributes>("attributes"),
};

net::awaitable<Answer> PutAttributes(Call call) {
  const auto request = Decode<PutAttributesRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  auto targets = ParseTargets(request.attributes, *cluster, call.scope());
  if (!targets.ok()) co_return targets.status();

  scheduler::PutAttributes command{.cluster = *cluster, .attributes = *targets};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("attributes");
  for (const auto& [instance, attribute] : *targets) {
    WriteAttribute(attribute, model::InstanceArn(call.scope(), *cluster, instance), writer);
  }
  writer.EndArray();
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

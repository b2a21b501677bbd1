// DiscoverPollEndpoint tells an agent where its channel is: at this server. Whether cluster and
// instance are known is checked when the channel is opened.
#include "api/arguments.h"
#include "api/call.h"
#include "model/errors.h"

namespace berth::api {

struct DiscoverPollEndpointRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string instance = {};
};
template <>
inline constexpr auto kFields<DiscoverPollEndpointRequest> = std::array{
    Field<&DiscoverPollEndpointRequest::cluster>("cluster"),
    Field<&DiscoverPollEndpointRequest::instance>("containerInstance"),
};

net::awaitable<Answer> DiscoverPollEndpoint(Call call) {
  const auto request = Decode<DiscoverPollEndpointRequest>(call.body.root());
  const absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  if (!request.instance.empty()) {
    const auto instance = model::ParseInstance(call.scope(), *cluster, request.instance);
    if (!instance.ok()) co_return instance.status();
  }
  const std::string& endpoint = call.context.settings.public_endpoint;
  // An agent crashes on an empty one.
  if (endpoint.empty()) co_return model::Unavailable("the server does not know its address yet");

  JsonWriter writer;
  writer.BeginObject();
  writer.String("endpoint", endpoint + kAgentChannelBase);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

#include "api/channel_request.h"

#include <map>
#include <string>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::api {
namespace {

constexpr char kDefaultCluster[] = "default";

}  // namespace

absl::StatusOr<ChannelRequest> ParseChannelRequest(const HttpRequest& request,
                                                   const model::ArnScope& scope) {
  if (!request.origin.empty()) {
    return model::InvalidParameter(
        "the handshake has an Origin header; the agents' channel is not for browsers");
  }
  const auto url = boost::urls::parse_origin_form(request.target);
  if (!url.has_value())
    return model::InvalidParameter("the handshake's target is no path and query");
  std::map<std::string, std::string> query;
  for (const auto& param : url->params()) {
    query[std::string(param.key)] = std::string(param.value);
  }

  const std::string& protocol = query["protocolVersion"];
  if (!protocol.empty() && protocol != "1" && protocol != "2") {
    return model::InvalidParameter(absl::StrFormat(
        "protocolVersion is %s; this server speaks 2, and 1 for older agents", protocol));
  }
  const std::string& cluster_text = query["clusterArn"];
  absl::StatusOr<model::ClusterName> cluster =
      model::ParseCluster(scope, cluster_text.empty() ? kDefaultCluster : cluster_text);
  if (!cluster.ok()) return cluster.status();
  if (query["containerInstanceArn"].empty()) {
    return model::InvalidParameter(
        "containerInstanceArn is missing; it is the ARN that RegisterContainerInstance answered");
  }
  absl::StatusOr<model::InstanceId> instance =
      model::ParseInstance(scope, *cluster, query["containerInstanceArn"]);
  if (!instance.ok()) return instance.status();

  return ChannelRequest{.cluster = *std::move(cluster),
                        .instance = *std::move(instance),
                        .version_info = {.agent_version = query["agentVersion"],
                                         .agent_hash = query["agentHash"],
                                         .docker_version = query["dockerVersion"]}};
}

}  // namespace berth::api

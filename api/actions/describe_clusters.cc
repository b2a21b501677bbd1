// DescribeClusters shows clusters, INACTIVE ones too, with the counts of one moment.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/cluster.h"
#include "api/shapes/common.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DescribeClustersRequest {
  std::vector<std::string> clusters = {};
  std::vector<std::string> include = {};
};
template <>
inline constexpr auto kFields<DescribeClustersRequest> = std::array{
    Field<&DescribeClustersRequest::clusters>("clusters"),
    Field<&DescribeClustersRequest::include>("include"),
};

namespace {

absl::StatusOr<std::vector<model::ClusterName>> ParseClusters(
    const model::ArnScope& scope, const std::vector<std::string>& texts) {
  std::vector<model::ClusterName> names;
  for (const std::string& text : texts) {
    absl::StatusOr<model::ClusterName> name = ClusterArgument(scope, text);
    if (!name.ok()) return name.status();
    names.push_back(*std::move(name));
  }
  return names;
}

}  // namespace

net::awaitable<Answer> DescribeClusters(Call call) {
  auto request = Decode<DescribeClustersRequest>(call.body.root());
  // Without names it is about `default`, and silent where that does not exist.
  const bool named = !request.clusters.empty();
  if (!named) request.clusters.emplace_back();
  absl::StatusOr<std::vector<model::ClusterName>> names =
      ParseClusters(call.scope(), request.clusters);
  if (!names.ok()) co_return names.status();

  if (const auto unknown = FindUnknownWord(call.body.root())) {
    co_return model::InvalidParameter(*unknown);
  }
  scheduler::DescribeClusters command{.names = *std::move(names)};
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  const ClusterParts parts{.settings = Includes(request.include, "SETTINGS"),
                           .configuration = Includes(request.include, "CONFIGURATIONS"),
                           .statistics = Includes(request.include, "STATISTICS"),
                           .tags = Includes(request.include, "TAGS"),
                           .attachments = Includes(request.include, "ATTACHMENTS")};
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("clusters");
  for (const scheduler::ClusterSnapshot& cluster : reply->clusters) {
    WriteCluster(cluster, parts, call.scope(), writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  if (named) {
    for (const model::ClusterName& name : reply->missing) {
      WriteFailure(model::ClusterArn(call.scope(), name), kMissing, "", writer);
    }
  }
  writer.EndArray();
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

// ListContainerInstances names the machines of a cluster, by ARN: all but INACTIVE ones, of those
// the ones of a status and those that the filter describes.
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/paging.h"
#include "api/shape_checks.h"
#include "model/errors.h"
#include "placement/query.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ListContainerInstancesRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  std::string filter = {};
};
template <>
inline constexpr auto kFields<ListContainerInstancesRequest> = std::array{
    Field<&ListContainerInstancesRequest::cluster>("cluster"),
    Field<&ListContainerInstancesRequest::status>("status"),
    Field<&ListContainerInstancesRequest::filter>("filter"),
};

net::awaitable<Answer> ListContainerInstances(Call call) {
  const auto request = Decode<ListContainerInstancesRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  const absl::StatusOr<Page> page = ParsePage("ListContainerInstances", call.body.root());
  if (!page.ok()) co_return page.status();
  std::shared_ptr<const placement::Query> filter;
  if (!request.filter.empty()) {
    auto query = placement::Query::Compile(request.filter);
    if (!query.ok()) {
      co_return model::InvalidParameter(
          absl::StrFormat("filter: %s", std::string(query.status().message())));
    }
    filter = *std::move(query);
  }
  if (const auto unknown = FindUnknownWord(call.body.root())) {
    co_return model::InvalidParameter(*unknown);
  }

  scheduler::ListContainerInstances command{
      .cluster = *cluster, .filter = std::move(filter), .after = page->after, .limit = page->limit};
  std::optional<model::InstanceStatus> status;
  if (request.status) {
    status = model::ParseInstanceStatus(*request.status);
    // REGISTERING, DEREGISTERING and REGISTRATION_FAILED are legal, and no instance is ever in
    // them; the cluster is asked all the same, so that one that does not exist is an error.
    if (!status) command.limit = 1;
  }
  const bool nothing = request.status.has_value() && !status;
  command.status = status;
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  if (nothing) reply->ids.clear();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("containerInstanceArns");
  for (const model::InstanceId& id : reply->ids) {
    writer.String(model::InstanceArn(call.scope(), *cluster, id));
  }
  writer.EndArray();
  if (!reply->ids.empty()) WriteNextToken(*page, reply->more, reply->ids.back().value, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

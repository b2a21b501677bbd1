// ListClusters names the ACTIVE clusters, by ARN.
#include <utility>

#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/paging.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

net::awaitable<Answer> ListClusters(Call call) {
  const absl::StatusOr<Page> page = ParsePage("ListClusters", call.body.root());
  if (!page.ok()) co_return page.status();

  scheduler::ListClusters command{.after = page->after, .limit = page->limit};
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("clusterArns");
  for (const model::ClusterName& name : reply->names) {
    writer.String(model::ClusterArn(call.scope(), name));
  }
  writer.EndArray();
  if (!reply->names.empty()) {
    WriteNextToken(*page, reply->more, reply->names.back().value, writer);
  }
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

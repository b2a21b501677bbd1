// DescribeTasks shows tasks; those that are unknown, or forgotten, are failures.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/common.h"
#include "api/shapes/task.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct DescribeTasksRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::vector<std::string> tasks = {};
  std::vector<std::string> include = {};
};
template <>
inline constexpr auto kFields<DescribeTasksRequest> = std::array{
    Field<&DescribeTasksRequest::cluster>("cluster"),
    Field<&DescribeTasksRequest::tasks>("tasks"),
    Field<&DescribeTasksRequest::include>("include"),
};

net::awaitable<Answer> DescribeTasks(Call call) {
  const auto request = Decode<DescribeTasksRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();

  if (const auto unknown = FindUnknownWord(call.body.root())) {
    co_return model::InvalidParameter(*unknown);
  }
  scheduler::DescribeTasks command{.cluster = *cluster};
  auto ids = TaskArguments(call.scope(), *cluster, request.tasks);
  if (!ids.ok()) co_return ids.status();
  command.ids = *std::move(ids);
  auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();

  const bool with_tags = Includes(request.include, "TAGS");
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("tasks");
  for (const model::TaskRecord& task : reply->tasks) {
    WriteTask(*task, with_tags, call.scope(), writer);
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const model::TaskId& id : reply->missing) {
    WriteFailure(model::TaskArn(call.scope(), *cluster, id), kMissing, "", writer);
  }
  writer.EndArray();
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

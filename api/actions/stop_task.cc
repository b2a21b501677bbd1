// StopTask asks for a task to end, and answers with the task as it then stands. Sent twice it does
// the same once: clients repeat a call when its answer is lost.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/task.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct StopTaskRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string task = {};
  std::optional<std::string> reason = std::nullopt;
};
template <>
inline constexpr auto kFields<StopTaskRequest> = std::array{
    Field<&StopTaskRequest::cluster>("cluster"),
    Field<&StopTaskRequest::task>("task"),
    Field<&StopTaskRequest::reason>("reason"),
};

net::awaitable<Answer> StopTask(Call call) {
  auto request = Decode<StopTaskRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  if (request.task.empty()) co_return model::InvalidParameter("Task can not be blank.");
  absl::StatusOr<model::TaskId> task = model::ParseTask(call.scope(), *cluster, request.task);
  if (!task.ok()) co_return task.status();
  if (const auto zero = FindZeroCharacter(call.body.root())) {
    co_return model::InvalidParameter(*zero);
  }

  scheduler::StopTask command{.cluster = *std::move(cluster),
                              .task = *std::move(task),
                              .reason = std::move(request.reason)};
  // Resumes after the commit: what this answer says survives a crash.
  absl::StatusOr<model::TaskRecord> stopped = co_await call.context.loop.Submit(std::move(command));
  if (!stopped.ok()) co_return stopped.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("task");
  WriteTask(**stopped, /*with_tags=*/true, call.scope(), writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

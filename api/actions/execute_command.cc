// ExecuteCommand checks what ECS checks, and then says that there is no data channel to run a
// command through, and what does the same.
#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ExecuteCommandRequest {
  std::optional<std::string> cluster = std::nullopt;
  std::string container = {};
  std::string command = {};
  bool interactive = false;
  std::string task = {};
};
template <>
inline constexpr auto kFields<ExecuteCommandRequest> = std::array{
    Field<&ExecuteCommandRequest::cluster>("cluster"),
    Field<&ExecuteCommandRequest::container>("container"),
    Field<&ExecuteCommandRequest::command>("command"),
    Field<&ExecuteCommandRequest::interactive>("interactive"),
    Field<&ExecuteCommandRequest::task>("task"),
};

namespace {

using model::InvalidParameter;

// To the letter, with its typographic apostrophe.
constexpr char kNotEnabled[] =
    "The execute command failed because execute command was not enabled when the task was run or "
    "the execute command agent isn’t running. Wait and try again or run a new task with execute "
    "command enabled and try again.";

absl::Status CheckArguments(const ExecuteCommandRequest& request, JsonView body) {
  if (!request.interactive) {
    return InvalidParameter(
        "interactive is false: it should be true, since commands are interactive only");
  }
  if (request.command.empty()) {
    return InvalidParameter("command is empty: it should be the command to run");
  }
  if (const auto zero = FindZeroCharacter(body)) return InvalidParameter(*zero);
  return absl::OkStatus();
}

// The container that is meant: by its name, or the only one.
absl::StatusOr<const model::TaskContainer*> ChooseContainer(const model::Task& task,
                                                            const std::string& name) {
  if (name.empty()) {
    if (task.containers.size() == 1) return &task.containers.front();
    return InvalidParameter(
        absl::StrFormat("container is missing: task %s has %d containers, so one must be named",
                        task.id.value, task.containers.size()));
  }
  const auto found = std::ranges::find(task.containers, name, &model::TaskContainer::name);
  if (found != task.containers.end()) return &*found;
  return InvalidParameter(absl::StrFormat(
      "container is '%s': task %s has no container of that name", name, task.id.value));
}

absl::Status NoDataChannel(const model::Task& task, const model::TaskContainer& container) {
  return model::MakeError(
      model::ErrorKind::kTargetNotConnected,
      absl::StrFormat("this installation has no data channel for execute command. Run `docker exec "
                      "-it %s COMMAND` on the machine of container instance %s, where container "
                      "'%s' of the task is",
                      container.runtime_id.empty() ? "CONTAINER" : container.runtime_id,
                      task.instance.value, container.name));
}

}  // namespace

net::awaitable<Answer> ExecuteCommand(Call call) {
  const auto request = Decode<ExecuteCommandRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  absl::Status checked = CheckArguments(request, call.body.root());
  if (!checked.ok()) co_return checked;
  if (request.task.empty()) co_return InvalidParameter("Task can not be blank.");
  absl::StatusOr<model::TaskId> id = model::ParseTask(call.scope(), *cluster, request.task);
  if (!id.ok()) co_return id.status();

  scheduler::DescribeTasks command{.cluster = *cluster, .ids = {*id}};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  if (reply->tasks.empty()) co_return model::TaskNotFound();
  const model::Task& task = *reply->tasks.front();
  const auto container = ChooseContainer(task, request.container);
  if (!container.ok()) co_return container.status();
  if (task.last_status != model::TaskStatus::kRunning || !task.enable_execute_command) {
    co_return InvalidParameter(kNotEnabled);
  }
  co_return NoDataChannel(task, **container);
}

}  // namespace berth::api

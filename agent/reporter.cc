#include "agent/reporter.h"

#include <spdlog/spdlog.h>

#include "agent/json_parts.h"
#include "agent/spawn.h"
#include "model/utf8.h"

namespace berth::agent {

namespace {

// The server cuts longer ones.
constexpr size_t kReasonMax = 1024;  // characters

void WriteTime(json::Builder& out, std::string_view name, absl::Time time) {
  if (time == absl::InfinitePast()) return;
  out.Key(name).Number(static_cast<double>(absl::ToUnixMillis(time)) / 1000.0);
}

void WriteContainer(json::Builder& out, const ContainerPayload& container,
                    const ContainerState& state, model::ContainerStatus status) {
  out.Object();
  out.Member("containerName", container.name);
  out.Member("status", model::ToString(status));
  if (!state.runtime_id.empty()) out.Member("runtimeId", state.runtime_id);
  if (!state.image_digest.empty()) out.Member("imageDigest", state.image_digest);
  if (status == model::ContainerStatus::kStopped) {
    if (state.exit_code) out.Member("exitCode", *state.exit_code);
    if (!state.reason.empty())
      out.Member("reason", model::FirstCharacters(state.reason, kReasonMax));
  }
  if (!state.bindings.empty()) {
    out.Key("networkBindings");
    WriteNetworkBindings(state.bindings, out);
  }
  out.EndObject();
}

}  // namespace

std::string ReportBody(const std::string& cluster, const TaskPayload& task, const TaskState& state,
                       const TaskReport& report) {
  json::Builder out;
  out.Object();
  out.Member("cluster", cluster);
  out.Member("task", task.arn);
  out.Member("status", model::ToString(report.status));
  if (report.status == model::TaskStatus::kStopped && !state.reason.empty()) {
    out.Member("reason", model::FirstCharacters(state.reason, kReasonMax));
  }
  WriteTime(out, "pullStartedAt", state.pull_started_at);
  WriteTime(out, "pullStoppedAt", state.pull_stopped_at);
  WriteTime(out, "executionStoppedAt", state.execution_stopped_at);
  out.Key("containers").Array();
  for (const ContainerReport& entry : report.containers) {
    WriteContainer(out, task.containers[entry.container], state.containers[entry.container],
                   entry.status);
  }
  out.EndArray().EndObject();
  return out.Text();
}

Reporter::Reporter(net::any_io_executor executor, std::shared_ptr<EcsClient> server, Save save,
                   Settings settings)
    : executor_(std::move(executor)),
      server_(std::move(server)),
      save_(std::move(save)),
      settings_(std::move(settings)) {}

void Reporter::Notify(TaskPtr task) {
  if (busy_.contains(task.get())) return;  // It looks again when it is done.
  const std::optional<TaskReport> report = NextReport(task->state());
  if (!report) return;
  if (!report->may_wait) {
    Enqueue(std::move(task));
  } else if (delayed_.insert(task.get()).second) {
    Spawn(executor_, "report delay", Delay(std::move(task)));
  }
}

net::awaitable<void> Reporter::Delay(TaskPtr task) {
  const auto self = shared_from_this();
  co_await Sleep(settings_.batch_window);
  delayed_.erase(task.get());
  if (!busy_.contains(task.get()) && NextReport(task->state())) Enqueue(std::move(task));
}

void Reporter::Enqueue(TaskPtr task) {
  busy_.insert(task.get());
  ready_.push_back(std::move(task));
  Pump();
}

void Reporter::Pump() {
  while (sending_ < kReportsAtOnce && !ready_.empty()) {
    TaskPtr task = std::move(ready_.front());
    ready_.pop_front();
    ++sending_;
    Spawn(executor_, "report", SendNext(std::move(task)));
  }
}

net::awaitable<void> Reporter::SendNext(TaskPtr task) {
  const auto self = shared_from_this();
  co_await save_(task);
  // Taken after the save: it may say more than when the task was put in the queue, and all of what
  // is said must be on disk. A change during the save is saved again before it is said.
  std::optional<TaskReport> report = NextReport(task->state());
  if (report) co_await Send(task, *std::move(report));
  busy_.erase(task.get());
  --sending_;
  Notify(std::move(task));
  Pump();
}

net::awaitable<void> Reporter::Send(TaskPtr task, TaskReport report) {
  const std::string body = ReportBody(settings_.cluster, task->task(), task->state(), report);
  Backoff backoff(settings_.retry, settings_.rng.Fork());
  while (true) {
    const absl::StatusOr<ApiAnswer> answer = co_await server_->Call("SubmitTaskStateChange", body);
    if (answer.ok() && answer->ok()) break;
    const std::string why =
        answer.ok() ? Describe(*answer) : std::string(answer.status().message());
    if (answer.ok() && answer->type == "InvalidParameterException") {
      spdlog::warn("task {}: the server refuses the report {}, it is dropped: {}", task->task().id,
                   std::string(model::ToString(report.status)), why);
      break;
    }
    const absl::Duration wait = backoff.Next();
    spdlog::warn("task {}: report {} will be sent again in {}: {}", task->task().id,
                 std::string(model::ToString(report.status)), absl::FormatDuration(wait), why);
    co_await Sleep(wait);
  }
  Acknowledge(task->mutable_state(), report);
  co_await save_(task);
}

}  // namespace berth::agent

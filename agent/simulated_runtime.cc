#include "agent/simulated_runtime.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/spawn.h"

namespace berth::agent {

namespace {

constexpr char kRunSeconds[] = "BERTH_SIMULATED_RUN_SECONDS";
constexpr char kExitCode[] = "BERTH_SIMULATED_EXIT_CODE";
constexpr int64_t kTerminated = 143;

std::optional<double> NumberOf(const ContainerPayload& container, const char* name) {
  const auto found = container.environment.find(name);
  double number = 0;
  if (found == container.environment.end() || !absl::SimpleAtod(found->second, &number)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

SimulatedRuntime::SimulatedRuntime(net::any_io_executor executor, std::string name)
    : executor_(std::move(executor)), name_(std::move(name)) {}

net::awaitable<absl::StatusOr<std::string>> SimulatedRuntime::Pull(std::string) {
  co_return std::string();
}

net::awaitable<absl::Status> SimulatedRuntime::Prepare(TaskPtr) { co_return absl::OkStatus(); }

net::awaitable<absl::StatusOr<std::string>> SimulatedRuntime::Create(TaskPtr task,
                                                                     size_t container) {
  co_return absl::StrFormat("simulated-%s-%s-%d", name_, task->id, container);
}

net::awaitable<absl::StatusOr<StartedContainer>> SimulatedRuntime::Start(std::string) {
  StartedContainer started;
  started.started_at = absl::Now();
  co_return started;
}

net::awaitable<absl::Status> SimulatedRuntime::Stop(std::string id, absl::Duration) {
  const auto found = watched_.find(id);
  if (found != watched_.end()) End(id, found->second.stop_code);
  co_return absl::OkStatus();
}

void SimulatedRuntime::Watch(std::string id, TaskPtr task, size_t container,
                             std::function<void(ContainerExit)> ended) {
  const ContainerPayload& payload = task->containers[container];
  const std::optional<double> code = NumberOf(payload, kExitCode);
  watched_[id] = {.ended = std::move(ended),
                  .stop_code = code ? static_cast<int64_t>(*code) : kTerminated};
  if (const std::optional<double> seconds = NumberOf(payload, kRunSeconds)) {
    Spawn(executor_, "simulated container",
          EndAfter(std::move(id), absl::Seconds(*seconds), static_cast<int64_t>(code.value_or(0))));
  }
}

net::awaitable<void> SimulatedRuntime::EndAfter(std::string id, absl::Duration run,
                                                int64_t exit_code) {
  const auto self = shared_from_this();
  co_await Sleep(run);
  End(id, exit_code);
}

void SimulatedRuntime::End(const std::string& id, int64_t exit_code) {
  const auto found = watched_.find(id);
  if (found == watched_.end()) return;  // It was stopped before its time.
  const Watched watched = std::move(found->second);
  watched_.erase(found);
  ContainerExit exit;
  exit.exit_code = exit_code;
  exit.finished_at = absl::Now();
  watched.ended(std::move(exit));
}

net::awaitable<model::HealthStatus> SimulatedRuntime::Health(std::string) {
  co_return model::HealthStatus::kHealthy;
}

net::awaitable<absl::Status> SimulatedRuntime::TearDown(std::string) { co_return absl::OkStatus(); }

net::awaitable<absl::Status> SimulatedRuntime::Remove(std::string) { co_return absl::OkStatus(); }

net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> SimulatedRuntime::Find() {
  co_return std::move(adopted_);
}

void SimulatedRuntime::AdoptRunning(const TaskRecord& record) {
  for (size_t i = 0; i < record.state.containers.size(); ++i) {
    const ContainerState& state = record.state.containers[i];
    if (!state.has_run || state.phase == Phase::kStopped) continue;
    FoundContainer found;
    found.runtime_id = state.runtime_id;
    found.task_arn = record.task->arn;
    found.container_name = record.task->containers[i].name;
    found.running = true;
    found.has_run = true;
    found.started.started_at = state.started_at;
    adopted_.push_back(std::move(found));
  }
}

}  // namespace berth::agent

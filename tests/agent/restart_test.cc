// Containers that end and start again in place, without Docker.
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "agent/task_flow.h"

namespace berth::agent {
namespace {

const RestartPayload kPolicy = {.ignored_exit_codes = {0}, .attempt_period = absl::Seconds(60)};

TaskPayload TaskWithPolicy() {
  TaskPayload task;
  task.arn = "arn:aws:ecs:us-east-1:000000000000:task/c/t1";
  task.id = "t1";
  task.containers.push_back({.name = "a", .image = "i", .restart = kPolicy});
  return task;
}

// One container, whose runs are as long as said and end at once with these codes.
class EndingRuntime : public Runtime {
 public:
  std::vector<ContainerExit> exits = {};
  absl::Duration ran = absl::Minutes(2);
  size_t starts = 0;

  explicit EndingRuntime(net::any_io_executor executor) : executor_(std::move(executor)) {}

  net::awaitable<absl::StatusOr<std::string>> Pull(std::string) override {
    co_return std::string("sha256:1");
  }
  net::awaitable<absl::Status> Prepare(TaskPtr) override { co_return absl::OkStatus(); }
  net::awaitable<absl::StatusOr<std::string>> Create(TaskPtr, size_t) override {
    co_return std::string("c1");
  }
  net::awaitable<absl::StatusOr<StartedContainer>> Start(std::string) override {
    ++starts;
    co_return StartedContainer{.started_at = absl::FromUnixSeconds(1000)};
  }
  net::awaitable<absl::Status> Stop(std::string, absl::Duration) override {
    co_return absl::OkStatus();
  }
  void Watch(std::string, TaskPtr, size_t, std::function<void(ContainerExit)> ended) override {
    REQUIRE(starts <= exits.size());
    ContainerExit exit = exits[starts - 1];
    exit.finished_at = absl::FromUnixSeconds(1000) + ran;
    net::post(executor_, [ended, exit] { ended(exit); });
  }
  net::awaitable<model::HealthStatus> Health(std::string) override {
    co_return model::HealthStatus::kUnknown;
  }
  net::awaitable<absl::Status> TearDown(std::string) override { co_return absl::OkStatus(); }
  net::awaitable<absl::Status> Remove(std::string) override { co_return absl::OkStatus(); }
  net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> Find() override {
    co_return std::vector<FoundContainer>();
  }

 private:
  net::any_io_executor executor_;
};

TEST_CASE("a task goes on over its container's restarts and ends with the last run", "[agent]") {
  net::io_context loop;
  const auto runtime = std::make_shared<EndingRuntime>(loop.get_executor());
  runtime->exits = {
      {.exit_code = 1, .reason = "OutOfMemoryError: killed"}, {.exit_code = 2}, {.exit_code = 0}};
  const auto flow = std::make_shared<TaskFlow>(
      loop.get_executor(), std::make_shared<TaskPayload>(TaskWithPolicy()), TaskState(), runtime,
      TaskFlow::Settings{.stop_retry = absl::Milliseconds(1)}, [] {});

  flow->Begin();
  loop.run();

  const ContainerState& container = flow->state().containers[0];
  CHECK(runtime->starts == 3);
  CHECK(container.restarts == 2);
  CHECK(container.exit_code == 0);
  CHECK(container.reason.empty());
  CHECK(flow->state().status == model::TaskStatus::kStopped);
  CHECK(flow->state().execution_stopped_at == container.finished_at);
}

TEST_CASE("what ended while the agent was away starts again by the same policy", "[agent]") {
  const auto [ran, phase, restarts] = GENERATE(table<absl::Duration, Phase, int64_t>(
      {{absl::Minutes(2), Phase::kCreated, 1}, {absl::Seconds(2), Phase::kStopped, 0}}));
  const TaskPayload task = TaskWithPolicy();
  TaskState state;
  state.containers = {{.phase = Phase::kRunning, .runtime_id = "c1", .has_run = true}};
  const absl::Time start = absl::FromUnixSeconds(1000);
  const FoundContainer found = {.runtime_id = "c1",
                                .task_arn = task.arn,
                                .container_name = "a",
                                .has_run = true,
                                .started = {.started_at = start},
                                .exit = {.exit_code = 1, .finished_at = start + ran}};

  AdoptContainers(task, {found}, absl::Now(), state);

  CHECK(state.containers[0].phase == phase);
  CHECK(state.containers[0].restarts == restarts);
}

}  // namespace
}  // namespace berth::agent

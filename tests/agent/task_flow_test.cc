// How a task ends when the runtime fails while it is being taken down.
#include "agent/task_flow.h"

#include <catch2/catch.hpp>

#include "absl/time/clock.h"

namespace berth::agent {
namespace {

// Has one container, which it cannot pull or cannot start, and cannot take it down at first.
class FailingRuntime : public Runtime {
 public:
  bool pulls = true;
  int tear_down_failures = 0;
  int tear_downs = 0;
  std::function<void()> on_tear_down = [] {};

  net::awaitable<absl::StatusOr<std::string>> Pull(std::string) override {
    if (!pulls) co_return absl::UnavailableError("CannotPullContainerError: away");
    co_return std::string("sha256:1");
  }
  net::awaitable<absl::Status> Prepare(TaskPtr) override { co_return absl::OkStatus(); }
  net::awaitable<absl::StatusOr<std::string>> Create(TaskPtr, size_t) override {
    co_return std::string("c1");
  }
  net::awaitable<absl::StatusOr<StartedContainer>> Start(std::string) override {
    co_return absl::UnavailableError("CannotStartContainerError: away");
  }
  net::awaitable<absl::Status> Stop(std::string, absl::Duration) override {
    co_return absl::OkStatus();
  }
  void Watch(std::string, TaskPtr, size_t, std::function<void(ContainerExit)>) override {}
  net::awaitable<model::HealthStatus> Health(std::string) override {
    co_return model::HealthStatus::kUnknown;
  }
  net::awaitable<absl::Status> TearDown(std::string) override {
    on_tear_down();
    if (tear_downs++ < tear_down_failures) co_return absl::UnavailableError("away");
    co_return absl::OkStatus();
  }
  net::awaitable<absl::Status> Remove(std::string) override { co_return absl::OkStatus(); }
  net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> Find() override {
    co_return std::vector<FoundContainer>();
  }
};

// The task's status at each attempt to take it down, and after all of them.
std::vector<model::TaskStatus> StatusesAtTearDown(const std::shared_ptr<FailingRuntime>& runtime) {
  net::io_context loop;
  auto task = std::make_shared<TaskPayload>();
  task->id = "t1";
  task->containers.push_back({.name = "a", .image = "i"});
  const TaskFlow::Settings settings = {.stop_retry = absl::Milliseconds(1)};
  const auto flow =
      std::make_shared<TaskFlow>(loop.get_executor(), task, TaskState(), runtime, settings, [] {});
  std::vector<model::TaskStatus> statuses;
  runtime->on_tear_down = [&] { statuses.push_back(flow->state().status); };
  flow->Begin();
  loop.run();
  statuses.push_back(flow->state().status);
  return statuses;
}

using model::TaskStatus;

TEST_CASE("a task whose container may run after all is not STOPPED before it is taken down",
          "[agent]") {
  const auto runtime = std::make_shared<FailingRuntime>();
  runtime->tear_down_failures = 2;

  const std::vector<TaskStatus> statuses = StatusesAtTearDown(runtime);

  REQUIRE(statuses.size() == 4);
  for (size_t i = 0; i < 3; ++i) CHECK(statuses[i] != TaskStatus::kStopped);
  CHECK(statuses[3] == TaskStatus::kStopped);
}

TEST_CASE("a task that never had a container is STOPPED though what is left stays for a while",
          "[agent]") {
  const auto runtime = std::make_shared<FailingRuntime>();
  runtime->pulls = false;
  runtime->tear_down_failures = 2;

  const std::vector<TaskStatus> statuses = StatusesAtTearDown(runtime);

  REQUIRE(statuses.size() == 4);
  CHECK(statuses[0] != TaskStatus::kStopped);
  for (size_t i = 1; i < 4; ++i) CHECK(statuses[i] == TaskStatus::kStopped);
}

}  // namespace
}  // namespace berth::agent

// A runtime without containers: they run at once and stop when told. For load tests and demos.
//
// Two variables in a container's environment make it behave otherwise, for tests:
// BERTH_SIMULATED_RUN_SECONDS ends it by itself after so many seconds, and
// BERTH_SIMULATED_EXIT_CODE is what it ends with, then or when it is stopped. Without that: 0 by
// itself, 143 when stopped, as a process that does not handle SIGTERM.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/runtime.h"
#include "agent/task_record.h"

namespace berth::agent {

class SimulatedRuntime : public Runtime, public std::enable_shared_from_this<SimulatedRuntime> {
 public:
  // `name` goes into the ids.
  SimulatedRuntime(net::any_io_executor executor, std::string name);

  net::awaitable<absl::StatusOr<std::string>> Pull(std::string image) override;
  net::awaitable<absl::Status> Prepare(TaskPtr task) override;
  net::awaitable<absl::StatusOr<std::string>> Create(TaskPtr task, size_t container) override;
  net::awaitable<absl::StatusOr<StartedContainer>> Start(std::string id) override;
  net::awaitable<absl::Status> Stop(std::string id, absl::Duration grace) override;
  void Watch(std::string id, TaskPtr task, size_t container,
             std::function<void(ContainerExit)> ended) override;
  net::awaitable<model::HealthStatus> Health(std::string id) override;
  net::awaitable<absl::Status> TearDown(std::string task_arn) override;
  net::awaitable<absl::Status> Remove(std::string task_arn) override;
  net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> Find() override;

  // Before Find: what ran when the agent ended goes on running.
  void AdoptRunning(const TaskRecord& record);

 private:
  void End(const std::string& id, int64_t exit_code);
  net::awaitable<void> EndAfter(std::string id, absl::Duration run, int64_t exit_code);

  net::any_io_executor executor_;
  std::string name_;
  struct Watched {
    std::function<void(ContainerExit)> ended = {};
    int64_t stop_code = 0;
  };
  std::map<std::string, Watched> watched_ = {};
  std::vector<FoundContainer> adopted_ = {};
};

}  // namespace berth::agent

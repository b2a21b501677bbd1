// What runs containers: Docker, or nothing at all (simulated). Task flows drive it.
//
// Every error is a status whose message is ready for ECS, "ErrorName: text". Calls for different
// containers do not wait for each other. One thread, the agent's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/net.h"
#include "agent/payload.h"
#include "model/task.h"

namespace berth::agent {

using TaskPtr = std::shared_ptr<const TaskPayload>;

struct StartedContainer {
  absl::Time started_at = absl::InfinitePast();
  std::vector<model::NetworkBinding> bindings = {};
};

struct ContainerExit {
  std::optional<int64_t> exit_code = std::nullopt;  // absent: nobody can tell
  std::string reason = {};
  absl::Time finished_at = absl::InfinitePast();
};

// A container of this instance that was there when the agent started. Without a container's name it
// is something else that belongs to the task, such as its network.
struct FoundContainer {
  std::string runtime_id = {};
  std::string task_arn = {};
  std::string container_name = {};
  bool running = false;
  bool has_run = false;
  StartedContainer started = {};
  ContainerExit exit = {};  // when it has run and runs no more
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  // The image is there, by the pull policy. Returns its digest, empty when it has none.
  virtual net::awaitable<absl::StatusOr<std::string>> Pull(std::string image) = 0;
  // What the containers of the task share, such as a network.
  virtual net::awaitable<absl::Status> Prepare(TaskPtr task) = 0;
  // Returns the runtime's id.
  virtual net::awaitable<absl::StatusOr<std::string>> Create(TaskPtr task, size_t container) = 0;
  virtual net::awaitable<absl::StatusOr<StartedContainer>> Start(std::string id) = 0;
  // Returns when the container has ended; how it ended comes through Watch.
  virtual net::awaitable<absl::Status> Stop(std::string id, absl::Duration grace) = 0;
  // Calls `ended` once, when the container has ended or is gone; never before Watch has returned.
  virtual void Watch(std::string id, TaskPtr task, size_t container,
                     std::function<void(ContainerExit)> ended) = 0;
  virtual net::awaitable<model::HealthStatus> Health(std::string id) = 0;
  // Takes down what Prepare made, and kills what still runs of the task. Its ended containers stay
  // for those who want to look at them. After an error something may be left: call it again.
  virtual net::awaitable<absl::Status> TearDown(std::string task_arn) = 0;
  // Removes all that is left of the task. After an error something may be left: call it again.
  virtual net::awaitable<absl::Status> Remove(std::string task_arn) = 0;
  // `lost` is called for each task that lost something it cannot go on without, such as its GPU.
  virtual void OnLost(std::function<void(const std::string& task_arn, const std::string& reason)>) {
  }
  // The tasks that were under way when the agent ended, before any of them goes on.
  virtual net::awaitable<void> Recover(std::vector<TaskPtr>) { co_return; }
  // The loop has been stopped: returns when nothing can come back to it any more.
  virtual void Join() {}
  // All containers of this instance.
  virtual net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> Find() = 0;
};

}  // namespace berth::agent

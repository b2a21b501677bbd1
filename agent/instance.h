// One container instance: registers, follows its channel, runs its tasks, reports, cleans up.
//
// Docker: one per process. Simulated: many, all on one thread. Its coroutines keep it alive.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/thread_pool.hpp>

#include "agent/agent.h"
#include "agent/channel.h"
#include "agent/discovery/gpus.h"
#include "agent/discovery/machine.h"
#include "agent/docker/docker_client.h"
#include "agent/ecs_client.h"
#include "agent/identity.h"
#include "agent/metadata/introspection.h"
#include "agent/metadata/local_http_server.h"
#include "agent/net.h"
#include "agent/nvidia/gpu_control.h"
#include "agent/registration.h"
#include "agent/reporter.h"
#include "agent/state_file.h"
#include "agent/task_flow.h"
#include "agent/task_record.h"
#include "model/rng.h"

namespace berth::agent {

// What waits for what; tests shorten it.
struct AgentTiming {
  RegistrationPace registration = {};
  Channel::Timing channel = {};
  absl::Duration report_batch_window = absl::Seconds(2);
  Backoff::Shape report_retry = {
      .first = absl::Milliseconds(250), .factor = 1.5, .cap = absl::Seconds(10)};
  // A task that the server lists and we do not know may still be on its way to us.
  absl::Duration unknown_task_patience = absl::Seconds(30);
  // How long a task is remembered after its containers were removed.
  absl::Duration remember_stopped = absl::Hours(24);
};

class InstanceAgent : public std::enable_shared_from_this<InstanceAgent> {
 public:
  struct Parts {
    AgentSettings settings = {};
    AgentTiming timing = {};
    std::string data_dir = {};  // of this instance
    MachineFacts machine = {};
    std::shared_ptr<EcsClient> server = {};
    std::shared_ptr<DockerClient> docker = {};     // null: simulated
    std::shared_ptr<GpuControl> gpu_control = {};  // null: no GPU is real
    std::vector<std::string> cdi_devices = {};     // that Docker has found
    std::shared_ptr<net::thread_pool> disk = {};
    model::Rng rng = model::Rng(0);
  };

  InstanceAgent(net::any_io_executor executor, Parts parts);

  // Finds what was there, registers and begins. Nothing: it runs, and goes on by itself.
  net::awaitable<std::optional<AgentExit>> Begin();
  // The loop has been stopped: returns when nothing can come back to it any more.
  void Join() {
    if (runtime_ != nullptr) runtime_->Join();
  }

 private:
  struct Entry {
    std::shared_ptr<TaskFlow> flow = {};
    std::string payload = {};
    size_t saved = 0;  // hash of what is on disk
  };

  std::optional<AgentExit> LoadIdentity();
  net::awaitable<std::optional<AgentExit>> LoadTasks();
  net::awaitable<void> RemoveStranger(std::string arn);
  net::awaitable<void> TearDownAgain(std::string arn);
  void MakeRuntime();
  void MakeReporter();
  void OfferIntrospection();
  std::shared_ptr<TaskFlow> Add(TaskRecord record);
  void AddStopped(const std::string& arn, const std::string& id, std::string reason);
  void ReportAgain(TaskFlow& flow);
  void OnChanged(const std::string& id);
  net::awaitable<absl::Status> SaveTask(std::string id);
  net::awaitable<void> SaveQuietly(std::shared_ptr<TaskFlow> flow);
  net::awaitable<void> SaveIdentity();

  // One message of the channel each; false when it was not understood.
  net::awaitable<bool> OnMessage(std::string text);
  net::awaitable<bool> OnPayload(std::string message);
  net::awaitable<bool> OnManifest(std::string message);
  void OnStopVerified(const std::string& message);
  // Whether the task was taken in and saved.
  net::awaitable<bool> AcceptTask(std::string text);
  net::awaitable<void> ReportUnknown(std::vector<std::string> arns);
  void Acknowledge(const std::string& message, const char* type, std::string_view reason = {});

  net::awaitable<void> Sweep();
  net::awaitable<void> CleanUp(std::string id);
  net::awaitable<void> Forget(std::string id);

  net::any_io_executor executor_;
  Parts parts_;
  StateFiles files_;
  Identity identity_ = {};
  GpuInventory gpus_ = {};
  std::shared_ptr<Runtime> runtime_ = {};
  std::shared_ptr<Reporter> reporter_ = {};
  std::shared_ptr<Channel> channel_ = {};
  std::shared_ptr<LocalHttpServer> introspection_ = {};  // null: not offered
  std::map<std::string, Entry> tasks_ = {};              // by id
  int64_t highest_number_ = -1;                          // of payloads and manifests
  std::string manifest_id_ = {};  // whose stop candidates are not yet confirmed
  std::set<std::string> stop_candidates_ = {};
};

}  // namespace berth::agent

// Containers on the local Docker engine. What it makes carries this instance's label, by which it
// is found again after a crash.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "agent/docker/container_request.h"
#include "agent/docker/docker_client.h"
#include "agent/docker/subnets.h"
#include "agent/mps/mps_manager.h"
#include "agent/runtime.h"
#include "agent/secret_folder.h"
#include "model/rng.h"

namespace berth::agent {

class DockerRuntime : public Runtime, public std::enable_shared_from_this<DockerRuntime> {
 public:
  struct Settings {
    std::string cluster = {};
    std::string instance = {};  // this agent's id
    std::string region = {};
    std::string architecture = {};  // Docker's
    PullPolicy pull_policy = PullPolicy::kDefault;
    Subnet awsvpc_range = {};
    SecretFolder secrets = SecretFolder("");
    model::Rng rng = model::Rng(0);
    GpuAccess gpu_access = GpuAccess::kSimulated;
    std::vector<model::Gpu> gpus = {};
    MpsSettings mps = {};
    std::shared_ptr<GpuControl> gpu_control = {};  // null: no GPU is real, and none has a daemon
  };

  DockerRuntime(net::any_io_executor executor, std::shared_ptr<DockerClient> docker,
                Settings settings);

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
  void OnLost(
      std::function<void(const std::string& task_arn, const std::string& reason)> lost) override;
  net::awaitable<void> Recover(std::vector<TaskPtr> tasks) override;
  void Join() override;
  net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> Find() override;

 private:
  net::awaitable<void> EndSharing(std::string id, std::string task_arn, absl::Duration grace,
                                  std::shared_ptr<const bool> stopped);
  net::awaitable<absl::StatusOr<std::string>> TryPull(std::string image, bool have_local,
                                                      bool made_here);
  net::awaitable<absl::Status> EnsurePauseImage();
  net::awaitable<absl::StatusOr<std::string>> TaskNetwork(TaskPtr task);
  net::awaitable<absl::StatusOr<std::string>> PauseContainer(TaskPtr task, std::string network);
  absl::StatusOr<TaskPtr> WithSecrets(const TaskPtr& task) const;
  net::awaitable<absl::Status> PrepareVolumes(TaskPtr task);
  net::awaitable<absl::Status> PrepareSharedVolume(VolumePayload volume);
  net::awaitable<absl::Status> PreparePause(TaskPtr task);
  net::awaitable<absl::StatusOr<std::map<std::string, std::string>>> Siblings(std::string task_arn);
  net::awaitable<ContainerExit> ExitOf(DockerContainer container);
  net::awaitable<void> WatchUntilEnd(std::string id, std::function<void(ContainerExit)> ended);
  net::awaitable<absl::StatusOr<std::vector<DockerContainer>>> ContainersOf(std::string task_arn);
  net::awaitable<absl::Status> RemoveNetworksOf(std::string task_arn);
  net::awaitable<absl::Status> RemoveVolumesOf(std::string task_arn);
  ContainerContext Context(const std::string& pause) const;
  std::vector<std::string> Labels(const std::string& task_arn) const;
  std::string Suffix();

  net::any_io_executor executor_;
  std::shared_ptr<DockerClient> docker_;
  Settings settings_;
  std::function<void(const std::string&, const std::string&)> lost_ = {};
  std::shared_ptr<MpsManager> mps_ = {};                // null where nothing is shared
  std::map<std::string, std::string> pause_of_ = {};    // task ARN -> container id
  std::set<std::string> pulled_ = {};                   // by this process, for policy `once`
  std::map<std::string, absl::Time> unreachable_ = {};  // image -> when its pull last failed
  std::vector<Subnet> choosing_ = {};                   // subnets of networks that are being made
};

}  // namespace berth::agent

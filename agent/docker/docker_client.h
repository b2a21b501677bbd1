// The Docker Engine API over its unix socket, as far as the agent needs it.
//
// Every call has a deadline. An error's code says what kind it is (kNotFound, kAlreadyExists,
// kUnavailable: no Docker there, kDeadlineExceeded, kUnknown) and its message is Docker's own; what
// ECS calls it is decided one level up, where it is known what was being done.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/http_client.h"
#include "agent/net.h"
#include "model/task.h"

namespace berth::agent {

struct DockerInfo {
  std::string id = {};  // of the engine; kept over restarts
  std::string server_version = {};
  std::string api_version = {};
  std::string cgroup_driver = {};
  std::string architecture = {};  // "x86_64", "aarch64"
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  std::vector<std::string> log_drivers = {};
  std::vector<std::string> volume_drivers = {};
  std::vector<std::string> cdi_devices = {};  // that it has found: "nvidia.com/gpu=GPU-..."
  bool has_bridge = false;                    // the default bridge network is on
};

struct DockerImage {
  std::string id = {};
  std::vector<std::string> repo_digests = {};  // none: made here, never pulled nor pushed
};

enum class DockerState { kCreated, kRunning, kExited };

struct DockerContainer {
  std::string id = {};
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  DockerState state = DockerState::kCreated;
  int64_t exit_code = 0;
  bool oom_killed = false;
  std::string error = {};
  absl::Time started_at = absl::InfinitePast();
  absl::Time finished_at = absl::InfinitePast();
  std::optional<model::HealthStatus> health = std::nullopt;  // absent: it has no health check
  std::vector<model::NetworkBinding> bindings = {};
};

struct DockerNetwork {
  std::string id = {};
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::vector<std::string> subnets = {};
};

struct DockerVolume {
  std::string name = {};
  std::string driver = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> options = {};  // of the driver
};

class DockerClient {
 public:
  explicit DockerClient(std::string socket_path);

  // Asks for the version and settles on the newest API that both sides know.
  net::awaitable<absl::StatusOr<DockerInfo>> Negotiate();
  net::awaitable<absl::Status> Ping();

  net::awaitable<absl::StatusOr<DockerImage>> InspectImage(std::string image);
  // `idle` ends a pull that makes no progress for so long, `total` any.
  net::awaitable<absl::Status> PullImage(std::string image, absl::Duration idle,
                                         absl::Duration total);
  net::awaitable<absl::Status> ImportImage(std::string tar, std::string repository,
                                           std::string tag);

  // `body` is the API's JSON. Returns the id.
  net::awaitable<absl::StatusOr<std::string>> CreateContainer(std::string name, std::string body);
  net::awaitable<absl::Status> StartContainer(std::string id);
  // Stop signal, then SIGKILL after `grace`. OK also when it had ended or is gone.
  net::awaitable<absl::Status> StopContainer(std::string id, absl::Duration grace);
  net::awaitable<absl::Status> KillContainer(std::string id);
  // Returns when the container is not running, at once if so already; at most `patience` later.
  net::awaitable<absl::Status> WaitContainer(std::string id, absl::Duration patience);
  net::awaitable<absl::StatusOr<DockerContainer>> InspectContainer(std::string id);
  // Whether Docker told of an `oom` event of it since then, or tells of one within `patience`. Only
  // the latest few hundred events of the engine are remembered.
  net::awaitable<absl::StatusOr<bool>> SawOutOfMemory(std::string id, absl::Time since,
                                                      absl::Duration patience);
  // Ids, also of ended ones, that carry the label ("key=value").
  net::awaitable<absl::StatusOr<std::vector<std::string>>> ListContainers(
      std::vector<std::string> labels);
  // By force, with its anonymous volumes. OK when it is gone.
  net::awaitable<absl::Status> RemoveContainer(std::string id);

  // A bridge network; `subnet` in CIDR form.
  net::awaitable<absl::StatusOr<std::string>> CreateNetwork(
      std::string name, std::string subnet, std::map<std::string, std::string> labels);
  net::awaitable<absl::StatusOr<std::vector<DockerNetwork>>> ListNetworks(
      std::vector<std::string> labels);
  net::awaitable<absl::Status> RemoveNetwork(std::string id);

  // An empty driver is Docker's default.
  net::awaitable<absl::Status> CreateVolume(DockerVolume volume);
  net::awaitable<absl::StatusOr<DockerVolume>> InspectVolume(std::string name);
  net::awaitable<absl::StatusOr<std::vector<DockerVolume>>> ListVolumes(
      std::vector<std::string> labels);
  // OK when it is gone.
  net::awaitable<absl::Status> RemoveVolume(std::string name);

 private:
  net::awaitable<absl::StatusOr<HttpResponse>> Call(std::string method, std::string target,
                                                    std::string body, absl::Duration deadline);

  HttpClient http_;
  std::string prefix_ = "/v1.24";  // replaced by Negotiate
};

// "repo:tag", "repo@digest" as the two arguments of a pull. Without a tag: "latest".
std::pair<std::string, std::string> SplitImageName(std::string_view image);

}  // namespace berth::agent

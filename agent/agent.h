// The agent as one object: registers its machine, follows its channel, runs containers, reports.
// Its threads are its own; Run blocks the caller's until Stop or a terminal error.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/sigv4.h"
#include "model/container_instance.h"
#include "model/tag.h"

namespace berth::agent {

enum class RuntimeKind { kDocker, kSimulated };

// `--gpus`: auto (NVML; none where there is no driver), none, or simulated:NxMiB.
struct GpuOption {
  enum class Kind { kAuto, kNone, kSimulated };
  Kind kind = Kind::kAuto;
  int64_t count = 0;
  int64_t memory_mib = 0;
};
absl::StatusOr<GpuOption> ParseGpuOption(std::string_view text);

enum class PullPolicy { kDefault, kAlways, kOnce, kPreferCached };  // ECS_IMAGE_PULL_BEHAVIOR

struct AgentSettings {
  std::string server = {};   // "https://berth.example:8443", "http://127.0.0.1:8080"
  std::string ca_file = {};  // trusted beside the system's authorities; empty: those alone
  // With what requests are signed: the file's profile, else the given ones, else nothing.
  std::string credentials_file = {};
  std::string profile = "default";
  auth::Credentials credentials = {};
  std::string cluster = {};  // empty: default
  std::string region = "us-east-1";
  std::string data_dir = {};  // state file; created when absent
  RuntimeKind runtime = RuntimeKind::kDocker;
  std::string docker_socket = "/var/run/docker.sock";
  GpuOption gpus = {};
  std::string mps_binary = "/usr/bin/nvidia-cuda-mps-control";
  std::string mps_directory = "/run/berth/mps";  // a directory for each shared GPU below
  std::string mps_log_directory = "/var/log/berth-mps";
  int64_t instances = 1;            // simulated runtime: how many in this process
  int64_t reserved_memory_mib = 0;  // ECS_RESERVED_MEMORY
  std::vector<int64_t> reserved_tcp_ports = {22,    2375,  2376,
                                             51678, 51679, 51680};  // ECS_RESERVED_PORTS
  std::vector<int64_t> reserved_udp_ports = {};                     // ECS_RESERVED_PORTS_UDP
  std::map<std::string, std::string> instance_attributes = {};      // ECS_INSTANCE_ATTRIBUTES
  model::Tags instance_tags = {};                                   // ECS_CONTAINER_INSTANCE_TAGS
  std::string availability_zone = {};
  std::string instance_id = {};  // ec2InstanceId; empty: from the machine's id
  std::string instance_type =
      {};  // the ecs.instance-type attribute; empty: berth.host or berth.simulated
  std::optional<int64_t> cpu_units = std::nullopt;   // empty: 1024 per core
  std::optional<int64_t> memory_mib = std::nullopt;  // empty: the machine's, less the reserved
  PullPolicy pull_policy = PullPolicy::kDefault;
  absl::Duration stop_timeout = absl::Seconds(30);  // ECS_CONTAINER_STOP_TIMEOUT
  absl::Duration cleanup_wait = absl::Hours(3);     // ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION
  // Where the networks of awsvpc tasks get their subnets, a /28 each.
  std::string awsvpc_range = "10.213.0.0/16";
  // How long a Docker engine that does not answer is waited for at start, before exit 1.
  absl::Duration docker_patience = absl::Seconds(30);
  std::string version = "0.1.0";  // as registered
  // Where introspection is answered, on 127.0.0.1; 0: nowhere. Needs `instances` to be 1.
  uint16_t introspection_port = 0;
};

// How the agent ended, as the official agent's exit codes: 0 stopped, 1 restart me, 5 do not.
struct AgentExit {
  int code = 0;
  std::string reason = {};
};

class Agent {
 public:
  static absl::StatusOr<std::unique_ptr<Agent>> Create(AgentSettings settings);
  virtual ~Agent() = default;
  virtual AgentExit Run() = 0;
  virtual void Stop() = 0;  // from any thread; containers go on running
};

}  // namespace berth::agent

// A task as the server sends it (agent-protocol.md 2.8), decoded and judged.
//
// Three outcomes: a task to run; a task that can be decoded and cannot be run here (`refusal`): it
// is acknowledged and reported STOPPED; or one that cannot be decoded (`undecodable`): it is not
// acknowledged, and reported STOPPED if its ARN can be read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "model/gpu.h"
#include "model/task_definition.h"
#include "model/task_status.h"

namespace berth::agent {

struct PortPayload {
  int64_t container_port = 0;
  int64_t host_port = 0;  // 0: any free one
  model::Protocol protocol = model::Protocol::kTcp;
};

struct DependencyPayload {
  size_t container = 0;  // index into the task's containers
  model::DependencyCondition condition = model::DependencyCondition::kStart;
};

// A place in a container where one of the task's volumes is seen.
struct MountPayload {
  size_t volume = 0;  // index into the task's volumes
  std::string container_path = {};
  bool read_only = false;
};

struct VolumesFromPayload {
  size_t container = 0;  // index into the task's containers
  bool read_only = false;
};

struct LinkPayload {
  size_t container = 0;  // index into the task's containers
  std::string alias = {};
};

// With a host path: that folder. Else a Docker volume: the task's own, unless `shared`.
struct VolumePayload {
  std::string name = {};
  std::string host_path = {};
  bool shared = false;
  bool autoprovision = false;  // a shared one that is not there is made
  std::string driver = {};     // empty: Docker's default
  std::map<std::string, std::string> driver_options = {};
  std::map<std::string, std::string> labels = {};
};

// Whose process or IPC namespace the containers of a task are in.
enum class NamespaceMode { kOwn, kTask, kHost, kNone };

struct RestartPayload {
  std::vector<int64_t> ignored_exit_codes = {};        // these end the container for good
  absl::Duration attempt_period = absl::Seconds(300);  // it must have run for so long
};

// A value that is not in the payload; the agent looks it up (secret_folder.h).
struct SecretPayload {
  std::string name = {};  // of the variable, or of the log driver's option
  std::string value_from = {};
  bool for_log_driver = false;
};

struct ContainerPayload {
  std::string name = {};
  std::string image = {};
  std::vector<std::string> command = {};
  std::vector<std::string> entry_point = {};
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;  // hard limit; 0: none of its own
  bool essential = true;
  std::map<std::string, std::string> environment = {};
  std::vector<SecretPayload> secrets = {};
  std::map<std::string, std::string> log_options = {};  // over those in docker_host_config
  std::vector<PortPayload> ports = {};
  std::vector<DependencyPayload> depends_on = {};
  std::vector<MountPayload> mounts = {};
  std::vector<VolumesFromPayload> volumes_from = {};
  std::vector<LinkPayload> links = {};
  std::optional<absl::Duration> start_timeout = std::nullopt;
  std::optional<absl::Duration> stop_timeout = std::nullopt;
  std::optional<RestartPayload> restart = std::nullopt;
  // Docker's Config and HostConfig as JSON texts, laid over what the agent makes. Empty: none.
  std::string docker_config = {};
  std::string docker_host_config = {};
  std::vector<model::GpuId> gpu_ids = {};
  std::optional<model::NvidiaMps> share = std::nullopt;  // of the one GPU in gpu_ids
};

struct TaskPayload {
  std::string arn = {};
  std::string id = {};  // last part of the ARN; safe as a file name
  std::string family = {};
  std::string version = {};
  int64_t memory_mib = 0;  // of the whole task; 0: none given
  model::NetworkMode network_mode = model::NetworkMode::kBridge;
  NamespaceMode pid_mode = NamespaceMode::kOwn;
  NamespaceMode ipc_mode = NamespaceMode::kOwn;
  std::vector<VolumePayload> volumes = {};
  std::vector<ContainerPayload> containers = {};
};

struct DecodedTask {
  std::string arn = {};  // empty: not even that could be read
  std::string id = {};   // empty when the ARN is no task ARN
  model::DesiredStatus desired = model::DesiredStatus::kRunning;
  std::string undecodable = {};  // the reason to report
  std::string refusal = {};      // the reason to report
  // Set when there is a task to run, i.e. desired is RUNNING and both reasons are empty.
  std::shared_ptr<const TaskPayload> task = {};
};

// `text` is one element of a payload's `tasks`.
DecodedTask DecodeTask(std::string_view text);

// The id in "arn:PARTITION:ecs:REGION:ACCOUNT:task/CLUSTER/ID"; empty when it is no task ARN.
std::string TaskIdOf(std::string_view arn);

}  // namespace berth::agent

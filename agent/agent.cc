#include "agent/agent.h"

#include <algorithm>
#include <random>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/docker/subnets.h"
#include "agent/instance.h"
#include "agent/mps/mps_settings.h"
#include "agent/server_access.h"
#include "agent/spawn.h"
#include "agent/testing.h"

namespace berth::agent {

namespace {

constexpr int64_t kInstancesMax = 100'000;
// Instances of a fleet that find their state and register at the same time.
constexpr int kBeginningsAtOnce = 16;
constexpr absl::Duration kDockerRetry = absl::Seconds(2);
constexpr int64_t kBytesPerMib = 1024 * 1024;
constexpr int kExitForGood = 5;  // starting again would not help
constexpr absl::Duration kStopTimeoutMin = absl::Seconds(1);

// Each simulated instance holds a connection, and the usual limit is 1024.
void RaiseFileLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

absl::Status Check(const AgentSettings& settings) {
  if (settings.data_dir.empty()) return absl::InvalidArgumentError("a data directory is needed");
  if (settings.instances < 1 || settings.instances > kInstancesMax) {
    return absl::InvalidArgumentError(absl::StrFormat("instances is %d; it should be 1 to %d",
                                                      settings.instances, kInstancesMax));
  }
  if (settings.instances > 1 && settings.runtime != RuntimeKind::kSimulated) {
    return absl::InvalidArgumentError(
        "more than one instance in a process needs the simulated runtime");
  }
  if (settings.instances > 1 && settings.introspection_port != 0) {
    return absl::InvalidArgumentError(
        "introspection tells of one instance; it needs to be off where a process has several");
  }
  if (settings.stop_timeout < kStopTimeoutMin) {
    return absl::InvalidArgumentError("the stop timeout should be 1 s or more");
  }
  if (settings.cleanup_wait < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("the clean-up wait should not be negative");
  }
  const absl::StatusOr<Subnet> range = ParseSubnet(settings.awsvpc_range);
  if (!range.ok()) return range.status();
  if (range->prefix > 28) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the awsvpc range %s is smaller than the /28 of one task", settings.awsvpc_range));
  }
  return CheckMpsSettings({.root = settings.mps_directory});
}

class AgentProcess : public Agent {
 public:
  AgentProcess(AgentSettings settings, AgentTiming timing, ServerAccess server)
      : settings_(std::move(settings)),
        timing_(timing),
        rng_(std::random_device{}()),
        disk_(std::make_shared<net::thread_pool>(1)),
        server_(std::make_shared<EcsClient>(std::move(server))) {}

  ~AgentProcess() override {
    loop_.stop();
    // Nothing may come back from the other threads to a loop that is gone.
    disk_->join();
    for (const auto& instance : instances_) instance->Join();
  }

  AgentExit Run() override {
    Spawn(loop_.get_executor(), "agent", Begin());
    loop_.run();
    return exit_;
  }

  void Stop() override { loop_.stop(); }

 private:
  void End(AgentExit exit) {
    exit_ = std::move(exit);
    loop_.stop();
  }

  net::awaitable<void> Begin() {
    machine_ = ReadMachine();
    if (settings_.runtime == RuntimeKind::kDocker) {
      const absl::Status docker = co_await ConnectDocker();
      if (!docker.ok()) {
        End({.code = 1, .reason = std::string(docker.message())});
        co_return;
      }
    }
    if (!settings_.memory_mib && machine_.memory_mib <= settings_.reserved_memory_mib) {
      End({.code = kExitForGood,
           .reason = absl::StrFormat(
               "%d MiB are reserved of this machine's %d MiB, which leaves none for tasks; reserve "
               "less (--reserved-memory, ECS_RESERVED_MEMORY)",
               settings_.reserved_memory_mib, machine_.memory_mib)});
      co_return;
    }
    for (int i = 0; i < kBeginningsAtOnce; ++i) {
      Spawn(loop_.get_executor(), "instance", BeginInstances());
    }
  }

  net::awaitable<absl::Status> ConnectDocker() {
    docker_ = std::make_shared<DockerClient>(settings_.docker_socket);
    const absl::Time give_up_at = absl::Now() + settings_.docker_patience;
    while (true) {
      const absl::StatusOr<DockerInfo> info = co_await docker_->Negotiate();
      if (info.ok()) {
        UseDocker(*info);
        co_return absl::OkStatus();
      }
      const std::string why(info.status().message());
      if (absl::Now() >= give_up_at || absl::IsFailedPrecondition(info.status())) {
        co_return absl::UnavailableError(
            absl::StrFormat("Docker cannot be used: %s. Is it running, and may this user use %s?",
                            why, settings_.docker_socket));
      }
      spdlog::warn("Docker does not answer, it is tried again in {}: {}",
                   absl::FormatDuration(kDockerRetry), why);
      co_await Sleep(kDockerRetry);
    }
  }

  void UseDocker(const DockerInfo& info) {
    cdi_devices_ = info.cdi_devices;
    machine_.docker_version = info.server_version;
    machine_.docker_architecture = info.architecture;
    int minor = 0;
    if (absl::SimpleAtoi(info.api_version.substr(2), &minor)) machine_.docker_api_minor = minor;
    machine_.log_drivers = info.log_drivers;
    machine_.volume_drivers = info.volume_drivers;
    machine_.architecture = AwsArchitecture(info.architecture);
    if (info.cpus > 0) machine_.cpus = info.cpus;
    if (info.memory_bytes > 0) machine_.memory_mib = info.memory_bytes / kBytesPerMib;
    machine_.unique_id = absl::StrCat(info.id, "/", machine_.unique_id);
    spdlog::info(
        "Docker {} (API {}) at {}; tasks in network mode awsvpc each get a Docker network "
        "of their own from {}, not an elastic network interface",
        info.server_version, info.api_version, settings_.docker_socket, settings_.awsvpc_range);
    if (!info.has_bridge) {
      spdlog::warn(
          "this Docker has no default bridge network: tasks in network mode bridge will fail");
    }
  }

  // One of several at once, each taking the next instance that nobody has begun.
  net::awaitable<void> BeginInstances() {
    while (next_instance_ < settings_.instances) {
      const int64_t index = next_instance_++;
      InstanceAgent::Parts parts;
      parts.settings = settings_;
      parts.timing = timing_;
      parts.data_dir = settings_.instances == 1
                           ? settings_.data_dir
                           : absl::StrCat(settings_.data_dir, "/instances/", index);
      parts.machine = machine_;
      parts.server = server_;
      parts.docker = docker_;
      parts.cdi_devices = cdi_devices_;
      parts.disk = disk_;
      parts.rng = rng_.Fork();
      auto instance = std::make_shared<InstanceAgent>(loop_.get_executor(), std::move(parts));
      instances_.push_back(instance);
      const std::optional<AgentExit> exit = co_await instance->Begin();
      if (exit) {
        End(*exit);
        co_return;
      }
    }
  }

  // Destroyed last: timers and sockets of all that follows belong to it.
  net::io_context loop_{1};
  AgentSettings settings_;
  AgentTiming timing_;
  model::Rng rng_;
  std::shared_ptr<net::thread_pool> disk_;
  std::shared_ptr<EcsClient> server_;
  std::shared_ptr<DockerClient> docker_ = {};
  std::vector<std::string> cdi_devices_ = {};
  MachineFacts machine_ = {};
  int64_t next_instance_ = 0;
  std::vector<std::shared_ptr<InstanceAgent>> instances_ = {};
  AgentExit exit_ = {};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Agent>> CreateWithTiming(AgentSettings settings,
                                                        AgentTiming timing) {
  const absl::Status checked = Check(settings);
  if (!checked.ok()) return checked;
  absl::StatusOr<ServerAccess> server = MakeServerAccess(settings);
  if (!server.ok()) return server.status();
  RaiseFileLimit();
  return std::make_unique<AgentProcess>(std::move(settings), timing, *std::move(server));
}

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(AgentSettings settings) {
  return CreateWithTiming(std::move(settings), AgentTiming{});
}

}  // namespace berth::agent

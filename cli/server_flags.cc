#include "cli/server_flags.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "api/access/first_key.h"
#include "cli/setting_values.h"
#include "placement/cluster_gpu_policy.h"
#include "storage/sqlite/sqlite_store.h"

namespace berth::cli {
namespace {

constexpr size_t kAccountDigits = 12;
// Waiters for the end of a task poll every six seconds; what is below is for tests.
constexpr absl::Duration kRetentionLeast = absl::Seconds(1);
constexpr int64_t kStoppedTasksLeast = 1;
constexpr int64_t kStoppedTasksMost = 100'000'000;

void CheckReach(const ServerFlags& flags, const ListenAddress& address,
                const api::ServerSettings& settings) {
  if (address.loopback) return;
  if (flags.auth == "none") {
    throw UsageError(fmt::format(
        "--listen: {} is not a loopback address, and with --auth none anybody who reaches it could "
        "run containers as root. Use --auth sigv4, or listen on 127.0.0.1 or [::1]",
        flags.listen));
  }
  if (!flags.insecure_http && !settings.tls) {
    throw UsageError(fmt::format(
        "--listen: {} is not a loopback address, and in plain HTTP whoever is on the way reads "
        "every call and answer. Give --tls-certificate and --tls-key, or --tls-self-signed, or say "
        "--insecure-http",
        flags.listen));
  }
  if (flags.public_endpoint.empty() && address.any) {
    throw UsageError(fmt::format(
        "--listen: {} is every address of this machine, which agents cannot connect to; say which "
        "URL they should use with --public-endpoint",
        flags.listen));
  }
}

}  // namespace

void AddServerFlags(CLI::App& command, SettingSources& sources, ServerFlags& flags) {
  sources.FromEnvironment(
      command
          .add_option("--listen", flags.listen,
                      "Address to serve on; port 0 takes any free one and says which")
          ->type_name("HOST:PORT")
          ->capture_default_str(),
      {"BERTH_LISTEN"});
  sources.FromEnvironment(
      command.add_option("--data", flags.data, "Folder of the database; made when absent")
          ->type_name("DIR")
          ->capture_default_str(),
      {"BERTH_DATA"});
  sources.FromEnvironment(command.add_option("--region", flags.region, "Region in every ARN")
                              ->type_name("R")
                              ->capture_default_str(),
                          {"BERTH_REGION", "AWS_DEFAULT_REGION", "AWS_REGION"});
  sources.FromEnvironment(
      command.add_option("--account", flags.account, "Account, of 12 digits, in every ARN")
          ->type_name("N")
          ->capture_default_str(),
      {"BERTH_ACCOUNT"});
  sources.FromEnvironment(command
                              .add_option("--availability-zone", flags.availability_zone,
                                          "Zone of instances that name none")
                              ->type_name("ZONE")
                              ->capture_default_str(),
                          {"BERTH_AVAILABILITY_ZONE"});
  sources.FromEnvironment(command
                              .add_option("--stopped-task-retention", flags.stopped_task_retention,
                                          "How long a STOPPED task can be described; at least 1s")
                              ->type_name("DURATION")
                              ->capture_default_str(),
                          {"BERTH_STOPPED_TASK_RETENTION"});
  sources.FromEnvironment(
      command
          .add_option("--stopped-tasks-max", flags.stopped_tasks_max,
                      "How many STOPPED tasks are kept at most; beyond it the oldest go earlier")
          ->check(CLI::Range(kStoppedTasksLeast, kStoppedTasksMost))
          ->type_name("N")
          ->capture_default_str(),
      {"BERTH_STOPPED_TASKS_MAX"});
  sources.FromEnvironment(
      command
          .add_option("--gpu-policy", flags.gpu_policy,
                      "How the instances and GPUs that a task's rules leave equal are ordered, in "
                      "clusters without the tag berth:gpu-policy: " +
                          placement::ClusterGpuPolicyNames())
          ->type_name("NAME")
          ->capture_default_str(),
      {"BERTH_GPU_POLICY"});
}

api::ServerSettings MakeServerSettings(const ServerFlags& flags) {
  const ListenAddress address = ParseListenAddress("--listen", flags.listen);
  const bool digits = std::all_of(flags.account.begin(), flags.account.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || flags.account.size() != kAccountDigits) {
    throw UsageError(fmt::format("--account: '{}' is not a number of 12 digits", flags.account));
  }
  if (flags.region.empty() || flags.region.find_first_of(":/ ") != std::string::npos) {
    throw UsageError(
        fmt::format("--region: '{}' cannot stand in an ARN; give a name such as "
                    "us-east-1",
                    flags.region));
  }

  api::ServerSettings settings;
  settings.scope.region = flags.region;
  settings.scope.account = flags.account;
  settings.auth = flags.auth == "none" ? api::Auth::kNone : api::Auth::kSigV4;
  settings.insecure_http = flags.insecure_http;
  if (!flags.agent_access.empty() && flags.auth == "none") {
    throw UsageError("--agent-access: agents need no key with --auth none");
  }
  settings.agent_access_dir = flags.agent_access;
  settings.data_dir = flags.data;
  settings.audit_reads = flags.audit_reads;
  settings.throttle = ParseThrottle("--throttle", flags.throttle);
  settings.listen_host = address.host;
  settings.listen_port = address.port;
  settings.public_endpoint = flags.public_endpoint;
  settings.tls = MakeTlsSettings(flags.tls, {.data_dir = flags.data,
                                             .listen_host = address.host,
                                             .public_endpoint = flags.public_endpoint});
  settings.emulate_agents = flags.emulate_agents;
  settings.availability_zone = flags.availability_zone;
  settings.retention.stopped_tasks =
      ParseDuration("--stopped-task-retention", flags.stopped_task_retention, kRetentionLeast);
  settings.retention.stopped_tasks_max = flags.stopped_tasks_max;
  const auto gpu_policy = placement::ClusterGpuPolicyFrom(flags.gpu_policy);
  if (!gpu_policy) {
    throw UsageError(fmt::format("--gpu-policy: '{}' is no GPU policy; give {}", flags.gpu_policy,
                                 placement::ClusterGpuPolicyNames()));
  }
  settings.gpu_policy = *gpu_policy;
  CheckReach(flags, address, settings);
  return settings;
}

namespace {

// SQLite writes the first page before the server makes any other file, so no first start that was
// cut off leaves it so.
bool IsDatabaseGone(const std::filesystem::path& folder) {
  std::error_code absent;
  for (const char* suffix : {"", "-wal"}) {
    const auto bytes =
        std::filesystem::file_size(folder / (std::string(kDatabaseFile) + suffix), absent);
    if (!absent && bytes > 0) return false;
  }
  return std::filesystem::exists(folder / api::kSecretsFile, absent);
}

}  // namespace

std::unique_ptr<storage::Store> OpenStore(const std::string& data_dir) {
  std::error_code error;
  std::filesystem::create_directories(data_dir, error);
  if (error) {
    throw std::runtime_error(
        fmt::format("cannot make the data folder {}: {}", data_dir, error.message()));
  }
  const std::filesystem::path folder(data_dir);
  if (IsDatabaseGone(folder)) {
    throw std::runtime_error(fmt::format(
        "{0}/{1} is not there or empty, but {0}/{2} is from an earlier start: the database was "
        "lost. Put it back from a backup; or, to begin anew without its clusters, tasks and keys, "
        "move {0}/{2} away",
        data_dir, kDatabaseFile, api::kSecretsFile));
  }
  auto store = storage::OpenSqliteStore((folder / kDatabaseFile).string());
  if (!store.ok()) throw std::runtime_error(std::string(store.status().message()));
  return *std::move(store);
}

}  // namespace berth::cli

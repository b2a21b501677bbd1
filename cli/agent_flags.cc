#include "cli/agent_flags.h"

#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "cli/setting_values.h"

namespace berth::cli {
namespace {

constexpr uint16_t kIntrospectionPort = 51678;  // the official agent's

// ECS_IMAGE_PULL_BEHAVIOR's words.
const std::map<std::string, agent::PullPolicy>& PullBehaviors() {
  static const auto* behaviors = new std::map<std::string, agent::PullPolicy>{
      {"default", agent::PullPolicy::kDefault},
      {"always", agent::PullPolicy::kAlways},
      {"once", agent::PullPolicy::kOnce},
      {"prefer-cached", agent::PullPolicy::kPreferCached},
  };
  return *behaviors;
}

model::Tags TagsOf(const std::map<std::string, std::string>& values) {
  model::Tags tags;
  for (const auto& [key, value] : values) tags.push_back({key, value});
  return tags;
}

std::string FromEnvironment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

void AddMachineFlags(CLI::App& command, SettingSources& sources, AgentFlags& flags) {
  sources.FromEnvironment(
      command
          .add_option("--runtime", flags.runtime,
                      "docker runs containers; simulated only says that it does")
          ->check(CLI::IsMember({"docker", "simulated"}))
          ->type_name("KIND")
          ->capture_default_str(),
      {"BERTH_RUNTIME"});
  sources.FromEnvironment(
      command
          .add_option("--gpus", flags.gpus,
                      "auto asks the NVIDIA driver, none has none, simulated:2x22587 pretends to "
                      "have two of 22587 MiB")
          ->type_name("auto|none|simulated:NxMIB")
          ->capture_default_str(),
      {"BERTH_GPUS"});
  sources.FromEnvironment(command
                              .add_option("--mps-control", flags.mps_control,
                                          "NVIDIA's program that shares a GPU between containers")
                              ->type_name("PATH")
                              ->capture_default_str(),
                          {"BERTH_MPS_CONTROL"});
  sources.FromEnvironment(
      command
          .add_option("--mps-directory", flags.mps_directory,
                      "Where the daemon of each shared GPU has a directory of its own")
          ->type_name("PATH")
          ->capture_default_str(),
      {"BERTH_MPS_DIRECTORY"});
  sources.FromEnvironment(
      command.add_option("--docker-socket", flags.docker_socket, "Where the Docker Engine listens")
          ->type_name("PATH")
          ->capture_default_str(),
      {"BERTH_DOCKER_SOCKET", "DOCKER_HOST"});
  sources.FromEnvironment(command
                              .add_option("--reserved-memory", flags.reserved_memory_mib,
                                          "MiB that are kept from tasks")
                              ->check(CLI::Range(int64_t{0}, kMemoryMibMax))
                              ->type_name("MIB")
                              ->capture_default_str(),
                          {"BERTH_RESERVED_MEMORY", "ECS_RESERVED_MEMORY"});
  sources.FromEnvironment(
      command
          .add_option("--reserved-ports", flags.reserved_ports,
                      "TCP ports that are kept from tasks; 22, 2375, 2376 and 51678 to 51680 when "
                      "absent")
          ->type_name("LIST"),
      {"BERTH_RESERVED_PORTS", "ECS_RESERVED_PORTS"});
  sources.FromEnvironment(command
                              .add_option("--reserved-ports-udp", flags.reserved_ports_udp,
                                          "UDP ports that are kept from tasks")
                              ->type_name("LIST"),
                          {"BERTH_RESERVED_PORTS_UDP", "ECS_RESERVED_PORTS_UDP"});
  sources.FromEnvironment(
      command.add_option("--attributes", flags.attributes, "Attributes for placement constraints")
          ->type_name("NAME=VALUE,..."),
      {"BERTH_INSTANCE_ATTRIBUTES", "ECS_INSTANCE_ATTRIBUTES"});
  sources.FromEnvironment(
      command.add_option("--tags", flags.tags, "Tags of the container instance")
          ->type_name("KEY=VALUE,..."),
      {"BERTH_INSTANCE_TAGS", "ECS_CONTAINER_INSTANCE_TAGS"});
  sources.FromEnvironment(
      command
          .add_option("--image-pull-behavior", flags.pull_behavior,
                      "When images are pulled: default (pull, else the local one), always, once, "
                      "prefer-cached")
          ->check(CLI::IsMember({"default", "always", "once", "prefer-cached"}))
          ->type_name("BEHAVIOR")
          ->capture_default_str(),
      {"BERTH_IMAGE_PULL_BEHAVIOR", "ECS_IMAGE_PULL_BEHAVIOR"});
  sources.FromEnvironment(
      command
          .add_option("--stop-timeout", flags.stop_timeout,
                      "From SIGTERM to SIGKILL, for containers that set no stopTimeout")
          ->type_name("DURATION")
          ->capture_default_str(),
      {"BERTH_CONTAINER_STOP_TIMEOUT", "ECS_CONTAINER_STOP_TIMEOUT"});
  sources.FromEnvironment(
      command
          .add_option("--cleanup-wait", flags.cleanup_wait,
                      "How long the containers of a stopped task are kept")
          ->type_name("DURATION")
          ->capture_default_str(),
      {"BERTH_TASK_CLEANUP_WAIT_DURATION", "ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION"});
  sources.FromEnvironment(
      command
          .add_option("--introspection-port", flags.introspection_port,
                      "Port of 127.0.0.1 that tells of this instance and its tasks; 0: none. 51678 "
                      "when absent, and none with several --instances")
          ->type_name("PORT"),
      {"BERTH_INTROSPECTION_PORT"});
}

void AddAccessFlags(CLI::App& command, SettingSources& sources, AgentFlags& flags) {
  sources.FromEnvironment(
      command.add_option("--server", flags.server, "The server's URL, http or https")
          ->type_name("URL"),
      {"BERTH_SERVER", "ECS_BACKEND_HOST"});
  sources.FromEnvironment(
      command
          .add_option(
              "--ca-file", flags.ca_file,
              "Authority to trust beside the system's, in PEM: the server's DIR/ca.pem with "
              "--tls-self-signed")
          ->type_name("FILE"),
      {"BERTH_CA_FILE", "AWS_CA_BUNDLE"});
  sources.FromEnvironment(
      command
          .add_option(
              "--credentials", flags.credentials_file,
              "AWS credentials file with the access key that requests are signed with; read "
              "again when it changes. Else AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
              "AWS_SESSION_TOKEN, else AWS_SHARED_CREDENTIALS_FILE; without any, requests "
              "are not signed")
          ->type_name("FILE"),
      {"BERTH_CREDENTIALS"});
  sources.FromEnvironment(
      command.add_option("--profile", flags.profile, "Section of the credentials file")
          ->type_name("NAME")
          ->capture_default_str(),
      {"BERTH_PROFILE", "AWS_PROFILE"});
  sources.FromEnvironment(
      command.add_option("--region", flags.region, "Region that requests are made and signed for")
          ->type_name("R")
          ->capture_default_str(),
      {"BERTH_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"});
}

agent::AgentSettings MakeAgentSettings(const AgentFlags& flags) {
  agent::AgentSettings settings;
  settings.server = flags.server;
  settings.ca_file = flags.ca_file;
  settings.profile = flags.profile;
  settings.credentials_file = flags.credentials_file;
  if (settings.credentials_file.empty()) {
    settings.credentials = {.access_key_id = FromEnvironment("AWS_ACCESS_KEY_ID"),
                            .secret_access_key = FromEnvironment("AWS_SECRET_ACCESS_KEY"),
                            .session_token = FromEnvironment("AWS_SESSION_TOKEN")};
    if (settings.credentials.access_key_id.empty()) {
      settings.credentials_file = FromEnvironment("AWS_SHARED_CREDENTIALS_FILE");
    } else if (settings.credentials.secret_access_key.empty()) {
      throw UsageError("AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not");
    }
  }
  settings.cluster = flags.cluster;
  settings.region = flags.region;
  settings.data_dir = flags.data;
  settings.runtime =
      flags.runtime == "simulated" ? agent::RuntimeKind::kSimulated : agent::RuntimeKind::kDocker;
  settings.docker_socket = ParseSocketPath(flags.docker_socket);
  settings.mps_binary = flags.mps_control;
  settings.mps_directory = flags.mps_directory;

  const auto gpus = agent::ParseGpuOption(flags.gpus);
  if (!gpus.ok()) throw UsageError("--gpus: " + std::string(gpus.status().message()));
  settings.gpus = *gpus;

  if (flags.instances != 1 && settings.runtime != agent::RuntimeKind::kSimulated) {
    throw UsageError("--instances: only --runtime simulated has several instances in one process");
  }
  settings.instances = flags.instances;
  const uint16_t usual_port = flags.instances == 1 ? kIntrospectionPort : 0;
  settings.introspection_port = flags.introspection_port.value_or(usual_port);
  if (settings.introspection_port != 0 && flags.instances != 1) {
    throw UsageError("--introspection-port: it tells of one instance, and there are several");
  }
  settings.reserved_memory_mib = flags.reserved_memory_mib;
  if (flags.reserved_ports) {
    settings.reserved_tcp_ports = ParsePorts("--reserved-ports", *flags.reserved_ports);
  }
  if (flags.reserved_ports_udp) {
    settings.reserved_udp_ports = ParsePorts("--reserved-ports-udp", *flags.reserved_ports_udp);
  }
  settings.instance_attributes = ParseNamedValues("--attributes", flags.attributes);
  settings.instance_tags = TagsOf(ParseNamedValues("--tags", flags.tags));
  settings.availability_zone = flags.availability_zone;
  settings.instance_id = flags.instance_id;
  settings.instance_type = flags.instance_type;
  settings.cpu_units = flags.cpu_units;
  settings.memory_mib = flags.memory_mib;
  settings.pull_policy = PullBehaviors().at(flags.pull_behavior);
  settings.stop_timeout = ParseDuration("--stop-timeout", flags.stop_timeout, absl::Seconds(1));
  settings.cleanup_wait = ParseDuration("--cleanup-wait", flags.cleanup_wait, absl::Seconds(1));
  return settings;
}

}  // namespace berth::cli

// The flags of an agent, shared by `berth agent` and `berth dev`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/agent.h"
#include "cli/setting_sources.h"

namespace berth::cli {

inline constexpr int64_t kMemoryMibMax = int64_t{1} << 30;  // a PiB

// As text, the way they came; MakeAgentSettings reads them.
struct AgentFlags {
  std::string server = {};
  std::string ca_file = {};
  std::string credentials_file = {};
  std::string profile = "default";
  std::string cluster = "default";
  std::string region = "us-east-1";
  std::string data = "berth-agent-data";
  std::string runtime = "docker";
  std::string gpus = "auto";
  int64_t instances = 1;
  std::string docker_socket = "/var/run/docker.sock";
  std::string mps_control = "/usr/bin/nvidia-cuda-mps-control";
  std::string mps_directory = "/run/berth/mps";
  int64_t reserved_memory_mib = 0;
  std::optional<std::string> reserved_ports = std::nullopt;
  std::optional<std::string> reserved_ports_udp = std::nullopt;
  std::string attributes = {};
  std::string tags = {};
  std::string availability_zone = {};
  std::string instance_id = {};
  std::string instance_type = {};
  std::optional<int64_t> cpu_units = std::nullopt;
  std::optional<int64_t> memory_mib = std::nullopt;
  std::string pull_behavior = "default";
  std::string stop_timeout = "30s";
  std::string cleanup_wait = "3h";
  std::optional<uint16_t> introspection_port = std::nullopt;  // 51678, with one instance
};

// Those about the machine and its containers, which both commands have.
void AddMachineFlags(CLI::App& command, SettingSources& sources, AgentFlags& flags);

// How the server is reached: --server, --ca-file, --credentials, --profile, --region.
void AddAccessFlags(CLI::App& command, SettingSources& sources, AgentFlags& flags);

// Throws UsageError, naming the flag and what would be right.
agent::AgentSettings MakeAgentSettings(const AgentFlags& flags);

}  // namespace berth::cli

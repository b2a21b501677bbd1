// What the machine has and is: cores, memory, who it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::agent {

struct MachineFacts {
  std::string unique_id = {};     // the Docker engine's or the machine's; may be empty
  std::string architecture = {};  // as AWS names it: x86_64 or arm64
  int64_t cpus = 0;
  int64_t memory_mib = 0;
  std::string docker_version = {};       // empty without Docker
  std::string docker_architecture = {};  // as Docker names it: x86_64 or aarch64
  int docker_api_minor = 0;
  std::vector<std::string> log_drivers = {};
  std::vector<std::string> volume_drivers = {};
};

// Read from this process's machine; knows nothing of Docker.
MachineFacts ReadMachine();

// "x86_64" and "aarch64" as the kernel and Docker say, to "x86_64" and "arm64" as AWS says.
std::string AwsArchitecture(const std::string& kernel_name);

// "i-" and 17 hex digits, always the same for the same text.
std::string StableInstanceId(const std::string& text);

}  // namespace berth::agent

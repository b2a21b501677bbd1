// Capability attributes: what a definition requires of an instance, and what an agent offers. Both
// sides spell the names through this header. Sources: ecs-api.md 4.5, agent-protocol.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

// The names whose last part is given by the definition.
std::string LoggingDriverCapability(std::string_view driver);
std::string DockerPluginCapability(std::string_view volume_driver);
std::string DockerApiCapability(int minor);  // Docker remote API 1.<minor>

// The versions of the Docker remote API that capabilities are named for.
inline constexpr int kDockerApiMinorMin = 17;
inline constexpr int kDockerApiMinorMax = 41;

// What the Docker engine beside an agent has.
struct DockerFeatures {
  int api_minor = kDockerApiMinorMax;  // 1.<minor>, as the engine's version call says
  std::vector<std::string> logging_drivers = {"json-file", "syslog", "journald"};
  std::vector<std::string> volume_drivers = {"local"};
};

// What a Berth agent on such an engine can honour, and so registers. Sorted. Left out, since the
// agent does not do it: IAM roles, execution roles, environment files, firelens, EFS, port
// ranges. GPU sharing is added by who finds the GPUs.
std::vector<std::string> AgentCapabilities(const DockerFeatures& features);

// Every name that ComputeRequiredAttributes can give, but for Docker volume drivers other than
// `local`. An emulated agent offers these, since it runs nothing that could miss one. Sorted.
std::vector<std::string> AllCapabilities();

}  // namespace berth::model

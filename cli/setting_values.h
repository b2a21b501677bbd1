// The text of a setting as the value that is meant. Each throws UsageError that names the setting
// and says what would be right.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/access/throttle.h"
#include "cli/setting_sources.h"

namespace berth::cli {

struct ListenAddress {
  std::string host = {};  // a numeric address
  uint16_t port = 0;
  bool loopback = false;
  bool any = false;  // 0.0.0.0 or ::, all addresses of the machine
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0"
ListenAddress ParseListenAddress(const std::string& setting, const std::string& text);

// "30s", "1h30m"; at least `least`.
absl::Duration ParseDuration(const std::string& setting, const std::string& text,
                             absl::Duration least);

// Ports as the official agent's variables give them, a JSON list ("[22, 2375]"), or as people type
// them ("22,2375").
std::vector<int64_t> ParsePorts(const std::string& setting, const std::string& text);

// Names with values: a JSON object ('{"rack":"a"}') as in the official agent's variables, or
// "rack=a,tier=1".
std::map<std::string, std::string> ParseNamedValues(const std::string& setting,
                                                    const std::string& text);

// "mutate=100:200,read=off": calls per second and, after the colon, how many may come at once
// (twice the rate when absent), for the classes mutate, read and agent; "off" for all. Classes that
// are not named keep their defaults.
api::ThrottleLimits ParseThrottle(const std::string& setting, const std::string& text);

// A unix socket as a path, or as DOCKER_HOST gives it ("unix:///var/run/docker.sock").
std::string ParseSocketPath(const std::string& text);

}  // namespace berth::cli

// What one server is told at start and never changes afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "model/arn.h"
#include "scheduler/state.h"

namespace berth::api {

// What DiscoverPollEndpoint adds to the public endpoint. Agents add /ws to that: /acs/ws is the
// channel.
inline constexpr char kAgentChannelBase[] = "/acs";

struct ServerSettings {
  model::ArnScope scope = {};
  std::string listen_host = "127.0.0.1";
  uint16_t listen_port = 8080;  // 0: any free one
  // What DiscoverPollEndpoint names: "http://127.0.0.1:8080". Empty: made from the listen address.
  std::string public_endpoint = {};
  // Registered instances without an agent of their own get one inside the server.
  bool emulate_agents = false;
  std::string availability_zone = "local-1a";  // for instances that name none
  int io_threads = 2;
  scheduler::Retention retention = {};
};

}  // namespace berth::api

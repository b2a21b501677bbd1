// What one server is told at start and never changes afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/access/throttle.h"
#include "model/arn.h"
#include "placement/cluster_gpu_policy.h"
#include "scheduler/state.h"

namespace berth::api {

// What DiscoverPollEndpoint adds to the public endpoint. Agents add /ws to that: /acs/ws is the
// channel.
inline constexpr char kAgentChannelBase[] = "/acs";

// What https is served with.
struct TlsSettings {
  // In PEM; the certificate's file has the server's own first. Both are read again when they
  // change.
  std::string certificate_file = {};
  std::string key_file = {};
  // Not empty: the files are made in this folder at first start (transport/self_signed.h), for
  // these names beside those of loopback and of this machine, and renewed in time.
  std::string self_signed_folder = {};
  std::vector<std::string> names = {};
};

// How callers prove who they are.
enum class Auth {
  kNone,   // not at all: on loopback only
  kSigV4,  // by signatures with access keys
};

struct ServerSettings {
  model::ArnScope scope = {};
  std::string listen_host = "127.0.0.1";
  uint16_t listen_port = 8080;                    // 0: any free one
  std::optional<TlsSettings> tls = std::nullopt;  // none: plain HTTP
  // What DiscoverPollEndpoint names: "http://127.0.0.1:8080". Empty: made from the listen address.
  std::string public_endpoint = {};
  Auth auth = Auth::kNone;
  // With signatures: also on addresses that others reach, without TLS.
  bool insecure_http = false;
  // The data folder, for what is no row of the store: secrets.key, admin-credentials, audit.log.
  // Empty: no audit log, and no signatures can be checked.
  std::string data_dir = {};
  // With signatures: a folder for agents that share it (access/agent_access.h). Empty: none.
  std::string agent_access_dir = {};
  bool audit_reads = false;  // not only what changes something and what is refused
  ThrottleLimits throttle = {};
  // Registered instances without an agent of their own get one inside the server.
  bool emulate_agents = false;
  std::string availability_zone = "local-1a";  // for instances that name none
  int io_threads = 2;
  scheduler::Retention retention = {};
  // Of clusters whose tags name none (scheduler/gpu_policy_tag.h).
  placement::ClusterGpuPolicy gpu_policy = {};
};

}  // namespace berth::api

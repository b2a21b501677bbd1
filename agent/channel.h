// The agent's channel: the websocket over which the server tells it what to do (agent-protocol.md
// 2).
//
// Finds the endpoint, connects, hands each message to its owner one at a time, and connects again
// when the connection ends: by which rule, is in reconnect.h. Sends what it is given in order; what
// is sent while there is no connection is dropped, since the server asks again. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/ecs_client.h"
#include "agent/net.h"
#include "agent/reconnect.h"
#include "model/rng.h"

namespace berth::agent {

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  struct Timing {
    absl::Duration connect_max = absl::Seconds(30);
    // Without a message for so long plus up to as much again, the connection counts as dead.
    absl::Duration silence_max = absl::Seconds(60);
    absl::Duration life = absl::Minutes(30);
    absl::Duration life_jitter = absl::Minutes(5);
    absl::Duration endpoint_kept = absl::Hours(12);
    ReconnectPace pace = {};
  };
  struct Settings {
    std::string cluster = {};
    std::string instance_arn = {};
    std::string agent_version = {};
    std::string docker_version = {};
    Timing timing = {};
    model::Rng rng = model::Rng(0);
  };
  // Returns when the message has been dealt with. False: it was not understood, and does not count
  // as a sign of life.
  using OnMessage = std::function<net::awaitable<bool>(std::string)>;

  Channel(std::shared_ptr<EcsClient> server, OnMessage on_message, Settings settings);

  // For ever.
  net::awaitable<void> Run();
  void Send(std::string text);

 private:
  struct Session;

  net::awaitable<absl::Status> FindEndpoint();
  net::awaitable<SessionEnd> RunSession();
  net::awaitable<SessionEnd> Open(std::shared_ptr<Session> session);
  net::awaitable<SessionEnd> ReadMessages(std::shared_ptr<Session> session);
  void SignOfLife(Session& session);
  net::awaitable<void> WatchLife(std::shared_ptr<Session> session);
  net::awaitable<void> WriteAll(std::shared_ptr<Session> session);
  std::string Target(const HttpAddress& endpoint) const;

  std::shared_ptr<EcsClient> server_;
  OnMessage on_message_;
  Settings settings_;
  HttpAddress endpoint_ = {};
  absl::Time endpoint_until_ = absl::InfinitePast();
  bool connected_before_ = false;  // in this process
  std::shared_ptr<Session> session_ = {};
};

// The query of the websocket's URL, percent-encoded, in alphabetical order.
std::string EncodeQuery(const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace berth::agent

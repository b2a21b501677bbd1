// The agents' channel: GET /acs/ws, upgraded to a websocket that carries work to one container
// instance's agent and acknowledgements back (agent-protocol.md 2). Task states do not come this
// way.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "api/agent_hub.h"
#include "api/caller.h"
#include "api/http_handler.h"
#include "api/limits.h"
#include "api/net.h"
#include "model/arn.h"

namespace berth::api {

class Authenticator;
class ClusterLoop;
class CommandPump;

// What channels work with. All outlive every channel.
struct ChannelContext {
  AgentHub& hub;
  ClusterLoop& loop;
  CommandPump& pump;
  const Authenticator& authenticator;
  model::ArnScope scope = {};
  ChannelLimits limits = {};
};

// Serves the channel to its end and returns nothing, or refuses the handshake with a response in
// the forms that agents read. An agent's key may speak only for instances that it registered; when
// the caller's key is revoked the channel is closed.
net::awaitable<std::optional<HttpResponse>> ServeAgent(HttpRequest request,
                                                       WebsocketHandshake& handshake,
                                                       ChannelContext& context, Caller caller);

// A handshake whose signature is not right.
HttpResponse RefuseAgent(const absl::Status& error);

}  // namespace berth::api

// The agents' channel: GET /acs/ws, upgraded to a websocket that carries work to one container
// instance's agent and acknowledgements back (agent-protocol.md 2). Task states do not come this
// way.
#pragma once

#include <optional>
#include <string>

#include "api/agent_hub.h"
#include "api/http_handler.h"
#include "api/limits.h"
#include "api/net.h"
#include "model/arn.h"

namespace berth::api {

class ClusterLoop;
class CommandPump;

// What channels work with. All outlive every channel.
struct ChannelContext {
  AgentHub& hub;
  ClusterLoop& loop;
  CommandPump& pump;
  model::ArnScope scope = {};
  ChannelLimits limits = {};
};

// Serves the channel to its end and returns nothing, or refuses the handshake with a response in
// the forms that agents read. `agent_key`: scheduler/commands.h.
net::awaitable<std::optional<HttpResponse>> ServeAgent(HttpRequest request, std::string agent_key,
                                                       WebsocketHandshake& handshake,
                                                       ChannelContext& context);

}  // namespace berth::api

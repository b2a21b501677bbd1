// What each path of the listener is: the API at /, the agents' channel at /acs/ws, /healthz,
// /readyz, /metrics; anything else is a well-formed error. Measures and logs every call.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "api/agent_channel.h"
#include "api/dispatch.h"
#include "api/http_handler.h"
#include "api/metrics.h"

namespace berth::api {

class Router final : public HttpHandler {
 public:
  // What it routes to. All outlive it.
  struct Parts {
    ActionContext actions;
    ChannelContext& channel;
    Metrics& metrics;
    std::function<size_t()> connections;
  };

  explicit Router(Parts parts) : parts_(std::move(parts)) {}

  // From now on /readyz says no, and channels are refused.
  void GoAway() { going_away_ = true; }

  // HttpHandler:
  net::awaitable<HttpResponse> Respond(HttpRequest request) override;
  net::awaitable<std::optional<HttpResponse>> Upgrade(HttpRequest request,
                                                      WebsocketHandshake& handshake) override;

 private:
  net::awaitable<HttpResponse> CallAction(HttpRequest request);
  HttpResponse Readiness() const;
  net::awaitable<HttpResponse> RenderMetrics();
  // Set when the Host header names another machine: a page's script that reaches a server on
  // loopback by rebinding a name of its own.
  std::optional<HttpResponse> RefuseHost(const HttpRequest& request) const;

  Parts parts_;
  std::atomic<bool> going_away_ = false;
};

}  // namespace berth::api

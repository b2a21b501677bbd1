// What each path of the listener is: the API at /, the agents' channel at /acs/ws, access keys at
// /berth/v1/keys, questions about placement at /berth/v1/explain and /berth/v1/plan, /healthz,
// /readyz, /metrics; anything else is a well-formed error. Checks who calls, and how often;
// measures, logs and audits every call.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/access/audit_log.h"
#include "api/access/authenticator.h"
#include "api/access/key_endpoints.h"
#include "api/access/throttle.h"
#include "api/agent_channel.h"
#include "api/dispatch.h"
#include "api/http_handler.h"
#include "api/metrics.h"
#include "api/placement_endpoints.h"

namespace berth::api {

class Router final : public HttpHandler {
 public:
  // What it routes to. All outlive it.
  struct Parts {
    ActionContext actions;
    ChannelContext& channel;
    Metrics& metrics;
    const Authenticator& authenticator;
    KeyEndpoints keys;
    PlacementEndpoints placement;
    Throttle& throttle;
    AuditLog* audit;  // null: none is kept
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
  // A call on its way: who makes it and what it turns out to be.
  struct Recorded {
    absl::Time begin = absl::InfinitePast();
    std::string request_id = {};
    std::string peer = {};
    std::string action = {};  // for metrics: its name without the service
    std::string audited_action = {};
    std::string claimed_key = {};
    bool changes = false;
    bool refused = false;  // for lack of rights, not for what was asked
    Caller caller = {};    // empty when it could not be established
  };

  net::awaitable<HttpResponse> CallAction(HttpRequest request);
  // One of the calls beside the ECS API: its endpoints answer, and the rest is as with an action.
  template <class Endpoints>
  net::awaitable<HttpResponse> CallBeside(Endpoints& endpoints, HttpRequest request,
                                          std::string path);
  // Checks who calls, and how often. The caller's entry in the record is filled.
  absl::Status Admit(const HttpRequest& request, Recorded& call);
  bool IsAudited(const Recorded& call) const;
  // Counts, logs and audits.
  HttpResponse Finish(Recorded call, ApiResponse answer);
  void Audit(Recorded call, unsigned status, std::string code, std::vector<std::string> resources);

  HttpResponse Readiness(const HttpRequest& request) const;
  net::awaitable<HttpResponse> RenderMetrics();
  std::optional<HttpResponse> RefuseMetrics(const HttpRequest& request) const;
  // Set when the Host header names another machine: a page's script that reaches a server on
  // loopback by rebinding a name of its own. Where calls are signed the host is, too.
  std::optional<HttpResponse> RefuseHost(const HttpRequest& request) const;

  Parts parts_;
  std::atomic<bool> going_away_ = false;
};

}  // namespace berth::api

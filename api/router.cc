#include "api/router.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/cluster_loop.h"
#include "api/host_names.h"
#include "api/json_writer.h"

namespace berth::api {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kHint[] =
    R"({"service":"berth","speaks":"the Amazon ECS API: POST / with X-Amz-Target",)"
    R"("paths":["/healthz","/readyz","/metrics","/acs/ws"]})";
// At most that many clusters have series of their own.
constexpr int64_t kMetricClustersMax = 100;

// The path of a request's target, which may be of the absolute form; "/" when it is empty.
std::string PathOf(std::string_view target) {
  if (const size_t scheme = target.find("://");
      scheme != std::string_view::npos && target[0] != '/') {
    const size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  target = target.substr(0, target.find('?'));
  return target.empty() ? "/" : std::string(target);
}

bool IsRead(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

HttpResponse NotAllowed(const HttpRequest& request, const std::string& path, const char* allow) {
  HttpResponse response = ErrorResponse(
      405, "InvalidParameterException",
      absl::StrFormat("%s is not possible on %s; use %s", request.method, path, allow));
  response.allow = allow;
  return response;
}

}  // namespace

net::awaitable<HttpResponse> Router::Respond(HttpRequest request) {
  if (auto refusal = RefuseHost(request)) co_return *std::move(refusal);
  const std::string path = PathOf(request.target);
  if (path == "/") {
    if (request.method == "POST") co_return co_await CallAction(std::move(request));
    if (IsRead(request)) co_return HttpResponse{.content_type = kJson, .body = kHint};
    co_return NotAllowed(request, path, "POST, GET, HEAD");
  }
  const bool known =
      path == "/healthz" || path == "/readyz" || path == "/metrics" || path == "/acs/ws";
  if (known && !IsRead(request)) co_return NotAllowed(request, path, "GET, HEAD");
  if (path == "/healthz") {
    co_return HttpResponse{.content_type = kJson, .body = R"({"status":"ok"})"};
  }
  if (path == "/readyz") co_return Readiness();
  if (path == "/metrics") co_return co_await RenderMetrics();
  if (path == "/acs/ws") {
    co_return ErrorResponse(426, "InvalidParameterException",
                            "the agents' channel is a websocket; ask for an upgrade");
  }
  if (request.method == "POST") {
    co_return ErrorResponse(400, "UnknownOperationException",
                            absl::StrFormat("actions are called with POST /, not POST %s", path));
  }
  co_return ErrorResponse(404, "ResourceNotFoundException",
                          absl::StrFormat("there is nothing at %s", path));
}

net::awaitable<HttpResponse> Router::CallAction(HttpRequest request) {
  const absl::Time begin = absl::Now();
  const std::string action = ActionName(request.amz_target);
  ApiRequest call{.target = std::move(request.amz_target),
                  .body = std::move(request.body),
                  .request_id = request.request_id};
  ApiResponse answer = co_await Dispatch(std::move(call), parts_.actions);
  const absl::Duration took = absl::Now() - begin;
  parts_.metrics.CountRequest(action, answer.error_type.empty() ? "OK" : answer.error_type, took);
  const auto level = answer.status < 400   ? spdlog::level::debug
                     : answer.status < 500 ? spdlog::level::info
                                           : spdlog::level::warn;
  if (spdlog::should_log(level)) {
    spdlog::log(level, "{} {} {} {} {:.1f} ms{}{}", request.request_id, action, answer.status,
                answer.error_type.empty() ? "-" : answer.error_type,
                absl::ToDoubleMilliseconds(took), answer.status < 400 ? "" : " ",
                answer.status < 400 ? "" : answer.body);
  }
  co_return HttpResponse{.status = answer.status,
                         .error_type = std::move(answer.error_type),
                         .body = std::move(answer.body)};
}

HttpResponse Router::Readiness() const {
  std::string why;
  if (going_away_) {
    why = "the server is shutting down";
  } else if (const absl::Status health = parts_.actions.loop.health(); !health.ok()) {
    why = absl::StrFormat("the store fails: %s", std::string(health.message()));
  }
  JsonWriter json;
  json.BeginObject();
  json.String("status", why.empty() ? "ready" : "not ready");
  json.OptionalString("reason", why);
  json.EndObject();
  return {.status = why.empty() ? 200u : 503u, .content_type = kJson, .body = json.Take()};
}

net::awaitable<HttpResponse> Router::RenderMetrics() {
  ClusterLoop& loop = parts_.actions.loop;
  Gauges gauges{.queue_length = loop.queue_length(),
                .connections = parts_.connections(),
                .connected_agents = parts_.channel.hub.connected(),
                .store_works = loop.health().ok()};
  scheduler::ListClusters list{.limit = kMetricClustersMax};
  auto names = co_await loop.Submit(std::move(list));
  if (names.ok()) {
    scheduler::DescribeClusters describe{.names = std::move(names->names)};
    auto described = co_await loop.Submit(std::move(describe));
    if (described.ok()) {
      for (const scheduler::ClusterSnapshot& cluster : described->clusters) {
        gauges.clusters.push_back({.name = cluster.record->name.value,
                                   .instances = cluster.registered_instances,
                                   .running_tasks = cluster.running_tasks,
                                   .pending_tasks = cluster.pending_tasks});
      }
    }
  }
  co_return HttpResponse{.content_type = kPrometheusText, .body = parts_.metrics.Render(gauges)};
}

std::optional<HttpResponse> Router::RefuseHost(const HttpRequest& request) const {
  const std::string_view host = HostOf(request.host);
  if (host.empty() || IsLoopback(host) || host == parts_.actions.settings.listen_host) {
    return std::nullopt;
  }
  const std::string& endpoint = parts_.actions.settings.public_endpoint;
  if (const size_t scheme = endpoint.find("://"); scheme != std::string::npos) {
    const std::string_view rest = std::string_view(endpoint).substr(scheme + 3);
    if (host == HostOf(rest.substr(0, rest.find('/')))) return std::nullopt;
  }
  return ErrorResponse(403, "AccessDeniedException",
                       absl::StrFormat("this server has no authentication and answers to its own "
                                       "address only, not to the Host %s",
                                       request.host));
}

net::awaitable<std::optional<HttpResponse>> Router::Upgrade(HttpRequest request,
                                                            WebsocketHandshake& handshake) {
  if (auto refusal = RefuseHost(request)) co_return refusal;
  const std::string path = PathOf(request.target);
  if (path != "/acs/ws") {
    co_return ErrorResponse(404, "ResourceNotFoundException",
                            absl::StrFormat("there is no websocket at %s", path));
  }
  if (going_away_) {
    co_return ErrorResponse(503, "ServerException", "the server is shutting down");
  }
  co_return co_await ServeAgent(std::move(request), /*agent_key=*/"", handshake, parts_.channel);
}

}  // namespace berth::api

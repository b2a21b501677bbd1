#include "api/router.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/access/authorize.h"
#include "api/cluster_loop.h"
#include "api/errors.h"
#include "api/json_writer.h"
#include "model/errors.h"
#include "scheduler/defrag.h"
#include "transport/host_names.h"

namespace berth::api {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kHint[] =
    R"({"service":"berth","speaks":"the Amazon ECS API: POST / with X-Amz-Target",)"
    R"("paths":["/healthz","/readyz","/metrics","/acs/ws","/berth/v1/keys","/berth/v1/explain",)"
    R"("/berth/v1/plan","/berth/v1/defrag"]})";
// At most that many clusters have series of their own.
constexpr int64_t kMetricClustersMax = 100;

constexpr char kAccessDenied[] = "AccessDeniedException";
constexpr size_t kAuditedTargetMax = 1024;

// Neither changes anything nor is named like a read.
bool IsLookup(std::string_view action) { return action == "DiscoverPollEndpoint"; }

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

// Both are in the order of the clusters' names; either may lack one that has come or gone
// meanwhile.
void AddFragmentation(const std::vector<scheduler::ReadFragmentation::Row>& rows,
                      std::vector<Gauges::Cluster>& clusters) {
  auto row = rows.begin();
  for (Gauges::Cluster& cluster : clusters) {
    while (row != rows.end() && row->cluster.value < cluster.name) ++row;
    if (row != rows.end() && row->cluster.value == cluster.name) {
      cluster.fragmentation = row->figures;
    }
  }
}

}  // namespace

net::awaitable<HttpResponse> Router::Respond(HttpRequest request) {
  if (!parts_.authenticator.checks_signatures()) {
    if (auto refusal = RefuseHost(request)) co_return *std::move(refusal);
  }
  const std::string path = PathOf(request.target);
  if (path == "/") {
    if (request.method == "POST") co_return co_await CallAction(std::move(request));
    if (IsRead(request)) co_return HttpResponse{.content_type = kJson, .body = kHint};
    co_return NotAllowed(request, path, "POST, GET, HEAD");
  }
  if (KeyEndpoints::Owns(path)) {
    co_return co_await CallBeside(parts_.keys, std::move(request), path);
  }
  if (PlacementEndpoints::Owns(path)) {
    co_return co_await CallBeside(parts_.placement, std::move(request), path);
  }
  const bool known =
      path == "/healthz" || path == "/readyz" || path == "/metrics" || path == "/acs/ws";
  if (known && !IsRead(request)) co_return NotAllowed(request, path, "GET, HEAD");
  if (path == "/healthz") {
    co_return HttpResponse{.content_type = kJson, .body = R"({"status":"ok"})"};
  }
  if (path == "/readyz") co_return Readiness(request);
  if (path == "/metrics") {
    if (auto refusal = RefuseMetrics(request)) co_return *std::move(refusal);
    co_return co_await RenderMetrics();
  }
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
  const std::string action = ActionName(request.amz_target);
  Recorded record{.action = action,
                  .audited_action = "ecs:" + action,
                  .changes = action != "-" && !IsReadAction(action) && !IsLookup(action)};
  const absl::Status admitted = Admit(request, record);
  if (!admitted.ok()) {
    co_return Finish(std::move(record), ErrorResponse(admitted, parts_.actions.settings.scope));
  }
  ApiRequest call{.target = std::move(request.amz_target),
                  .body = std::move(request.body),
                  .request_id = std::move(request.request_id),
                  .caller = record.caller,
                  .audited = IsAudited(record)};
  ApiResponse answer = co_await Dispatch(std::move(call), parts_.actions);
  co_return Finish(std::move(record), std::move(answer));
}

template <class Endpoints>
net::awaitable<HttpResponse> Router::CallBeside(Endpoints& endpoints, HttpRequest request,
                                                std::string path) {
  const std::string_view action = Endpoints::ActionOf(request.method, path);
  if (action.empty()) co_return NotAllowed(request, path, Endpoints::AllowedMethods(path));
  const std::string_view name = action.substr(action.find(':') + 1);
  Recorded record{.action = std::string(name),
                  .audited_action = std::string(action),
                  .changes = !IsReadAction(name)};
  const absl::Status admitted = Admit(request, record);
  ApiResponse answer;
  if (admitted.ok()) {
    answer =
        co_await endpoints.Respond(action, std::move(path), std::move(request.body), record.caller);
  } else {
    answer = ErrorResponse(admitted, parts_.actions.settings.scope);
  }
  HttpResponse response = Finish(std::move(record), std::move(answer));
  response.content_type = kJson;
  co_return response;
}

absl::Status Router::Admit(const HttpRequest& request, Recorded& call) {
  call.begin = absl::Now();
  call.request_id = request.request_id;
  call.peer = request.peer;
  absl::StatusOr<Caller> caller = parts_.authenticator.Check(request);
  if (!caller.ok()) {
    call.claimed_key = Authenticator::ClaimedKey(request);
    call.refused = true;
    return caller.status();
  }
  call.caller = *std::move(caller);
  const CallClass call_class = ClassOf(call.action);
  const std::string& who = call.caller.access_key.empty() ? call.peer : call.caller.access_key;
  if (parts_.throttle.Admit(who, call_class, call.begin)) return absl::OkStatus();
  parts_.metrics.CountThrottled(ToString(call_class));
  call.refused = true;
  return model::MakeError(model::ErrorKind::kThrottled, "Rate exceeded");
}

bool Router::IsAudited(const Recorded& call) const {
  return parts_.audit != nullptr &&
         (call.changes || call.refused || parts_.actions.settings.audit_reads);
}

HttpResponse Router::Finish(Recorded call, ApiResponse answer) {
  const absl::Duration took = absl::Now() - call.begin;
  const std::string code = answer.error_type.empty() ? "OK" : answer.error_type;
  parts_.metrics.CountRequest(call.action, code, took);
  const auto level = answer.status < 400   ? spdlog::level::debug
                     : answer.status < 500 ? spdlog::level::info
                                           : spdlog::level::warn;
  if (spdlog::should_log(level)) {
    spdlog::log(level, "{} {} {} {} {:.1f} ms{}{}", call.request_id, call.action, answer.status,
                answer.error_type.empty() ? "-" : answer.error_type,
                absl::ToDoubleMilliseconds(took), answer.status < 400 ? "" : " ",
                answer.status < 400 ? "" : answer.body);
  }
  call.refused = call.refused || answer.error_type == kAccessDenied;
  Audit(std::move(call), answer.status, code, std::move(answer.resources));
  return HttpResponse{.status = answer.status,
                      .error_type = std::move(answer.error_type),
                      .body = std::move(answer.body)};
}

void Router::Audit(Recorded call, unsigned status, std::string code,
                   std::vector<std::string> resources) {
  if (!IsAudited(call)) return;
  const bool known = !call.caller.principal_arn.empty();
  parts_.audit->Add(
      {.time = call.begin,
       .request_id = std::move(call.request_id),
       .principal = std::move(call.caller.principal_arn),
       .access_key = known ? std::move(call.caller.access_key) : std::move(call.claimed_key),
       .source = std::move(call.peer),
       .action = std::move(call.audited_action),
       .resources = std::move(resources),
       .status = status,
       .code = std::move(code),
       .took = absl::Now() - call.begin});
}

HttpResponse Router::Readiness(const HttpRequest& request) const {
  std::string why;
  if (going_away_) {
    why = "the server is shutting down";
  } else if (const absl::Status health = parts_.actions.loop.health(); !health.ok()) {
    why = absl::StrFormat("the store fails: %s", std::string(health.message()));
  }
  JsonWriter json;
  json.BeginObject();
  json.String("status", why.empty() ? "ready" : "not ready");
  // Where strangers reach the listener, the details are for this machine alone.
  if (!parts_.authenticator.checks_signatures() || transport::IsLoopback(request.peer)) {
    json.OptionalString("reason", why);
  }
  json.EndObject();
  return {.status = why.empty() ? 200u : 503u, .content_type = kJson, .body = json.Take()};
}

net::awaitable<HttpResponse> Router::RenderMetrics() {
  ClusterLoop& loop = parts_.actions.loop;
  Gauges gauges{.queue_length = loop.queue_length(),
                .connections = parts_.connections(),
                .connected_agents = parts_.channel.hub.connected(),
                .store_works = loop.health().ok(),
                .throttle_buckets = parts_.throttle.buckets(),
                .audit_entries_dropped = parts_.audit == nullptr ? 0 : parts_.audit->dropped()};
  scheduler::ListClusters list{.limit = kMetricClustersMax};
  auto names = co_await loop.Submit(std::move(list));
  if (names.ok()) {
    scheduler::ReadFragmentation read{.clusters = names->names};
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
    auto fragmentation = co_await loop.Submit(std::move(read));
    if (fragmentation.ok()) AddFragmentation(fragmentation->rows, gauges.clusters);
  }
  co_return HttpResponse{.content_type = kPrometheusText, .body = parts_.metrics.Render(gauges)};
}

// From this machine nobody has to sign, so that a Prometheus beside the server can read them; from
// elsewhere any key will do but an agent's.
std::optional<HttpResponse> Router::RefuseMetrics(const HttpRequest& request) const {
  if (!parts_.authenticator.checks_signatures()) return std::nullopt;
  const bool local = transport::IsLoopback(request.peer) && !RefuseHost(request);
  if (local && request.headers.empty()) return std::nullopt;
  const model::ArnScope& scope = parts_.actions.settings.scope;
  absl::StatusOr<Caller> caller = parts_.authenticator.Check(request);
  const absl::Status status =
      caller.ok()
          ? Authorize(*caller, "ecs:GetMetrics", std::vector<CallResource>{{.arn = "*"}}, scope)
          : caller.status();
  if (status.ok()) return std::nullopt;
  ApiResponse answer = ErrorResponse(status, scope);
  return HttpResponse{.status = answer.status,
                      .error_type = std::move(answer.error_type),
                      .body = std::move(answer.body)};
}

std::optional<HttpResponse> Router::RefuseHost(const HttpRequest& request) const {
  const std::string_view host = transport::HostOf(request.host);
  if (host.empty() || transport::IsLoopback(host) || host == parts_.actions.settings.listen_host) {
    return std::nullopt;
  }
  const std::string& endpoint = parts_.actions.settings.public_endpoint;
  if (const size_t scheme = endpoint.find("://"); scheme != std::string::npos) {
    const std::string_view rest = std::string_view(endpoint).substr(scheme + 3);
    if (host == transport::HostOf(rest.substr(0, rest.find('/')))) return std::nullopt;
  }
  return ErrorResponse(403, "AccessDeniedException",
                       absl::StrFormat("this server has no authentication and answers to its own "
                                       "address only, not to the Host %s",
                                       request.host));
}

net::awaitable<std::optional<HttpResponse>> Router::Upgrade(HttpRequest request,
                                                            WebsocketHandshake& handshake) {
  if (!parts_.authenticator.checks_signatures()) {
    if (auto refusal = RefuseHost(request)) co_return refusal;
  }
  const std::string path = PathOf(request.target);
  if (path != "/acs/ws") {
    co_return ErrorResponse(404, "ResourceNotFoundException",
                            absl::StrFormat("there is no websocket at %s", path));
  }
  if (going_away_) {
    co_return ErrorResponse(503, "ServerException", "the server is shutting down");
  }
  Recorded record{.action = "Poll", .audited_action = kPollAction, .changes = true};
  const absl::Status admitted = Admit(request, record);
  std::string about;
  std::optional<HttpResponse> refusal;
  if (admitted.ok()) {
    about = request.target.substr(0, kAuditedTargetMax);
    Caller caller = record.caller;
    refusal = co_await ServeAgent(std::move(request), handshake, parts_.channel, std::move(caller));
  } else {
    refusal = RefuseAgent(admitted);
  }
  const unsigned status = refusal ? refusal->status : 101;
  const std::string code = refusal ? refusal->error_type : "OK";
  Audit(std::move(record), status, code, {std::move(about)});
  co_return refusal;
}

}  // namespace berth::api

#include "api/unbuilt.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"
#include "api/errors.h"
#include "api/json_writer.h"
#include "model/errors.h"

namespace berth::api {

namespace {

// Managed daemons and gateways belong to infrastructure that only AWS has: these actions get the
// answer that ECS gives when there is none of a kind.
struct NotHere {
  std::string_view action;
  absl::Status (*error)();
};

absl::Status NoDaemon() {
  return MakeApiError(ApiError::kDaemonNotFound,
                      "Daemon not found: this installation has no managed daemons. Use a service "
                      "with scheduling strategy DAEMON.");
}
absl::Status NoDaemonToList() {
  return model::InvalidParameter(
      "daemonArn names no daemon: this installation has no managed daemons. Use a service with "
      "scheduling strategy DAEMON.");
}
absl::Status NoDaemonDefinition() {
  return model::ClientError(
      "Daemon task definitions are not available in this installation. Use RegisterTaskDefinition "
      "and a service with scheduling strategy DAEMON.");
}
absl::Status NoDaemonCreation() {
  return model::Unsupported(
      "Managed daemons are not available in this installation. Use a service with scheduling "
      "strategy DAEMON.");
}
absl::Status NoGateway() {
  return MakeApiError(ApiError::kGatewayNotFound,
                      "Gateway not found: this installation has no gateways.");
}
absl::Status NoGatewayRoute() {
  return model::MakeError(model::ErrorKind::kResourceNotFound,
                          "Gateway route not found: this installation has no gateways.");
}
absl::Status NoGatewayCreation() {
  return model::Unsupported(
      "Gateways are not available in this installation. Put a load balancer of your own in front "
      "of the tasks' host ports.");
}
absl::Status NoExpressService() {
  return MakeApiError(ApiError::kServiceNotFound,
                      "Service not found: this installation has no Express services.");
}
absl::Status NoExpressResource() {
  return model::MakeError(model::ErrorKind::kResourceNotFound,
                          "Express service not found: this installation has no Express services.");
}
absl::Status NoExpressCreation() {
  return model::Unsupported(
      "Express services are not available in this installation. Use CreateService.");
}
absl::Status NoPauseHook() {
  return model::InvalidParameter(
      "hookId names no hook: this installation has no deployments that pause at a hook.");
}

constexpr NotHere kNotHere[] = {
    {"AssociateGatewayWithCluster", NoGateway},
    {"ContinueServiceDeployment", NoPauseHook},
    {"CreateDaemon", NoDaemonCreation},
    {"CreateExpressGatewayService", NoExpressCreation},
    {"CreateGateway", NoGatewayCreation},
    {"DeleteDaemon", NoDaemon},
    {"DeleteDaemonTaskDefinition", NoDaemonDefinition},
    {"DeleteExpressGatewayService", NoExpressService},
    {"DeleteGateway", NoGateway},
    {"DescribeDaemon", NoDaemon},
    {"DescribeDaemonTaskDefinition", NoDaemonDefinition},
    {"DescribeExpressGatewayService", NoExpressResource},
    {"DescribeGateway", NoGateway},
    {"DescribeGatewayResources", NoGateway},
    {"DescribeGatewayRoute", NoGatewayRoute},
    {"DisassociateGatewayFromCluster", NoGateway},
    {"ListDaemonDeployments", NoDaemonToList},
    {"ListGatewayRoutes", NoGateway},
    {"RegisterDaemonTaskDefinition", NoDaemonDefinition},
    {"UpdateDaemon", NoDaemon},
    {"UpdateExpressGatewayService", NoExpressService},
    {"UpdateGateway", NoGateway},
};

// Lists of things of which there are none. `ids`: the request's member whose entries each become a
// failure MISSING.
struct EmptyList {
  std::string_view action;
  std::string_view member;
  std::string_view ids = {};
};

constexpr EmptyList kEmptyLists[] = {
    {"DescribeDaemonDeployments", "daemonDeployments", "daemonDeploymentArns"},
    {"DescribeDaemonRevisions", "daemonRevisions", "daemonRevisionArns"},
    {"ListDaemonTaskDefinitions", "daemonTaskDefinitions"},
    {"ListDaemons", "daemonSummariesList"},
    {"ListGatewayClusterAssociations", "gatewayClusterAssociations"},
    {"ListGateways", "gateways"},
};

// What works today in place of an action that comes later. Actions without a row have nothing.
struct Instead {
  std::string_view action;
  std::string_view text;
};

constexpr Instead kInstead[] = {
    {"CreateService", "use RunTask to start tasks"},
    {"ListServices", "use ListTasks for the tasks that RunTask started"},
};

std::string WriteEmptyList(const EmptyList& list, const Call& call) {
  JsonWriter writer;
  writer.BeginObject();
  writer.EmptyArray(list.member);
  if (!list.ids.empty()) {
    writer.BeginArray("failures");
    if (const JsonView ids = call.body.root().Find(list.ids)) {
      for (int i = 0; i < ids.size(); ++i) {
        writer.BeginObject();
        writer.String("arn", ids.At(i).AsString());
        writer.String("reason", "MISSING");
        writer.EndObject();
      }
    }
    writer.EndArray();
  }
  writer.EndObject();
  return writer.Take();
}

template <class Row, size_t N>
const Row* FindRow(const Row (&rows)[N], std::string_view action) {
  const auto found = std::ranges::find(rows, action, &Row::action);
  return found == std::end(rows) ? nullptr : &*found;
}

// The error, if the answer is one.
std::optional<absl::Status> FindError(std::string_view action) {
  if (const NotHere* row = FindRow(kNotHere, action)) return row->error();
  if (FindRow(kEmptyLists, action) != nullptr) return std::nullopt;
  std::string text = absl::StrFormat("%s is not available in this version of Berth", action);
  if (const Instead* row = FindRow(kInstead, action)) {
    absl::StrAppendFormat(&text, "; %s", row->text);
  }
  return model::Unsupported(text);
}

}  // namespace

Answer AnswerUnbuilt(const schema::Operation& operation, const Call& call) {
  if (auto error = FindError(operation.name)) return *std::move(error);
  return WriteEmptyList(*FindRow(kEmptyLists, operation.name), call);
}

std::string DescribeUnbuilt(const schema::Operation& operation) {
  if (const auto error = FindError(operation.name)) {
    return absl::StrFormat("%s: %s", ErrorResponse(*error, {}).error_type,
                           std::string(error->message()));
  }
  return FindRow(kEmptyLists, operation.name)->ids.empty()
             ? "An empty list: there are none here."
             : "Each id asked for is a failure MISSING: there are none here.";
}

}  // namespace berth::api

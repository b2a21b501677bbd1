// RunTask starts `count` tasks. One that finds no place is no error: it shows in `failures`, with
// the reason for each container instance.
#include <utility>

#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/digest.h"
#include "api/errors.h"
#include "api/shapes/launch_request.h"
#include "api/shapes/placement_rules.h"
#include "scheduler/commands.h"

namespace berth::api {

// Beside what StartTask has too (launch_request.h).
struct RunTaskRequest {
  int64_t count = 1;
  std::optional<std::string> launch_type = std::nullopt;
  std::string client_token = {};
  std::string platform_version = {};
};
template <>
inline constexpr auto kFields<RunTaskRequest> = std::array{
    Field<&RunTaskRequest::count>("count"),
    Field<&RunTaskRequest::launch_type>("launchType"),
    Field<&RunTaskRequest::client_token>("clientToken"),
    Field<&RunTaskRequest::platform_version>("platformVersion"),
};

net::awaitable<Answer> RunTask(Call call) {
  const JsonView body = call.body.root();
  absl::StatusOr<scheduler::RunTask> command = ParseLaunch(body, call.scope());
  if (!command.ok()) co_return command.status();
  const auto request = Decode<RunTaskRequest>(body);
  command->count = request.count;
  command->client_token = request.client_token;
  // Equal requests have equal fingerprints, however they are written.
  command->fingerprint = Sha256Hex(ToCanonicalJson(body, {"clientToken"}));
  command->platform_version = request.platform_version;
  if (request.launch_type) command->launch_type = model::ParseLaunchType(*request.launch_type);
  absl::StatusOr<placement::Rules> rules = DecodePlacementRules(body);
  if (rules.ok()) {
    command->rules = *std::move(rules);
  } else if (command->later_refusal.ok()) {
    command->later_refusal = rules.status();
  }

  const model::ClusterName cluster = command->cluster;
  auto reply = co_await call.context.loop.Submit(*std::move(command));
  if (!reply.ok()) co_return InCluster(reply.status(), cluster);
  co_return WriteLaunched(*reply, cluster, call.scope());
}

}  // namespace berth::api

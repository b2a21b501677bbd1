// CreateCluster makes a cluster, or answers with the one that is there when nothing differs. Agents
// call it too, when their cluster is missing.
#include <utility>

#include "api/account_settings.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shapes/cluster.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct CreateClusterRequest {
  std::optional<std::string> name = std::nullopt;
  std::vector<TagArgument> tags = {};
  std::vector<std::string> capacity_providers = {};
};
template <>
inline constexpr auto kFields<CreateClusterRequest> = std::array{
    Field<&CreateClusterRequest::name>("clusterName"),
    Field<&CreateClusterRequest::tags>("tags"),
    Field<&CreateClusterRequest::capacity_providers>("capacityProviders"),
};

namespace {

absl::Status CheckCapacityProviders(const CreateClusterRequest& request, JsonView body) {
  const JsonView strategy = body.Find("defaultCapacityProviderStrategy");
  if (!request.capacity_providers.empty() || (strategy && strategy.size() > 0)) {
    return model::InvalidParameter(
        "capacity providers are not available in this version of Berth: leave out "
        "capacityProviders and defaultCapacityProviderStrategy");
  }
  return absl::OkStatus();
}

std::vector<std::string> DocumentsAlike(JsonView body) {
  std::vector<std::string> documents;
  for (const std::string_view value : kContainerInsights) {
    documents.push_back(MakeClusterDocument(body, value));
  }
  return documents;
}

}  // namespace

net::awaitable<Answer> CreateCluster(Call call) {
  const auto request = Decode<CreateClusterRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> name = ClusterArgument(call.scope(), request.name);
  if (!name.ok()) co_return name.status();
  absl::Status checked = CheckCapacityProviders(request, call.body.root());
  if (!checked.ok()) co_return checked;
  checked = CheckClusterMembers(call.body.root());
  if (!checked.ok()) co_return checked;
  absl::StatusOr<model::Tags> tags = ParseTags(request.tags);
  if (!tags.ok()) co_return tags.status();

  // Without settings of its own the cluster has the account's.
  absl::StatusOr<AccountSettings> account = co_await ReadAccountSettings(call, CallerOf(call));
  if (!account.ok()) co_return account.status();
  const JsonView body = call.body.root();
  const JsonView settings = body.Find("settings");
  scheduler::CreateCluster command{
      .name = *std::move(name),
      .document = MakeClusterDocument(body, account->Effective("containerInsights")),
      .tags = *std::move(tags),
      .has_settings = settings && settings.size() > 0};
  if (!command.has_settings) command.alike = DocumentsAlike(body);
  absl::StatusOr<scheduler::ClusterSnapshot> cluster =
      co_await call.context.loop.Submit(std::move(command));
  if (!cluster.ok()) co_return cluster.status();
  co_return WriteClusterAnswer(*cluster, call.scope());
}

}  // namespace berth::api

// CreateCluster makes a cluster, or answers with the one that is there when nothing differs. Agents
// call it too, when their cluster is missing.
#include <utility>

#include "absl/strings/str_format.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/cluster.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

struct ClusterSettingArgument {
  std::string name = {};
  std::string value = {};
};
template <>
inline constexpr auto kFields<ClusterSettingArgument> = std::array{
    Field<&ClusterSettingArgument::name>("name"),
    Field<&ClusterSettingArgument::value>("value"),
};

struct CreateClusterRequest {
  std::optional<std::string> name = std::nullopt;
  std::vector<TagArgument> tags = {};
  std::vector<ClusterSettingArgument> settings = {};
  std::vector<std::string> capacity_providers = {};
};
template <>
inline constexpr auto kFields<CreateClusterRequest> = std::array{
    Field<&CreateClusterRequest::name>("clusterName"),
    Field<&CreateClusterRequest::tags>("tags"),
    Field<&CreateClusterRequest::settings>("settings"),
    Field<&CreateClusterRequest::capacity_providers>("capacityProviders"),
};

namespace {

absl::Status CheckSettings(const std::vector<ClusterSettingArgument>& settings) {
  for (const ClusterSettingArgument& setting : settings) {
    if (setting.name != "containerInsights") {
      return model::InvalidParameter(absl::StrFormat(
          "settings has the name '%s': it should be containerInsights", setting.name));
    }
    if (setting.value != "enabled" && setting.value != "disabled" && setting.value != "enhanced") {
      return model::InvalidParameter(
          absl::StrFormat("the setting containerInsights is '%s': it should be one of enabled, "
                          "disabled, enhanced",
                          setting.value));
    }
  }
  // There is only one name.
  if (settings.size() > 1) {
    return model::InvalidParameter("settings has containerInsights twice: it should be there once");
  }
  return absl::OkStatus();
}

absl::Status CheckCapacityProviders(const CreateClusterRequest& request, JsonView body) {
  const JsonView strategy = body.Find("defaultCapacityProviderStrategy");
  if (!request.capacity_providers.empty() || (strategy && strategy.size() > 0)) {
    return model::InvalidParameter(
        "capacity providers are not available in this version of Berth: leave out "
        "capacityProviders and defaultCapacityProviderStrategy");
  }
  return absl::OkStatus();
}

}  // namespace

net::awaitable<Answer> CreateCluster(Call call) {
  const auto request = Decode<CreateClusterRequest>(call.body.root());
  absl::StatusOr<model::ClusterName> name = ClusterArgument(call.scope(), request.name);
  if (!name.ok()) co_return name.status();
  absl::Status checked = CheckSettings(request.settings);
  if (!checked.ok()) co_return checked;
  checked = CheckCapacityProviders(request, call.body.root());
  if (!checked.ok()) co_return checked;
  if (const auto unknown = FindUnknownWord(call.body.root())) {
    co_return model::InvalidParameter(*unknown);
  }
  if (const auto zero = FindZeroCharacter(call.body.root())) {
    co_return model::InvalidParameter(*zero);
  }
  absl::StatusOr<model::Tags> tags = ParseTags(request.tags);
  if (!tags.ok()) co_return tags.status();

  scheduler::CreateCluster command{.name = *std::move(name),
                                   .document = MakeClusterDocument(call.body.root()),
                                   .tags = *std::move(tags),
                                   .has_settings = !request.settings.empty()};
  absl::StatusOr<scheduler::ClusterSnapshot> cluster =
      co_await call.context.loop.Submit(std::move(command));
  if (!cluster.ok()) co_return cluster.status();

  JsonWriter writer;
  writer.BeginObject();
  writer.Key("cluster");
  // The statistics come with DescribeClusters.
  WriteCluster(*cluster, {.statistics = false}, call.scope(), writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api

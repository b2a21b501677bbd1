#include "api/shapes/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/shape_checks.h"
#include "api/shapes/common.h"
#include "model/check.h"
#include "model/errors.h"

namespace berth::api {

namespace {

constexpr std::string_view kSettingName = "containerInsights";
constexpr std::string_view kServiceConnect = "serviceConnectDefaults";
constexpr std::string_view kReplaceable[] = {"settings", "configuration", kServiceConnect};
constexpr std::string_view kDefaultSettings =
    R"([{"name":"containerInsights","value":"disabled"}])";

const schema::Shape& DocumentShape() {
  static const schema::Shape& shape = schema::InputOf(*schema::FindOperation("CreateCluster"));
  return shape;
}

// Our own text; a store that gives back anything else is caught when it is loaded.
JsonBody ParseDocument(std::string document) {
  absl::StatusOr<JsonBody> body = JsonBody::Parse(std::move(document), DocumentShape());
  BERTH_CHECK(body.ok());
  return *std::move(body);
}

void WriteStatistics(const scheduler::ClusterSnapshot& cluster, JsonWriter& writer) {
  const std::pair<std::string_view, int64_t> statistics[] = {
      {"runningEC2TasksCount", cluster.ec2.running},
      {"runningFargateTasksCount", 0},
      {"runningExternalTasksCount", cluster.external.running},
      {"pendingEC2TasksCount", cluster.ec2.pending},
      {"pendingFargateTasksCount", 0},
      {"pendingExternalTasksCount", cluster.external.pending},
      {"activeEC2ServiceCount", 0},
      {"activeFargateServiceCount", 0},
      {"activeExternalServiceCount", 0},
      {"drainingEC2ServiceCount", 0},
      {"drainingFargateServiceCount", 0},
      {"drainingExternalServiceCount", 0},
  };
  for (const auto& [name, count] : statistics) {
    writer.BeginObject();
    writer.String("name", name);
    writer.String("value", std::to_string(count));
    writer.EndObject();
  }
}

void WriteMember(JsonView document, std::string_view name, JsonWriter& writer) {
  const JsonView value = document.Find(name);
  if (!value) return;
  writer.Key(name);
  WriteJson(value, writer);
}

void WriteSettings(JsonView document, bool shown, JsonWriter& writer) {
  if (!shown) return writer.EmptyArray("settings");
  if (document.Find("settings")) return WriteMember(document, "settings", writer);
  writer.Raw("settings", kDefaultSettings);
}

absl::Status CheckSettings(JsonView settings) {
  const int count = settings ? settings.size() : 0;
  for (int i = 0; i < count; ++i) {
    const JsonView name = settings.At(i).Find("name");
    const JsonView value = settings.At(i).Find("value");
    if (!name || name.AsString() != kSettingName) {
      return model::InvalidParameter(absl::StrFormat("settings has the name '%s': it should be %s",
                                                     name ? name.AsString() : std::string_view(),
                                                     kSettingName));
    }
    const std::string_view word = value ? value.AsString() : std::string_view();
    if (std::ranges::find(kContainerInsights, word) == std::end(kContainerInsights)) {
      return model::InvalidParameter(
          absl::StrFormat("the setting containerInsights is '%s': it should be one of enabled, "
                          "disabled, enhanced",
                          word));
    }
  }
  // There is only one name.
  if (count > 1) {
    return model::InvalidParameter("settings has containerInsights twice: it should be there once");
  }
  return absl::OkStatus();
}

// The request with this setting, as the text of an object.
std::string WithSettings(JsonView request, std::string_view container_insights) {
  JsonWriter writer;
  writer.BeginObject();
  for (int i = 0; i < request.size(); ++i) {
    const std::string_view name = request.NameAt(i);
    if (name != "settings") WriteMember(request, name, writer);
  }
  writer.BeginArray("settings");
  writer.BeginObject();
  writer.String("name", kSettingName);
  writer.String("value", container_insights);
  writer.EndObject();
  writer.EndArray();
  writer.EndObject();
  return writer.Take();
}

bool HasNamespace(JsonView defaults) {
  const JsonView name = defaults.Find("namespace");
  return name && !name.AsString().empty();
}

}  // namespace

absl::Status CheckClusterMembers(JsonView request) {
  if (absl::Status settings = CheckSettings(request.Find("settings")); !settings.ok()) {
    return settings;
  }
  if (const auto unknown = FindUnknownWord(request)) return model::InvalidParameter(*unknown);
  if (const auto zero = FindZeroCharacter(request)) return model::InvalidParameter(*zero);
  return absl::OkStatus();
}

std::string MakeClusterDocument(JsonView request, std::string_view container_insights) {
  const JsonView settings = request.Find("settings");
  const bool silent = !settings || settings.size() == 0;
  if (silent && container_insights != kContainerInsights[0]) {
    const JsonBody whole = ParseDocument(WithSettings(request, container_insights));
    return MakeClusterDocument(whole.root(), container_insights);
  }
  const bool plain = silent || ToJson(settings) == kDefaultSettings;
  return ToCanonicalJson(request, {"clusterName", "tags", plain ? "settings" : "",
                                   "capacityProviders", "defaultCapacityProviderStrategy"});
}

std::string UpdateClusterDocument(const std::string& document, JsonView request) {
  const JsonBody kept = ParseDocument(document);
  JsonWriter writer;
  writer.BeginObject();
  for (const std::string_view name : kReplaceable) {
    const JsonView given = request.Find(name);
    if (given && name == kServiceConnect && !HasNamespace(given)) continue;
    WriteMember(given ? request : kept.root(), name, writer);
  }
  writer.EndObject();
  const JsonBody next = ParseDocument(writer.Take());
  return MakeClusterDocument(next.root(), kContainerInsights[0]);
}

void WriteCluster(const scheduler::ClusterSnapshot& cluster, const ClusterParts& parts,
                  const model::ArnScope& scope, JsonWriter& writer) {
  const model::Cluster& record = *cluster.record;
  const JsonBody document = ParseDocument(record.document);

  writer.BeginObject();
  writer.String("clusterArn", model::ClusterArn(scope, record.name));
  writer.String("clusterName", record.name.value);
  writer.String("status", model::ToString(record.status));
  writer.Int("registeredContainerInstancesCount", cluster.registered_instances);
  writer.Int("runningTasksCount", cluster.running_tasks);
  writer.Int("pendingTasksCount", cluster.pending_tasks);
  writer.Int("activeServicesCount", 0);  // services come with an issue of their own
  writer.BeginArray("statistics");
  if (parts.statistics) WriteStatistics(cluster, writer);
  writer.EndArray();
  WriteTags(parts.tags ? record.tags : model::Tags{}, writer);
  WriteSettings(document.root(), parts.settings, writer);
  if (parts.attachments) writer.EmptyArray("attachments");
  if (parts.configuration) WriteMember(document.root(), "configuration", writer);
  WriteMember(document.root(), "serviceConnectDefaults", writer);
  writer.EmptyArray("capacityProviders");
  writer.EmptyArray("defaultCapacityProviderStrategy");
  writer.EndObject();
}

std::string WriteClusterAnswer(const scheduler::ClusterSnapshot& cluster,
                               const model::ArnScope& scope) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("cluster");
  WriteCluster(cluster, {.statistics = false}, scope, writer);
  writer.EndObject();
  return writer.Take();
}

}  // namespace berth::api

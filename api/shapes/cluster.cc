#include "api/shapes/cluster.h"

#include <utility>

#include "api/shapes/common.h"
#include "model/check.h"

namespace berth::api {

namespace {

constexpr std::string_view kDefaultSettings =
    R"([{"name":"containerInsights","value":"disabled"}])";

const schema::Shape& DocumentShape() {
  static const schema::Shape& shape = schema::InputOf(*schema::FindOperation("CreateCluster"));
  return shape;
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

}  // namespace

std::string MakeClusterDocument(JsonView request) {
  const JsonView settings = request.Find("settings");
  const bool plain = !settings || settings.size() == 0 || ToJson(settings) == kDefaultSettings;
  return ToCanonicalJson(request, {"clusterName", "tags", plain ? "settings" : "",
                                   "capacityProviders", "defaultCapacityProviderStrategy"});
}

void WriteCluster(const scheduler::ClusterSnapshot& cluster, const ClusterParts& parts,
                  const model::ArnScope& scope, JsonWriter& writer) {
  const model::Cluster& record = *cluster.record;
  // Our own text; a store that gives back anything else is caught when it is loaded.
  const absl::StatusOr<JsonBody> document = JsonBody::Parse(record.document, DocumentShape());
  BERTH_CHECK(document.ok());

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
  WriteSettings(document->root(), parts.settings, writer);
  if (parts.configuration) WriteMember(document->root(), "configuration", writer);
  WriteMember(document->root(), "serviceConnectDefaults", writer);
  writer.EmptyArray("capacityProviders");
  writer.EmptyArray("defaultCapacityProviderStrategy");
  writer.EndObject();
}

}  // namespace berth::api

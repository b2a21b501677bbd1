#include "api/shapes/defrag.h"

#include <string_view>
#include <vector>

namespace berth::api {
namespace {

using placement::FragmentationFigures;

void WriteFigures(const FragmentationFigures& figures, JsonWriter& json) {
  json.Key("fragmentedMiB");
  json.Double(figures.fragmented_mib());
  json.Int("idleMiB", figures.idle_mib);
  json.Key("ratio");
  json.Double(figures.ratio());
}

class PlaceWriter {
 public:
  PlaceWriter(const model::ClusterName& cluster, const model::ArnScope& scope, JsonWriter& json)
      : cluster_(cluster), scope_(scope), json_(json) {}

  // The members of a place.
  void Members(const model::InstanceId& instance, const std::vector<model::GpuId>& gpus) {
    json_.String("containerInstanceArn", model::InstanceArn(scope_, cluster_, instance));
    json_.BeginArray("gpuIds");
    for (const model::GpuId& gpu : gpus) json_.String(gpu.value);
    json_.EndArray();
  }
  void Place(std::string_view name, const model::InstanceId& instance,
             const std::vector<model::GpuId>& gpus) {
    json_.BeginObject(name);
    Members(instance, gpus);
    json_.EndObject();
  }
  void Move(const placement::DefragMove& move, const model::Task& task) {
    json_.BeginObject();
    json_.String("taskArn", model::TaskArn(scope_, cluster_, task.id));
    json_.String("taskDefinitionArn", model::TaskDefinitionArn(scope_, task.definition->id));
    json_.String("group", task.group);
    Place("from", move.from, move.from_gpus);
    Place("to", move.to, move.to_gpus);
    json_.EndObject();
  }
  void Worst(const placement::FragmentedInstance& one) {
    json_.BeginObject();
    json_.String("containerInstanceArn", model::InstanceArn(scope_, cluster_, one.instance));
    WriteFigures(one.figures, json_);
    json_.BeginArray("gpus");
    for (const auto& device : one.devices) {
      json_.BeginObject();
      json_.String("gpuId", device.id.value);
      WriteFigures(device.figures, json_);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

 private:
  const model::ClusterName& cluster_;
  const model::ArnScope& scope_;
  JsonWriter& json_;
};

}  // namespace

void WriteDefragPlan(const scheduler::Defrag::Reply& reply, const model::ClusterName& cluster,
                     const model::ArnScope& scope, JsonWriter& json) {
  const placement::DefragPlan& plan = reply.plan;
  PlaceWriter writer(cluster, scope, json);
  json.String("clusterArn", model::ClusterArn(scope, cluster));
  if (reply.definition != nullptr) {
    json.String("taskDefinitionArn", model::TaskDefinitionArn(scope, reply.definition->id));
    json.String("group", reply.group);
  }
  json.String("outcome", placement::ToString(plan.outcome));
  json.Bool("limited", plan.limited);
  json.BeginArray("moves");
  for (size_t i = 0; i < plan.moves.size(); ++i) writer.Move(plan.moves[i], *reply.moved[i]);
  json.EndArray();
  json.BeginArray("placements");
  for (const placement::Placement& place : plan.places) {
    json.BeginObject();
    writer.Members(place.instance, place.reservation.gpus);
    json.EndObject();
  }
  json.EndArray();
  json.BeginObject("fragmentation");
  json.Int("typicalTasks", reply.typical_tasks);
  json.BeginObject("before");
  WriteFigures(plan.before, json);
  json.EndObject();
  json.BeginObject("after");
  WriteFigures(plan.after, json);
  json.EndObject();
  json.BeginArray("worst");
  for (const placement::FragmentedInstance& one : reply.worst) writer.Worst(one);
  json.EndArray();
  json.EndObject();
}

}  // namespace berth::api

#include "api/shapes/explanation.h"

#include <string>

#include "placement/query.h"

namespace berth::api {
namespace {

using placement::Explanation;
using placement::Remedy;
using placement::Shortfall;

constexpr char kInstanceMember[] = "containerInstanceArn";

// Everything below is of one cluster.
class Writer {
 public:
  Writer(const model::ClusterName& cluster, const model::ArnScope& scope, JsonWriter& json)
      : cluster_(cluster), scope_(scope), json_(json) {}

  void Members(const Explanation& why);
  void Members(const scheduler::PlannedTask& planned);
  void Members(const scheduler::FailedPlacement& failure);

 private:
  void Instance(const model::InstanceId& id) {
    json_.String(kInstanceMember, model::InstanceArn(scope_, cluster_, id));
  }
  void Gpus(const std::vector<model::GpuId>& gpus) {
    if (gpus.empty()) return;
    json_.BeginArray("gpuIds");
    for (const model::GpuId& gpu : gpus) json_.String(gpu.value);
    json_.EndArray();
  }
  void Strings(std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    json_.BeginArray(name);
    for (const std::string& value : values) json_.String(value);
    json_.EndArray();
  }
  // Sizes of which 0 says nothing.
  void Size(std::string_view name, int64_t value) {
    if (value > 0) json_.Int(name, value);
  }
  void Ports(const std::vector<placement::HostPort>& ports);
  void Asked(const placement::Demand& demand);
  void Group(const Explanation& why, const Explanation::Group& group);
  void Members(const Shortfall& shortfall);
  void Members(const Remedy& remedy);
  void Members(const Remedy::Machine& machine);

  const model::ClusterName& cluster_;
  const model::ArnScope& scope_;
  JsonWriter& json_;
};

void Writer::Ports(const std::vector<placement::HostPort>& ports) {
  if (ports.empty()) return;
  json_.BeginArray("hostPorts");
  for (const placement::HostPort& port : ports) {
    json_.BeginObject();
    json_.Int("port", port.port);
    json_.String("protocol", model::ToString(port.protocol));
    json_.EndObject();
  }
  json_.EndArray();
}

void Writer::Asked(const placement::Demand& demand) {
  using Kind = placement::GpuDemand::Kind;
  json_.BeginObject("asked");
  json_.Int("cpu", demand.cpu_units);
  json_.Int("memory", demand.memory_mib);
  std::vector<placement::HostPort> ports;
  for (const int64_t port : demand.tcp_ports) ports.push_back({model::Protocol::kTcp, port});
  for (const int64_t port : demand.udp_ports) ports.push_back({model::Protocol::kUdp, port});
  Ports(ports);
  if (demand.gpu.kind == Kind::kAll) json_.String("gpus", "ALL");
  if (demand.gpu.kind == Kind::kDedicated) json_.Int("gpus", demand.gpu.count);
  if (demand.gpu.kind == Kind::kShared) {
    json_.Int("gpuMemory", demand.gpu.memory_mib);
    json_.Int("mpsClients", demand.gpu.containers);
  }
  Strings("requiresAttributes", demand.required_attributes);
  json_.String("launchType", model::ToString(demand.launch_type));
  json_.EndObject();
}

void Writer::Members(const Shortfall& shortfall) {
  using placement::Dimension;
  json_.String("dimension", ToString(shortfall.dimension));
  json_.String("reason", EcsReason(shortfall.dimension));
  json_.String("verdict", ToString(shortfall.verdict));
  switch (shortfall.dimension) {
    case Dimension::kLaunchType:
    case Dimension::kStatus:
    case Dimension::kAgent:
    case Dimension::kHealth:
      break;
    case Dimension::kAttribute:
      json_.String("attribute", shortfall.attribute);
      json_.OptionalString("gpuId", shortfall.gpu.value);
      break;
    case Dimension::kPorts:
      json_.Int("port", shortfall.asked);
      json_.String("protocol", model::ToString(shortfall.protocol));
      break;
    case Dimension::kMemberOf:
      json_.String("expression", shortfall.query->text());
      break;
    case Dimension::kDistinctInstance:
      json_.Int("tasksOfGroup", shortfall.had);
      break;
    case Dimension::kCpu:
    case Dimension::kMemory:
    case Dimension::kGpuCount:
    case Dimension::kGpuMemory:
    case Dimension::kMpsClients:
      json_.Int("asked", shortfall.asked);
      json_.Int("had", shortfall.had);
      json_.Int("total", shortfall.total);
      json_.OptionalString("gpuId", shortfall.gpu.value);
      break;
  }
}

void Writer::Group(const Explanation& why, const Explanation::Group& group) {
  json_.BeginObject();
  Members(group.shortfall);
  json_.Int("instances", group.instances);
  json_.BeginArray("containerInstanceArns");
  for (const model::InstanceId& id : group.examples) {
    json_.String(model::InstanceArn(scope_, cluster_, id));
  }
  json_.EndArray();
  json_.String("detail",
               why.Detail({.instance = group.examples.front(), .shortfall = group.shortfall}));
  json_.EndObject();
}

void Writer::Members(const Remedy::Machine& machine) {
  json_.Int("cpu", machine.cpu_units);
  json_.Int("memory", machine.memory_mib);
  Size("gpus", machine.gpus);
  Size("gpuMemory", machine.gpu_memory_mib);
  Size("mpsClients", machine.mps_clients);
  Strings("attributes", machine.attributes);
}

void Writer::Members(const Remedy& remedy) {
  using Kind = Remedy::Kind;
  json_.String("kind", ToString(remedy.kind));
  json_.String("detail", Describe(remedy));
  if (!remedy.instance.empty()) Instance(remedy.instance);
  if (!remedy.shrunk.empty()) {
    json_.BeginArray("shrink");
    for (const Remedy::Shrunk& shrunk : remedy.shrunk) {
      json_.BeginObject();
      json_.String("dimension", ToString(shrunk.dimension));
      json_.Int("from", shrunk.from);
      json_.Int("to", shrunk.to);
      json_.EndObject();
    }
    json_.EndArray();
  }
  if (!remedy.tasks.empty()) {
    json_.BeginArray("tasks");
    for (const Remedy::Task& task : remedy.tasks) {
      json_.BeginObject();
      json_.String("taskArn", model::TaskArn(scope_, cluster_, {task.id}));
      if (!task.to.empty()) Instance(task.to);
      Gpus(task.to_gpus);
      json_.EndObject();
    }
    json_.EndArray();
  }
  Ports(remedy.ports);
  if (remedy.kind == Kind::kRelaxConstraint) {
    json_.BeginObject("placementConstraint");
    json_.String("type", remedy.distinct_instance ? "distinctInstance" : "memberOf");
    if (!remedy.distinct_instance) json_.String("expression", remedy.query->text());
    json_.EndObject();
  }
  if (remedy.kind == Kind::kAddGpus) {
    json_.Int("gpus", remedy.gpus);
    Size("gpuMemory", remedy.gpu_memory_mib);
  }
  if (remedy.kind == Kind::kAddInstance) {
    json_.BeginObject("containerInstance");
    Members(remedy.machine);
    json_.EndObject();
  }
}

void Writer::Members(const Explanation& why) {
  json_.String("detail", why.Summary());
  if (why.verdict) json_.String("verdict", ToString(*why.verdict));
  Asked(why.demand);
  json_.Int("instances", why.instances);
  json_.Int("fitting", why.fitting);
  json_.Int("notNow", why.not_now);
  json_.Int("forbidden", why.forbidden);
  json_.Int("never", why.never);
  json_.BeginArray("funnel");
  for (const Explanation::Count& count : why.funnel) {
    json_.BeginObject();
    json_.String("dimension", ToString(count.dimension));
    json_.Int("instances", count.instances);
    json_.EndObject();
  }
  json_.EndArray();
  json_.BeginArray("closest");
  for (const Explanation::Group& group : why.closest) Group(why, group);
  json_.EndArray();
  json_.BeginArray("remedies");
  for (const Remedy& remedy : why.remedies) {
    json_.BeginObject();
    Members(remedy);
    json_.EndObject();
  }
  json_.EndArray();
}

void Writer::Members(const scheduler::PlannedTask& planned) {
  Instance(planned.placement.instance);
  Gpus(planned.placement.reservation.gpus);
  if (!planned.choice) return;
  const placement::Choice& choice = *planned.choice;
  json_.String("criterion", ToString(choice.criterion));
  json_.String("detail", Describe(choice));
  if (!choice.runner_up) return;
  json_.BeginObject("runnerUp");
  Instance(choice.runner_up->instance);
  Gpus(choice.runner_up->reservation.gpus);
  json_.EndObject();
}

void Writer::Members(const scheduler::FailedPlacement& failure) {
  json_.Int("times", failure.times);
  json_.OptionalTime("firstAt", failure.first);
  json_.OptionalTime("lastAt", failure.last);
  json_.String("taskDefinitionArn", model::TaskDefinitionArn(scope_, failure.definition));
  json_.BeginObject("explanation");
  Members(*failure.explanation);
  json_.EndObject();
}

}  // namespace

void WriteExplanation(const Explanation& why, const model::ClusterName& cluster,
                      const model::ArnScope& scope, JsonWriter& json) {
  Writer(cluster, scope, json).Members(why);
}

void WritePlanned(const scheduler::PlannedTask& planned, const model::ClusterName& cluster,
                  const model::ArnScope& scope, JsonWriter& json) {
  Writer(cluster, scope, json).Members(planned);
}

void WriteFailedPlacement(const scheduler::FailedPlacement& failure,
                          const model::ClusterName& cluster, const model::ArnScope& scope,
                          JsonWriter& json) {
  Writer(cluster, scope, json).Members(failure);
}

}  // namespace berth::api

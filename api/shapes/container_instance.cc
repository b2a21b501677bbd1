#include "api/shapes/container_instance.h"

#include <string>
#include <vector>

#include "api/shapes/common.h"

namespace berth::api {

namespace {

using scheduler::InstanceSnapshot;

constexpr std::string_view kDockerVersionPrefix = "DockerVersion: ";

// The members that every entry of registeredResources and remainingResources carries, 0 when unused
// (ecs-api.md 6.2).
void BeginResource(std::string_view name, std::string_view type, int64_t integer,
                   JsonWriter& writer) {
  writer.BeginObject();
  writer.String("name", name);
  writer.String("type", type);
  writer.Key("doubleValue");
  writer.Double(0);
  writer.Int("longValue", 0);
  writer.Int("integerValue", integer);
}

void WriteInteger(std::string_view name, int64_t value, JsonWriter& writer) {
  BeginResource(name, "INTEGER", value, writer);
  writer.EndObject();
}

void WriteSet(std::string_view name, const std::vector<std::string>& values, JsonWriter& writer) {
  BeginResource(name, "STRINGSET", 0, writer);
  writer.BeginArray("stringSetValue");
  for (const std::string& value : values) writer.String(value);
  writer.EndArray();
  writer.EndObject();
}

std::vector<std::string> PortTexts(const std::vector<int64_t>& ports) {
  std::vector<std::string> texts;
  for (const int64_t port : ports) texts.push_back(std::to_string(port));
  return texts;
}

void WriteRegisteredResources(const model::RegisteredResources& resources, JsonWriter& writer) {
  writer.BeginArray("registeredResources");
  WriteInteger("CPU", resources.cpu_units, writer);
  WriteInteger("MEMORY", resources.memory_mib, writer);
  WriteSet("PORTS", PortTexts(resources.reserved_tcp_ports), writer);
  WriteSet("PORTS_UDP", PortTexts(resources.reserved_udp_ports), writer);
  if (!resources.gpus.empty()) {
    std::vector<std::string> ids;
    for (const model::Gpu& gpu : resources.gpus) ids.push_back(gpu.id.value);
    WriteSet("GPU", ids, writer);
  }
  writer.EndArray();
}

// CPU and MEMORY are what is free, PORTS what is taken, GPU the devices that a task could still
// have whole.
void WriteRemainingResources(const placement::InstanceState& state, JsonWriter& writer) {
  writer.BeginArray("remainingResources");
  WriteInteger("CPU", state.remaining_cpu_units, writer);
  WriteInteger("MEMORY", state.remaining_memory_mib, writer);
  WriteSet("PORTS", PortTexts(state.tcp_ports_in_use), writer);
  WriteSet("PORTS_UDP", PortTexts(state.udp_ports_in_use), writer);
  if (!state.gpus.empty()) {
    std::vector<std::string> idle;
    for (const placement::GpuState& gpu : state.gpus) {
      if (gpu.use == model::GpuUse::kIdle) idle.push_back(gpu.id.value);
    }
    WriteSet("GPU", idle, writer);
  }
  writer.EndArray();
}

void WriteGpuDevices(const placement::InstanceState& state, JsonWriter& writer) {
  writer.BeginArray("gpuDevices");
  for (const placement::GpuState& gpu : state.gpus) {
    writer.BeginObject();
    writer.String("gpuId", gpu.id.value);
    writer.String("sharingMode", model::ToString(gpu.use));
    writer.Int("totalMemoryInMiB", gpu.total_memory_mib);
    writer.Int("remainingMemoryInMiB", gpu.remaining_memory_mib);
    writer.Int("containerCount", gpu.containers);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteVersionInfo(const model::VersionInfo& versions, JsonWriter& writer) {
  writer.BeginObject("versionInfo");
  writer.OptionalString("agentVersion", versions.agent_version);
  writer.OptionalString("agentHash", versions.agent_hash);
  std::string docker = versions.docker_version;
  if (!docker.empty() && !docker.starts_with(kDockerVersionPrefix)) {
    docker.insert(0, kDockerVersionPrefix);
  }
  writer.OptionalString("dockerVersion", docker);
  writer.EndObject();
}

void WriteAttributes(const std::vector<model::Attribute>& attributes, JsonWriter& writer) {
  writer.BeginArray("attributes");
  for (const model::Attribute& attribute : attributes) {
    writer.BeginObject();
    writer.String("name", attribute.name);
    if (attribute.value) writer.String("value", *attribute.value);
    writer.EndObject();
  }
  writer.EndArray();
}

// Whether the agent's channel is up: what the server knows by itself.
struct Connectivity {
  std::string_view status = {};
  std::string_view reason = {};
  absl::Time since = absl::InfinitePast();  // InfinitePast: since before the server started
};

Connectivity ConnectivityOf(const InstanceSnapshot& instance) {
  if (instance.record->status == model::InstanceStatus::kInactive) {
    return {"INSUFFICIENT_DATA", "the container instance is INACTIVE",
            instance.record->deregistered_at};
  }
  if (instance.agent_connected) return {"OK", "", instance.agent_changed_at};
  if (instance.agent_lost) {
    return {"IMPAIRED", "the agent is not connected", instance.agent_changed_at};
  }
  return {"INITIALIZING", "the agent has not connected yet", instance.record->registered_at};
}

void WriteHealth(const InstanceSnapshot& instance, absl::Time now, JsonWriter& writer) {
  const Connectivity connectivity = ConnectivityOf(instance);
  writer.BeginObject("healthStatus");
  writer.String("overallStatus", connectivity.status);
  writer.BeginArray("details");
  writer.BeginObject();
  writer.String("type", "AGENT_CONNECTIVITY");
  writer.String("status", connectivity.status);
  writer.OptionalString("statusReason", connectivity.reason);
  writer.OptionalTime("lastUpdated", now);
  writer.OptionalTime("lastStatusChange", connectivity.since);
  writer.EndObject();
  writer.EndArray();
  writer.EndObject();
}

}  // namespace

void WriteContainerInstance(const InstanceSnapshot& instance, const InstanceParts& parts,
                            const model::ArnScope& scope, absl::Time now, JsonWriter& writer) {
  const model::ContainerInstance& record = *instance.record;
  writer.BeginObject();
  writer.String("containerInstanceArn", model::InstanceArn(scope, record.cluster, record.id));
  writer.OptionalString("ec2InstanceId", record.ec2_instance_id);
  writer.Int("version", record.version);
  WriteVersionInfo(record.version_info, writer);
  WriteRemainingResources(instance.state, writer);
  WriteRegisteredResources(record.resources, writer);
  writer.String("status", model::ToString(record.status));
  writer.OptionalString("statusReason", record.status_reason);
  writer.Bool("agentConnected", instance.agent_connected);
  writer.Int("runningTasksCount", instance.running_tasks);
  writer.Int("pendingTasksCount", instance.pending_tasks);
  WriteAttributes(record.attributes, writer);
  writer.OptionalTime("registeredAt", record.registered_at);
  writer.EmptyArray("attachments");
  WriteTags(parts.tags ? record.tags : model::Tags{}, writer);
  if (parts.health) WriteHealth(instance, now, writer);
  // Only for instances that offer sharing: absent, not empty, on others (gpu-sharing.md P11).
  if (model::OffersGpuSharing(record)) WriteGpuDevices(instance.state, writer);
  writer.EndObject();
}

}  // namespace berth::api

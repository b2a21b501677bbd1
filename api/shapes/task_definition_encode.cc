// The kept document of a task definition, and the answers made from it.
#include <algorithm>

#include "api/shapes/task_definition.h"

namespace berth::api {

namespace {

using model::NetworkMode;

// What ECS fills in of a health check that has a command.
constexpr int64_t kHealthIntervalSeconds = 30;
constexpr int64_t kHealthTimeoutSeconds = 5;
constexpr int64_t kHealthRetries = 3;

constexpr std::string_view kContainerLists[] = {"portMappings", "environment", "mountPoints",
                                                "volumesFrom", "systemControls"};

// Copies the members as sent; `write` may write one in its own way and then says true.
template <class Write>
void CopyMembers(JsonView structure, JsonWriter& writer, Write write) {
  for (int i = 0; i < structure.size(); ++i) {
    const std::string_view name = structure.NameAt(i);
    if (write(name, structure.At(i))) continue;
    writer.Key(name);
    WriteJson(structure.At(i), writer);
  }
}

void CopyMembers(JsonView structure, JsonWriter& writer) {
  CopyMembers(structure, writer, [](std::string_view, JsonView) { return false; });
}

template <class Write>
void WriteList(std::string_view name, JsonView list, JsonWriter& writer, Write write) {
  writer.BeginArray(name);
  for (int i = 0; i < list.size(); ++i) write(list.At(i));
  writer.EndArray();
}

void WritePortMapping(JsonView mapping, NetworkMode mode, JsonWriter& writer) {
  writer.BeginObject();
  CopyMembers(mapping, writer);
  const JsonView container_port = mapping.Find("containerPort");
  if (container_port && !mapping.Find("hostPort")) {
    writer.Int("hostPort", mode == NetworkMode::kBridge ? 0 : container_port.AsInteger());
  }
  if (!mapping.Find("protocol")) writer.String("protocol", "tcp");
  writer.EndObject();
}

void WriteHealthCheck(JsonView check, JsonWriter& writer) {
  writer.BeginObject("healthCheck");
  CopyMembers(check, writer);
  const JsonView command = check.Find("command");
  if (command && command.size() > 0) {
    if (!check.Find("interval")) writer.Int("interval", kHealthIntervalSeconds);
    if (!check.Find("timeout")) writer.Int("timeout", kHealthTimeoutSeconds);
    if (!check.Find("retries")) writer.Int("retries", kHealthRetries);
  }
  writer.EndObject();
}

void WriteContainer(JsonView container, NetworkMode mode, JsonWriter& writer) {
  writer.BeginObject();
  CopyMembers(container, writer, [&](std::string_view name, JsonView value) {
    if (name == "portMappings") {
      WriteList(name, value, writer,
                [&](JsonView mapping) { WritePortMapping(mapping, mode, writer); });
      return true;
    }
    if (name == "healthCheck") return WriteHealthCheck(value, writer), true;
    return false;
  });
  if (!container.Find("cpu")) writer.Int("cpu", 0);
  if (!container.Find("essential")) writer.Bool("essential", true);
  for (const std::string_view list : kContainerLists) {
    if (!container.Find(list)) writer.EmptyArray(list);
  }
  writer.EndObject();
}

void WriteVolume(JsonView volume, JsonWriter& writer) {
  writer.BeginObject();
  CopyMembers(volume, writer, [&](std::string_view name, JsonView value) {
    const bool docker = name == "dockerVolumeConfiguration";
    if (!docker && name != "efsVolumeConfiguration") return false;
    writer.BeginObject(name);
    CopyMembers(value, writer);
    if (docker && !value.Find("scope")) writer.String("scope", "task");
    if (docker && !value.Find("driver")) writer.String("driver", "local");
    if (!docker && !value.Find("rootDirectory")) writer.String("rootDirectory", "/");
    writer.EndObject();
    return true;
  });
  writer.EndObject();
}

}  // namespace

std::string MakeDefinitionDocument(JsonView definition, const model::TaskSpec& spec) {
  const NetworkMode mode = model::EffectiveNetworkMode(spec);
  JsonWriter writer;
  writer.BeginObject();
  CopyMembers(definition, writer, [&](std::string_view name, JsonView value) {
    if (name == "tags") return true;
    if (name == "containerDefinitions") {
      WriteList(name, value, writer,
                [&](JsonView container) { WriteContainer(container, mode, writer); });
      return true;
    }
    if (name == "volumes") {
      WriteList(name, value, writer, [&](JsonView volume) { WriteVolume(volume, writer); });
      return true;
    }
    // "1 vCPU" and "2GB" are shown as plain numbers.
    if (name == "cpu" && spec.cpu_units) {
      return writer.String(name, std::to_string(*spec.cpu_units)), true;
    }
    if (name == "memory" && spec.memory_mib) {
      return writer.String(name, std::to_string(*spec.memory_mib)), true;
    }
    return false;
  });
  if (!definition.Find("networkMode")) writer.String("networkMode", model::ToString(mode));
  if (!definition.Find("volumes")) writer.EmptyArray("volumes");
  if (!definition.Find("placementConstraints")) writer.EmptyArray("placementConstraints");
  writer.EndObject();
  return writer.Take();
}

void WriteTaskDefinition(const model::TaskDefinition& definition, const model::ArnScope& scope,
                         JsonWriter& writer) {
  writer.BeginObject();
  writer.String("taskDefinitionArn", model::TaskDefinitionArn(scope, definition.id));
  writer.RawMembers(*definition.document);
  writer.Int("revision", definition.id.revision);
  writer.String("status", model::ToString(definition.status));
  if (!definition.requires_attributes.empty()) {
    writer.BeginArray("requiresAttributes");
    for (const std::string& name : definition.requires_attributes) {
      writer.BeginObject();
      writer.String("name", name);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.BeginArray("compatibilities");
  for (const model::LaunchType type : definition.compatibilities) {
    writer.String(model::ToString(type));
  }
  writer.EndArray();
  writer.OptionalTime("registeredAt", definition.registered_at);
  writer.OptionalTime("deregisteredAt", definition.deregistered_at);
  writer.OptionalTime("deleteRequestedAt", definition.delete_requested_at);
  writer.OptionalString("registeredBy", definition.registered_by);
  writer.EndObject();
}

}  // namespace berth::api

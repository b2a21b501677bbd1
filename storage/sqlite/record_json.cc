#include "storage/sqlite/record_json.h"

#include <optional>
#include <utility>

#include "storage/sqlite/json_reader.h"
#include "storage/sqlite/json_writer.h"

namespace berth::storage::sqlite {
namespace {

using model::Attribute;
using model::ContainerInstance;
using model::ContainerStatus;
using model::Gpu;
using model::GpuId;
using model::HealthStatus;
using model::NetworkBinding;
using model::Protocol;
using model::Tag;
using model::Tags;
using model::Task;
using model::TaskContainer;
using model::TaskId;

std::optional<Protocol> ParseProtocol(std::string_view text) {
  for (const Protocol protocol : {Protocol::kTcp, Protocol::kUdp}) {
    if (ToString(protocol) == text) return protocol;
  }
  return std::nullopt;
}

void WriteTag(JsonWriter& json, const Tag& tag) {
  json.StartObject();
  json.Text("key", tag.key);
  json.Text("value", tag.value);
  json.EndObject();
}

Tag ReadTag(const JsonReader& json) {
  return {.key = json.Text("key"), .value = json.Text("value")};
}

void WriteTags(JsonWriter& json, const Tags& tags) {
  json.Array("tags", tags, [&](const Tag& tag) { WriteTag(json, tag); });
}

Tags ReadTags(const JsonReader& json, const char* name) {
  Tags tags;
  json.ForEach(name, [&](const JsonReader& tag) { tags.push_back(ReadTag(tag)); });
  return tags;
}

void WriteBinding(JsonWriter& json, const NetworkBinding& binding) {
  json.StartObject();
  json.Text("bind_ip", binding.bind_ip);
  json.Int("container_port", binding.container_port, 0);
  json.Int("host_port", binding.host_port, 0);
  json.Word("protocol", binding.protocol, Protocol::kTcp);
  json.EndObject();
}

NetworkBinding ReadBinding(const JsonReader& json) {
  return {.bind_ip = json.Text("bind_ip"),
          .container_port = json.Int("container_port", 0),
          .host_port = json.Int("host_port", 0),
          .protocol = json.Word("protocol", ParseProtocol, Protocol::kTcp)};
}

void WriteContainer(JsonWriter& json, const TaskContainer& container) {
  json.StartObject();
  json.Text("name", container.name);
  json.Text("uuid", container.uuid);
  json.Word("last_status", container.last_status, ContainerStatus::kPending);
  json.Word("health_status", container.health_status, HealthStatus::kUnknown);
  json.OptionalInt("exit_code", container.exit_code);
  json.Text("reason", container.reason);
  json.Text("runtime_id", container.runtime_id);
  json.Text("image_digest", container.image_digest);
  json.Array("network_bindings", container.network_bindings,
             [&](const NetworkBinding& binding) { WriteBinding(json, binding); });
  json.Array("gpu_ids", container.gpu_ids, [&](const GpuId& gpu) { json.Element(gpu.value); });
  json.EndObject();
}

TaskContainer ReadContainer(const JsonReader& json) {
  TaskContainer container = {
      .name = json.Text("name"),
      .uuid = json.Text("uuid"),
      .last_status =
          json.Word("last_status", model::ParseContainerStatus, ContainerStatus::kPending),
      .health_status = json.Word("health_status", model::ParseHealthStatus, HealthStatus::kUnknown),
      .exit_code = json.OptionalInt("exit_code"),
      .reason = json.Text("reason"),
      .runtime_id = json.Text("runtime_id"),
      .image_digest = json.Text("image_digest"),
  };
  json.ForEach("network_bindings", [&](const JsonReader& binding) {
    container.network_bindings.push_back(ReadBinding(binding));
  });
  for (std::string& gpu : json.Texts("gpu_ids")) {
    container.gpu_ids.push_back({.value = std::move(gpu)});
  }
  return container;
}

void WriteResources(JsonWriter& json, const model::RegisteredResources& resources) {
  const auto write_port = [&](int64_t port) { json.Element(port); };
  json.Array("reserved_tcp_ports", resources.reserved_tcp_ports, write_port);
  json.Array("reserved_udp_ports", resources.reserved_udp_ports, write_port);
  json.Array("gpus", resources.gpus, [&](const Gpu& gpu) {
    json.StartObject();
    json.Text("id", gpu.id.value);
    json.Int("memory_mib", gpu.memory_mib, 0);
    json.EndObject();
  });
  // Without a default here: that of the model may change, and this instance's figure must not.
  json.OptionalInt("mps_clients_max", resources.mps_clients_max);
}

// cpu_units and memory_mib are columns, and stay as they are.
void ReadResources(const JsonReader& json, model::RegisteredResources& resources) {
  resources.reserved_tcp_ports = json.Ints("reserved_tcp_ports");
  resources.reserved_udp_ports = json.Ints("reserved_udp_ports");
  json.ForEach("gpus", [&](const JsonReader& gpu) {
    resources.gpus.push_back(
        {.id = {.value = gpu.Text("id")}, .memory_mib = gpu.Int("memory_mib", 0)});
  });
  resources.mps_clients_max = json.Int("mps_clients_max", model::kMpsClientsMaxDefault);
}

}  // namespace

std::string TaskDetailsJson(const Task& task) {
  JsonWriter json;
  json.StartObject();
  json.Bool("enable_execute_command", task.enable_execute_command);
  json.Text("client_token", task.client_token);
  json.Text("reference_id", task.reference_id);
  WriteTags(json, task.tags);
  json.Text("availability_zone", task.availability_zone);
  json.Text("cpu_architecture", task.cpu_architecture);
  json.Bool("connectivity", task.connectivity);
  json.Array("containers", task.containers,
             [&](const TaskContainer& container) { WriteContainer(json, container); });
  json.EndObject();
  return json.Take();
}

absl::StatusOr<Task> WithDetails(Task task, std::string_view json_text) {
  const absl::Status read = ReadJsonObject("details", json_text, [&](const JsonReader& json) {
    task.enable_execute_command = json.Bool("enable_execute_command");
    task.client_token = json.Text("client_token");
    task.reference_id = json.Text("reference_id");
    task.tags = ReadTags(json, "tags");
    task.availability_zone = json.Text("availability_zone");
    task.cpu_architecture = json.Text("cpu_architecture");
    task.connectivity = json.Bool("connectivity");
    json.ForEach("containers", [&](const JsonReader& container) {
      task.containers.push_back(ReadContainer(container));
    });
  });
  if (!read.ok()) return read;
  return task;
}

std::string InstanceDetailsJson(const ContainerInstance& instance) {
  JsonWriter json;
  json.StartObject();
  WriteResources(json, instance.resources);
  json.Array("attributes", instance.attributes, [&](const Attribute& attribute) {
    json.StartObject();
    json.Text("name", attribute.name);
    json.OptionalText("value", attribute.value);
    json.EndObject();
  });
  json.StartObject("version_info");
  json.Text("agent_version", instance.version_info.agent_version);
  json.Text("agent_hash", instance.version_info.agent_hash);
  json.Text("docker_version", instance.version_info.docker_version);
  json.EndObject();
  WriteTags(json, instance.tags);
  json.Text("registration_token", instance.registration_token);
  json.Text("registered_by", instance.registered_by);
  json.EndObject();
  return json.Take();
}

absl::StatusOr<ContainerInstance> WithDetails(ContainerInstance instance,
                                              std::string_view json_text) {
  const absl::Status read = ReadJsonObject("details", json_text, [&](const JsonReader& json) {
    ReadResources(json, instance.resources);
    json.ForEach("attributes", [&](const JsonReader& attribute) {
      instance.attributes.push_back(
          {.name = attribute.Text("name"), .value = attribute.OptionalText("value")});
    });
    const JsonReader versions = json.Object("version_info");
    instance.version_info = {.agent_version = versions.Text("agent_version"),
                             .agent_hash = versions.Text("agent_hash"),
                             .docker_version = versions.Text("docker_version")};
    instance.tags = ReadTags(json, "tags");
    instance.registration_token = json.Text("registration_token");
    instance.registered_by = json.Text("registered_by");
  });
  if (!read.ok()) return read;
  return instance;
}

std::string TagsJson(const Tags& tags) {
  JsonWriter json;
  json.Array(tags, [&](const Tag& tag) { WriteTag(json, tag); });
  return json.Take();
}

absl::StatusOr<Tags> ParseTags(std::string_view json) {
  absl::Status status;
  const rapidjson::Document document = ParseColumn("tags", json, status);
  if (!status.ok()) return status;
  if (!document.IsArray()) return absl::DataLossError("tags is not an array");
  Tags tags;
  for (const rapidjson::Value& value : document.GetArray()) {
    tags.push_back(ReadTag(JsonReader(value, "tags[]", status)));
  }
  if (!status.ok()) return status;
  return tags;
}

std::string TaskIdsJson(const std::vector<TaskId>& tasks) {
  JsonWriter json;
  json.Array(tasks, [&](const TaskId& task) { json.Element(task.value); });
  return json.Take();
}

absl::StatusOr<std::vector<TaskId>> ParseTaskIds(std::string_view json) {
  absl::Status status;
  const rapidjson::Document document = ParseColumn("tasks", json, status);
  if (!status.ok()) return status;
  if (!document.IsArray()) return absl::DataLossError("tasks is not an array");
  std::vector<TaskId> tasks;
  for (const rapidjson::Value& value : document.GetArray()) {
    if (!value.IsString()) {
      return absl::DataLossError("tasks has an element that is not a string");
    }
    tasks.push_back({.value = std::string(value.GetString(), value.GetStringLength())});
  }
  return tasks;
}

}  // namespace berth::storage::sqlite

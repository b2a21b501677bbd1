#include "api/payload.h"

#include <map>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

#include "absl/strings/str_format.h"
#include "api/docker_config.h"
#include "api/json_find.h"
#include "api/json_writer.h"

namespace berth::api {
namespace {

using model::ContainerDefinition;
using model::NetworkMode;
using rapidjson::Value;

constexpr double kCpuUnitsPerVcpu = 1024.0;

// The object with that name in a list of the definition's document.
const Value* FindNamed(const Value* list, std::string_view name) {
  if (list == nullptr) return nullptr;
  for (const Value& entry : list->GetArray()) {
    if (FindText(&entry, "name") == name) return &entry;
  }
  return nullptr;
}

void WriteStrings(JsonWriter& json, std::string_view name, const std::vector<std::string>& list) {
  if (list.empty()) return;
  json.BeginArray(name);
  for (const std::string& text : list) json.String(text);
  json.EndArray();
}

void WriteEnvironment(JsonWriter& json, const ContainerDefinition& container) {
  if (container.environment.empty()) return;
  std::map<std::string_view, std::string_view> variables;  // the last of a name wins
  for (const auto& variable : container.environment) variables[variable.name] = variable.value;
  json.BeginObject("environment");
  for (const auto& [name, value] : variables) json.String(name, value);
  json.EndObject();
}

void WritePorts(JsonWriter& json, const ContainerDefinition& container, NetworkMode network_mode) {
  if (container.port_mappings.empty()) return;
  const bool same_port = network_mode == NetworkMode::kHost || network_mode == NetworkMode::kAwsvpc;
  json.BeginArray("portMappings");
  for (const model::PortMapping& mapping : container.port_mappings) {
    json.BeginObject();
    if (!mapping.container_port_range.empty()) {
      json.String("containerPortRange", mapping.container_port_range);
    } else {
      const int64_t container_port = mapping.container_port.value_or(0);
      json.Int("containerPort", container_port);
      json.Int("hostPort", same_port ? container_port : mapping.host_port.value_or(0));
    }
    json.String("protocol", model::ToString(mapping.protocol));
    json.EndObject();
  }
  json.EndArray();
}

void WriteMounts(JsonWriter& json, const ContainerDefinition& container) {
  if (!container.mount_points.empty()) {
    json.BeginArray("mountPoints");
    for (const model::MountPoint& mount : container.mount_points) {
      json.BeginObject();
      json.String("sourceVolume", mount.source_volume);
      json.String("containerPath", mount.container_path);
      json.Bool("readOnly", mount.read_only);
      json.EndObject();
    }
    json.EndArray();
  }
  if (!container.volumes_from.empty()) {
    json.BeginArray("volumesFrom");
    for (const model::VolumeFrom& volumes : container.volumes_from) {
      json.BeginObject();
      json.String("sourceContainer", volumes.source_container);
      json.Bool("readOnly", volumes.read_only);
      json.EndObject();
    }
    json.EndArray();
  }
}

void WriteDependencies(JsonWriter& json, const ContainerDefinition& container) {
  if (container.depends_on.empty()) return;
  json.BeginArray("dependsOn");
  for (const model::ContainerDependency& dependency : container.depends_on) {
    json.BeginObject();
    json.String("containerName", dependency.container_name);
    json.String("condition", dependency.condition);
    json.EndObject();
  }
  json.EndArray();
}

void WriteRestartPolicy(JsonWriter& json, const model::RestartPolicy& policy) {
  json.BeginObject("restartPolicy");
  json.Bool("enabled", policy.enabled);
  if (!policy.ignored_exit_codes.empty()) {
    json.BeginArray("ignoredExitCodes");
    for (const int64_t code : policy.ignored_exit_codes) json.Int(code);
    json.EndArray();
  }
  json.OptionalInt("restartAttemptPeriod", policy.attempt_period_seconds);
  json.EndObject();
}

void WriteSecret(JsonWriter& json, const model::Secret& secret, const char* target) {
  const std::optional<model::Arn> arn = model::ParseArn(secret.value_from);
  const bool in_manager = arn && arn->service == "secretsmanager";
  json.BeginObject();
  json.String("name", secret.name);
  json.String("valueFrom", secret.value_from);
  json.String("provider", in_manager ? "asm" : "ssm");
  if (arn) json.OptionalString("region", arn->region);
  json.String("type", "ENVIRONMENT_VARIABLE");
  json.String("target", target);
  json.EndObject();
}

void WriteSecrets(JsonWriter& json, const ContainerDefinition& container) {
  const auto& log = container.log_configuration;
  if (container.secrets.empty() && (!log || log->secret_options.empty())) return;
  json.BeginArray("secrets");
  for (const model::Secret& secret : container.secrets) WriteSecret(json, secret, "CONTAINER");
  if (log) {
    for (const model::Secret& secret : log->secret_options) {
      WriteSecret(json, secret, "LOG_DRIVER");
    }
  }
  json.EndArray();
}

// The strategy goes exactly as it was asked for: an absent percentage stays absent.
void WriteResourceRequirements(JsonWriter& json, const ContainerDefinition& container) {
  if (container.resource_requirements.empty()) return;
  json.BeginArray("resourceRequirements");
  for (const model::ResourceRequirement& requirement : container.resource_requirements) {
    json.BeginObject();
    json.String("type", requirement.type);
    if (requirement.value) json.String("value", *requirement.value);
    if (requirement.sharing_strategy) {
      json.BeginObject("sharingStrategy");
      json.BeginObject("nvidiaMps");
      json.OptionalInt("memory", requirement.sharing_strategy->memory_mib);
      json.OptionalInt("maxComputePercent", requirement.sharing_strategy->max_compute_percent);
      json.EndObject();
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteDockerConfig(JsonWriter& json, const ContainerDefinition& container,
                       NetworkMode network_mode, const Value* registered) {
  const std::string config = EncodeDockerConfig(container, registered);
  const std::string host_config = EncodeDockerHostConfig(container, network_mode, registered);
  if (config.empty() && host_config.empty()) return;
  json.BeginObject("dockerConfig");
  json.OptionalString("config", config);
  json.OptionalString("hostConfig", host_config);
  json.EndObject();
}

void WriteContainer(JsonWriter& json, const model::Task& task, const model::ArnScope& scope,
                    size_t index, const Value* registered) {
  const ContainerDefinition& container = task.spec->containers[index];
  const NetworkMode network_mode = model::EffectiveNetworkMode(*task.spec);
  json.BeginObject();
  json.String("name", container.name);
  if (index < task.containers.size()) {
    json.String("containerArn",
                model::ContainerArn(scope, task.cluster, task.id, task.containers[index].uuid));
  }
  json.String("image", container.image);
  json.Int("cpu", container.cpu_units);
  json.OptionalInt("memory", container.memory_mib);
  json.Bool("essential", container.essential);
  WriteStrings(json, "command", container.command);
  WriteStrings(json, "entryPoint", container.entry_point);
  WriteEnvironment(json, container);
  WriteSecrets(json, container);
  WritePorts(json, container, network_mode);
  WriteMounts(json, container);
  WriteStrings(json, "links", container.links);
  WriteDependencies(json, container);
  json.OptionalInt("startTimeout", container.start_timeout_seconds);
  json.OptionalInt("stopTimeout", container.stop_timeout_seconds);
  if (container.health_check) json.String("healthCheckType", "docker");
  if (container.restart_policy) WriteRestartPolicy(json, *container.restart_policy);
  WriteResourceRequirements(json, container);
  WriteDockerConfig(json, container, network_mode, registered);
  json.EndObject();
}

void WriteVolumes(JsonWriter& json, const model::TaskSpec& spec, const Value* registered) {
  if (spec.volumes.empty()) return;
  json.BeginArray("volumes");
  for (const model::Volume& volume : spec.volumes) {
    json.BeginObject();
    json.String("name", volume.name);
    if (volume.has_docker) {
      const Value* docker =
          FindObject(FindNamed(registered, volume.name), "dockerVolumeConfiguration");
      json.String("type", "docker");
      json.BeginObject("dockerVolumeConfiguration");
      json.String("scope", FindText(docker, "scope").value_or("task"));
      json.Bool("autoprovision", IsTrue(docker, "autoprovision"));
      json.OptionalString("driver", volume.docker_driver);
      for (const char* name : {"driverOpts", "labels"}) {
        const Value* map = FindObject(docker, name);
        if (map == nullptr) continue;
        json.BeginObject(name);
        for (const auto& entry : map->GetObject()) {
          json.String(TextOf(entry.name), TextOf(entry.value));
        }
        json.EndObject();
      }
      json.EndObject();
    } else {
      json.BeginObject("host");
      json.OptionalString("sourcePath", volume.host_source_path.value_or(""));
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndArray();
}

// One association per device, naming every container that is on it.
void WriteAssociations(JsonWriter& json, const model::Task& task) {
  std::vector<std::pair<model::GpuId, std::vector<std::string>>> devices;
  for (const model::TaskContainer& container : task.containers) {
    for (const model::GpuId& gpu : container.gpu_ids) {
      auto device = devices.begin();
      while (device != devices.end() && device->first != gpu) ++device;
      if (device == devices.end()) device = devices.insert(device, {gpu, {}});
      device->second.push_back(container.name);
    }
  }
  if (devices.empty()) return;
  json.BeginArray("associations");
  for (const auto& [gpu, containers] : devices) {
    json.BeginObject();
    json.String("type", "gpu");
    json.String("name", gpu.value);
    WriteStrings(json, "containers", containers);
    json.EndObject();
  }
  json.EndArray();
}

void FindUnsupportedOfContainer(const ContainerDefinition& container,
                                std::vector<std::string>& unsupported) {
  const auto add = [&](bool present, const char* member) {
    if (present) {
      unsupported.push_back(absl::StrFormat("containers[%s].%s", container.name, member));
    }
  };
  add(!container.environment_files.empty(), "environmentFiles");
  add(!container.firelens_type.empty(), "firelensConfiguration");
  add(container.has_repository_credentials, "repositoryCredentials");
  if (container.log_configuration) {
    add(container.log_configuration->driver == "awsfirelens", "logConfiguration.logDriver");
  }
  for (const model::ResourceRequirement& requirement : container.resource_requirements) {
    add(requirement.type != "GPU", "resourceRequirements");
  }
}

std::vector<std::string> FindUnsupported(const model::Task& task, const Value* registered) {
  const model::TaskSpec& spec = *task.spec;
  std::vector<std::string> unsupported;
  for (const ContainerDefinition& container : spec.containers) {
    FindUnsupportedOfContainer(container, unsupported);
  }
  if (const Value* containers = FindList(registered, "containerDefinitions")) {
    for (const Value& container : containers->GetArray()) {
      if (FindList(&container, "credentialSpecs") == nullptr) continue;
      unsupported.push_back(absl::StrFormat("containers[%s].credentialSpecs",
                                            FindText(&container, "name").value_or("")));
    }
  }
  for (const model::Volume& volume : spec.volumes) {
    const auto add = [&](bool present, const char* member) {
      if (present) unsupported.push_back(absl::StrFormat("volumes[%s].%s", volume.name, member));
    };
    add(volume.has_efs, "efsVolumeConfiguration");
    add(volume.has_fsx, "fsxWindowsFileServerVolumeConfiguration");
    add(volume.has_s3files, "s3filesVolumeConfiguration");
    add(volume.configured_at_launch, "configuredAtLaunch");
  }
  if (spec.has_proxy_configuration) unsupported.emplace_back("proxyConfiguration");
  if (spec.enable_fault_injection) unsupported.emplace_back("enableFaultInjection");
  if (FindList(registered, "inferenceAccelerators")) {
    unsupported.emplace_back("inferenceAccelerators");
  }
  if (spec.operating_system_family.rfind("WINDOWS", 0) == 0) {
    unsupported.emplace_back("runtimePlatform.operatingSystemFamily");
  }
  if (task.overrides != nullptr) {
    rapidjson::Document overrides;
    overrides.Parse<rapidjson::kParseIterativeFlag>(task.overrides->document.c_str());
    if (const Value* containers = FindList(&overrides, "containerOverrides")) {
      for (const Value& container : containers->GetArray()) {
        if (FindList(&container, "environmentFiles") == nullptr) continue;
        unsupported.push_back(absl::StrFormat("overrides.containerOverrides[%s].environmentFiles",
                                              FindText(&container, "name").value_or("")));
      }
    }
  }
  return unsupported;
}

}  // namespace

std::string EncodeTaskPayload(const model::Task& task, const model::ArnScope& scope) {
  const model::TaskSpec& spec = *task.spec;
  rapidjson::Document registered;
  if (task.definition->document != nullptr) {
    registered.Parse<rapidjson::kParseIterativeFlag>(task.definition->document->c_str());
  }
  JsonWriter json;
  json.BeginObject();
  json.String("arn", model::TaskArn(scope, task.cluster, task.id));
  json.String("family", task.definition->id.family);
  json.String("version", std::to_string(task.definition->id.revision));
  json.String("desiredStatus", model::ToString(model::DesiredStatus::kRunning));
  if (spec.cpu_units) {
    json.Key("cpu");
    json.Double(static_cast<double>(*spec.cpu_units) / kCpuUnitsPerVcpu);
  }
  json.OptionalInt("memory", spec.memory_mib);
  json.String("networkMode", model::ToString(model::EffectiveNetworkMode(spec)));
  json.OptionalString("pidMode", spec.pid_mode);
  json.OptionalString("ipcMode", spec.ipc_mode);
  json.String("launchType", model::ToString(task.launch_type));
  json.OptionalString("group", task.group);
  json.BeginArray("containers");
  const Value* registered_containers = FindList(&registered, "containerDefinitions");
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    WriteContainer(json, task, scope, i, FindNamed(registered_containers, spec.containers[i].name));
  }
  json.EndArray();
  WriteVolumes(json, spec, FindList(&registered, "volumes"));
  WriteAssociations(json, task);
  if (const auto unsupported = FindUnsupported(task, &registered); !unsupported.empty()) {
    WriteStrings(json, "berthUnsupported", unsupported);
  }
  json.EndObject();
  return json.Take();
}

}  // namespace berth::api

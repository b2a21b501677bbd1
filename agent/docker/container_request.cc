#include "agent/docker/container_request.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/docker/labels.h"
#include "agent/docker/volumes.h"
#include "agent/json.h"
#include "model/reserved_variables.h"

namespace berth::agent {

namespace {

using json::Document;
using json::Value;
using Allocator = Document::AllocatorType;

constexpr int64_t kBytesPerMib = 1024 * 1024;
constexpr char kCdiKind[] = "nvidia.com/gpu=";
constexpr int64_t kCpuSharesMin = 2;
constexpr int64_t kPauseMemoryBytes = 8 * kBytesPerMib;  // Docker's least is 6

Value Text(std::string_view text, Allocator& allocator) {
  return Value(text.data(), static_cast<rapidjson::SizeType>(text.size()), allocator);
}

Value Texts(const std::vector<std::string>& texts, Allocator& allocator) {
  Value list(rapidjson::kArrayType);
  for (const std::string& text : texts) list.PushBack(Text(text, allocator), allocator);
  return list;
}

void Set(Value& object, std::string_view name, Value value, Allocator& allocator) {
  const Value key = Text(name, allocator);
  const auto found = object.FindMember(key);
  if (found != object.MemberEnd()) {
    found->value = std::move(value);
  } else {
    object.AddMember(Text(name, allocator), std::move(value), allocator);
  }
}

// Objects merge, arrays and scalars replace; null is a value like any other.
void Overlay(Value& base, const Value& over, Allocator& allocator) {
  for (const auto& member : over.GetObject()) {
    const auto found = base.FindMember(member.name);
    if (found != base.MemberEnd() && found->value.IsObject() && member.value.IsObject()) {
      Overlay(found->value, member.value, allocator);
    } else {
      Set(base, std::string_view(member.name.GetString(), member.name.GetStringLength()),
          Value(member.value, allocator), allocator);
    }
  }
}

void OverlayText(Value& base, const std::string& text, Allocator& allocator) {
  Document over;
  if (!text.empty() && json::Parse(text, over) && over.IsObject()) Overlay(base, over, allocator);
}

std::string PortKey(const PortPayload& port) {
  return absl::StrCat(port.container_port, "/", std::string(model::ToString(port.protocol)));
}

Value Config(const ContainerPayload& container, Allocator& allocator) {
  Value config(rapidjson::kObjectType);
  Set(config, "Image", Text(container.image, allocator), allocator);
  if (!container.command.empty())
    Set(config, "Cmd", Texts(container.command, allocator), allocator);
  if (!container.entry_point.empty()) {
    Set(config, "Entrypoint", Texts(container.entry_point, allocator), allocator);
  }
  if (!container.ports.empty()) {
    Value exposed(rapidjson::kObjectType);
    for (const PortPayload& port : container.ports) {
      Set(exposed, PortKey(port), Value(rapidjson::kObjectType), allocator);
    }
    Set(config, "ExposedPorts", std::move(exposed), allocator);
  }
  return config;
}

Value PortBindings(const ContainerPayload& container, Allocator& allocator) {
  Value bindings(rapidjson::kObjectType);
  for (const PortPayload& port : container.ports) {
    Value binding(rapidjson::kObjectType);
    // An empty port lets Docker choose a free one.
    const std::string host_port = port.host_port == 0 ? "" : absl::StrCat(port.host_port);
    Set(binding, "HostPort", Text(host_port, allocator), allocator);
    const std::string key = PortKey(port);
    const auto found = bindings.FindMember(Text(key, allocator));
    if (found != bindings.MemberEnd()) {
      found->value.PushBack(std::move(binding), allocator);
    } else {
      Value list(rapidjson::kArrayType);
      list.PushBack(std::move(binding), allocator);
      Set(bindings, key, std::move(list), allocator);
    }
  }
  return bindings;
}

Value HostConfig(const TaskPayload& task, const ContainerPayload& container, Allocator& allocator) {
  Value host(rapidjson::kObjectType);
  Set(host, "CpuShares", Value(std::max(kCpuSharesMin, container.cpu_units)), allocator);
  // A container without a limit of its own may use what the whole task may.
  const int64_t memory_mib = container.memory_mib > 0 ? container.memory_mib : task.memory_mib;
  if (memory_mib > 0) Set(host, "Memory", Value(memory_mib * kBytesPerMib), allocator);
  switch (task.network_mode) {
    case model::NetworkMode::kBridge:
      Set(host, "NetworkMode", Text("bridge", allocator), allocator);
      if (!container.ports.empty()) {
        Set(host, "PortBindings", PortBindings(container, allocator), allocator);
      }
      break;
    case model::NetworkMode::kHost:
      Set(host, "NetworkMode", Text("host", allocator), allocator);
      break;
    case model::NetworkMode::kNone:
      Set(host, "NetworkMode", Text("none", allocator), allocator);
      break;
    case model::NetworkMode::kAwsvpc:
      break;  // JoinTaskNetwork
  }
  return host;
}

// Docker refuses these beside a network that belongs to another container.
void JoinTaskNetwork(const TaskPayload& task, const ContainerPayload& container,
                     const std::string& pause, Value& config, Value& host, Allocator& allocator) {
  config.RemoveMember("ExposedPorts");
  host.RemoveMember("PortBindings");
  const auto drop = [&](Value& object, const char* name) {
    if (object.RemoveMember(name)) {
      spdlog::warn("task {}: container {}: {} has no effect in network mode awsvpc", task.id,
                   container.name, name);
    }
  };
  for (const char* name : {"Hostname", "Domainname"}) drop(config, name);
  for (const char* name : {"Dns", "DnsSearch", "DnsOptions", "ExtraHosts", "Links"})
    drop(host, name);
  Set(host, "NetworkMode", Text("container:" + pause, allocator), allocator);
}

void AddLogOptions(const ContainerPayload& container, Value& host, Allocator& allocator) {
  if (container.log_options.empty()) return;
  Value options(rapidjson::kObjectType);
  for (const auto& [name, value] : container.log_options) {
    Set(options, name, Text(value, allocator), allocator);
  }
  Value config(rapidjson::kObjectType);
  Set(config, "Config", std::move(options), allocator);
  Value over(rapidjson::kObjectType);
  Set(over, "LogConfig", std::move(config), allocator);
  Overlay(host, over, allocator);
}

std::string SiblingOf(const ContainerContext& context, const TaskPayload& task, size_t index) {
  const std::string& name = task.containers[index].name;
  const auto found = context.siblings.find(name);
  // Without an id Docker says that there is no such container, by its name.
  return found == context.siblings.end() ? name : found->second;
}

void AddMountsAndLinks(const TaskPayload& task, const ContainerPayload& container,
                       const ContainerContext& context, Value& host, Allocator& allocator) {
  if (!container.mounts.empty()) {
    Set(host, "Binds", Texts(VolumeBinds(task, container), allocator), allocator);
  }
  std::vector<std::string> volumes_from;
  for (const VolumesFromPayload& from : container.volumes_from) {
    volumes_from.push_back(
        absl::StrCat(SiblingOf(context, task, from.container), from.read_only ? ":ro" : ""));
  }
  if (!volumes_from.empty()) {
    Set(host, "VolumesFrom", Texts(volumes_from, allocator), allocator);
  }
  std::vector<std::string> links;
  for (const LinkPayload& link : container.links) {
    links.push_back(absl::StrCat(SiblingOf(context, task, link.container), ":", link.alias));
  }
  if (!links.empty()) Set(host, "Links", Texts(links, allocator), allocator);
}

// Empty: Docker's default, a namespace of the container's own.
std::string NamespaceOf(NamespaceMode mode, const std::string& pause) {
  switch (mode) {
    case NamespaceMode::kOwn:
      return {};
    case NamespaceMode::kTask:
      return "container:" + pause;
    case NamespaceMode::kHost:
      return "host";
    case NamespaceMode::kNone:
      return "none";
  }
  return {};
}

void JoinNamespaces(const TaskPayload& task, const std::string& pause, Value& host,
                    Allocator& allocator) {
  const std::string pid = NamespaceOf(task.pid_mode, pause);
  const std::string ipc = NamespaceOf(task.ipc_mode, pause);
  if (!pid.empty()) Set(host, "PidMode", Text(pid, allocator), allocator);
  if (!ipc.empty()) Set(host, "IpcMode", Text(ipc, allocator), allocator);
}

void AddLabels(Value& config, const std::map<std::string, std::string>& labels,
               Allocator& allocator) {
  if (config.FindMember("Labels") == config.MemberEnd() || !config["Labels"].IsObject()) {
    Set(config, "Labels", Value(rapidjson::kObjectType), allocator);
  }
  for (const auto& [name, value] : labels) {
    Set(config["Labels"], name, Text(value, allocator), allocator);
  }
}

// Docker's create call takes Config's members at the top and HostConfig as one of them.
std::string Body(Value config, Value host, Document& document) {
  Set(config, "HostConfig", std::move(host), document.GetAllocator());
  return json::ToText(config);
}

std::string GpuList(const std::vector<model::GpuId>& gpus) {
  return absl::StrJoin(gpus, ",",
                       [](std::string* out, const model::GpuId& gpu) { out->append(gpu.value); });
}

// By UUID: an index may be another device's after a reboot.
void AddGpus(const ContainerPayload& container, GpuAccess access, Value& host,
             Allocator& allocator) {
  if (access == GpuAccess::kSimulated || container.gpu_ids.empty()) return;
  const bool cdi = access == GpuAccess::kCdi;
  std::vector<std::string> devices;
  for (const model::GpuId& gpu : container.gpu_ids) {
    devices.push_back(cdi ? CdiName(gpu) : gpu.value);
  }
  Value request(rapidjson::kObjectType);
  Set(request, "Driver", Text(cdi ? "cdi" : "nvidia", allocator), allocator);
  Set(request, "DeviceIDs", Texts(devices, allocator), allocator);
  if (!cdi) {
    Value all(rapidjson::kArrayType);
    all.PushBack(Texts({"gpu", "compute", "utility"}, allocator), allocator);
    Set(request, "Capabilities", std::move(all), allocator);
  }
  Value requests(rapidjson::kArrayType);
  requests.PushBack(std::move(request), allocator);
  Set(host, "DeviceRequests", std::move(requests), allocator);
}

// The directory, not its sockets: those are new files after a restart of the daemon.
void MountMpsDirectory(const std::string& directory, Value& host, Allocator& allocator) {
  Value binds(rapidjson::kArrayType);
  const auto given = host.FindMember("Binds");
  if (given != host.MemberEnd() && given->value.IsArray()) {
    const std::string target = absl::StrCat(":", kMpsPipeDirectory);
    for (Value& bind : given->value.GetArray()) {
      const std::string text = bind.IsString() ? bind.GetString() : "";
      const bool is_ours = absl::EndsWith(text, target) || absl::StrContains(text, target + ":");
      if (!is_ours) binds.PushBack(std::move(bind), allocator);
    }
  }
  binds.PushBack(Text(absl::StrCat(directory, ":", kMpsPipeDirectory), allocator), allocator);
  Set(host, "Binds", std::move(binds), allocator);
}

}  // namespace

bool NeedsPauseContainer(const TaskPayload& task) {
  return task.network_mode == model::NetworkMode::kAwsvpc ||
         task.pid_mode == NamespaceMode::kTask || task.ipc_mode == NamespaceMode::kTask;
}

std::map<std::string, std::string> TaskLabels(const TaskPayload& task,
                                              const ContainerContext& context) {
  return {{label::kCluster, context.cluster},
          {label::kTaskArn, task.arn},
          {label::kFamily, task.family},
          {label::kVersion, task.version},
          {label::kInstance, context.instance}};
}

std::string CdiName(const model::GpuId& gpu) { return kCdiKind + gpu.value; }

std::vector<std::string> ContainerEnvironment(const ContainerPayload& container,
                                              std::string_view region) {
  std::map<std::string, std::string> variables = {{"AWS_REGION", std::string(region)},
                                                  {"AWS_DEFAULT_REGION", std::string(region)}};
  for (const auto& [name, value] : container.environment) variables[name] = value;

  std::vector<std::string> removed;
  if (container.share) {
    // E7, E10: nobody else's values, not even the image's.
    for (const std::string_view name : model::kReservedGpuVariables) {
      variables.erase(std::string(name));
      removed.emplace_back(name);
    }
    const auto set = [&](const std::string& name, std::string value) {
      variables[name] = std::move(value);
      removed.erase(std::find(removed.begin(), removed.end(), name));
    };
    set("CUDA_MPS_PIPE_DIRECTORY", kMpsPipeDirectory);
    // The container sees one device, so its ordinal is 0 whatever the host's is.
    set("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", absl::StrFormat("0=%dM", container.share->memory_mib));
    if (container.share->max_compute_percent) {
      set("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", absl::StrCat(*container.share->max_compute_percent));
    }
    set("NVIDIA_VISIBLE_DEVICES", GpuList(container.gpu_ids));
  } else if (!container.gpu_ids.empty()) {
    variables["NVIDIA_VISIBLE_DEVICES"] = GpuList(container.gpu_ids);
  }

  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(absl::StrCat(name, "=", value));
  environment.insert(environment.end(), removed.begin(), removed.end());
  return environment;
}

std::string ContainerRequestBody(const TaskPayload& task, size_t index,
                                 const ContainerContext& context) {
  const ContainerPayload& container = task.containers[index];
  Document document;
  Allocator& allocator = document.GetAllocator();
  Value config = Config(container, allocator);
  Value host = HostConfig(task, container, allocator);
  OverlayText(config, container.docker_config, allocator);
  OverlayText(host, container.docker_host_config, allocator);

  Set(config, "Env", Texts(ContainerEnvironment(container, context.region), allocator), allocator);
  std::map<std::string, std::string> labels = TaskLabels(task, context);
  labels[label::kContainerName] = container.name;
  AddLabels(config, labels, allocator);
  AddLogOptions(container, host, allocator);
  AddMountsAndLinks(task, container, context, host, allocator);
  JoinNamespaces(task, context.pause_container, host, allocator);
  if (task.network_mode == model::NetworkMode::kAwsvpc) {
    JoinTaskNetwork(task, container, context.pause_container, config, host, allocator);
  }
  AddGpus(container, context.gpu_access, host, allocator);
  if (container.share && !context.mps_directory.empty()) {
    MountMpsDirectory(context.mps_directory, host, allocator);
  }
  return Body(std::move(config), std::move(host), document);
}

std::string PauseRequestBody(const TaskPayload& task, const ContainerContext& context,
                             const std::string& image, const std::string& network) {
  Document document;
  Allocator& allocator = document.GetAllocator();
  Value config(rapidjson::kObjectType);
  Set(config, "Image", Text(image, allocator), allocator);
  Set(config, "Cmd", Texts({"/pause"}, allocator), allocator);
  std::map<std::string, std::string> labels = TaskLabels(task, context);
  labels[label::kRole] = label::kPauseRole;
  AddLabels(config, labels, allocator);
  Value host(rapidjson::kObjectType);
  Set(host, "NetworkMode", Text(network, allocator), allocator);
  if (task.ipc_mode == NamespaceMode::kTask) {
    Set(host, "IpcMode", Text("shareable", allocator), allocator);
  }
  Set(host, "CpuShares", Value(kCpuSharesMin), allocator);
  Set(host, "Memory", Value(kPauseMemoryBytes), allocator);
  Set(host, "ReadonlyRootfs", Value(true), allocator);
  Set(host, "CapDrop", Texts({"ALL"}, allocator), allocator);
  return Body(std::move(config), std::move(host), document);
}

std::string ContainerHostName(const TaskPayload& task, std::string_view name,
                              std::string_view suffix) {
  std::string full = absl::StrFormat("ecs-%s-%s-%s-%s", task.family, task.version, name, suffix);
  for (char& c : full) {
    const bool allowed =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
    if (!allowed) c = '-';
  }
  return full;
}

}  // namespace berth::agent

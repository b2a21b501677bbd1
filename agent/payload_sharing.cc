#include "agent/payload_sharing.h"

#include <algorithm>

#include "model/arn.h"

namespace berth::agent {

namespace {

using json::Value;

std::map<std::string, std::string> DecodeMap(const Value& object, const char* name,
                                             std::string_view where, Trouble& trouble) {
  std::map<std::string, std::string> map;
  const Value* member = json::Find(object, name);
  if (member == nullptr) return map;
  if (!member->IsObject()) {
    Undecodable(trouble, absl::StrFormat("%s of volume %s is not a map of strings", name, where));
    return map;
  }
  for (const auto& entry : member->GetObject()) {
    if (!entry.value.IsString()) {
      Undecodable(trouble, absl::StrFormat("%s of volume %s is not a map of strings", name, where));
      return map;
    }
    map[entry.name.GetString()] = entry.value.GetString();
  }
  return map;
}

// Docker's Binds are "source:target:options"; a colon in a path would be read as another path.
bool IsMountPath(std::string_view path) {
  return path.starts_with('/') && path.find(':') == std::string_view::npos;
}

VolumePayload DecodeVolume(const Value& value, Trouble& trouble) {
  VolumePayload volume;
  volume.name = json::StringOr(value, "name");
  if (!model::IsValidName(volume.name)) {
    Undecodable(trouble, absl::StrFormat("\"%s\" is not a volume name", volume.name));
  }
  const std::string type = json::StringOr(value, "type");
  const Value* docker = json::Find(value, "dockerVolumeConfiguration");
  if (docker == nullptr && !type.empty() && type != "host") {
    RefuseUnsupported(trouble, absl::StrFormat("volume %s of type %s", volume.name, type));
    return volume;
  }
  if (docker == nullptr) {
    if (const Value* host = json::Find(value, "host")) {
      volume.host_path = json::StringOr(*host, "sourcePath");
    }
    if (!volume.host_path.empty() && !IsMountPath(volume.host_path)) {
      Refuse(trouble, absl::StrFormat("host path %s of volume %s is not an absolute path without a "
                                      "colon",
                                      volume.host_path, volume.name));
    }
    return volume;
  }
  const std::string scope = json::StringOr(*docker, "scope", "task");
  if (scope != "task" && scope != "shared") {
    Undecodable(trouble, absl::StrFormat("scope %s of volume %s is neither task nor shared", scope,
                                         volume.name));
  }
  volume.shared = scope == "shared";
  volume.autoprovision = json::FindBool(*docker, "autoprovision").value_or(false);
  volume.driver = json::StringOr(*docker, "driver");
  volume.driver_options = DecodeMap(*docker, "driverOpts", volume.name, trouble);
  volume.labels = DecodeMap(*docker, "labels", volume.name, trouble);
  return volume;
}

std::optional<size_t> ContainerNamed(const TaskPayload& task, std::string_view name) {
  for (size_t i = 0; i < task.containers.size(); ++i) {
    if (task.containers[i].name == name) return i;
  }
  return std::nullopt;
}

void DecodeMounts(const Value& value, const TaskPayload& task, ContainerPayload& container,
                  Trouble& trouble) {
  const Value* mounts = json::FindArray(value, "mountPoints");
  if (mounts == nullptr) return;
  for (const Value& entry : mounts->GetArray()) {
    const std::string name = json::StringOr(entry, "sourceVolume");
    const auto volume = std::find_if(task.volumes.begin(), task.volumes.end(),
                                     [&](const VolumePayload& v) { return v.name == name; });
    MountPayload mount = {.container_path = json::StringOr(entry, "containerPath"),
                          .read_only = json::FindBool(entry, "readOnly").value_or(false)};
    if (volume == task.volumes.end()) {
      Undecodable(trouble, absl::StrFormat("container %s mounts volume \"%s\", which is not there",
                                           container.name, name));
    } else if (!IsMountPath(mount.container_path)) {
      Refuse(trouble, absl::StrFormat("containerPath %s of container %s is not an absolute path "
                                      "without a colon",
                                      mount.container_path, container.name));
    } else {
      mount.volume = static_cast<size_t>(volume - task.volumes.begin());
      container.mounts.push_back(std::move(mount));
    }
  }
}

void WaitFor(ContainerPayload& container, size_t target) {
  const bool waits = std::any_of(container.depends_on.begin(), container.depends_on.end(),
                                 [&](const DependencyPayload& d) { return d.container == target; });
  if (!waits) container.depends_on.push_back({.container = target});
}

void DecodeVolumesFrom(const Value& value, const TaskPayload& task, size_t index,
                       ContainerPayload& container, Trouble& trouble) {
  const Value* list = json::FindArray(value, "volumesFrom");
  if (list == nullptr) return;
  for (const Value& entry : list->GetArray()) {
    const std::string name = json::StringOr(entry, "sourceContainer");
    const std::optional<size_t> source = ContainerNamed(task, name);
    if (!source || *source == index) {
      Undecodable(trouble, absl::StrFormat("container %s cannot have the volumes of \"%s\"",
                                           container.name, name));
      continue;
    }
    container.volumes_from.push_back(
        {.container = *source, .read_only = json::FindBool(entry, "readOnly").value_or(false)});
    WaitFor(container, *source);
  }
}

// "NAME" or "NAME:ALIAS".
void DecodeLinks(const Value& value, const TaskPayload& task, size_t index,
                 ContainerPayload& container, Trouble& trouble) {
  const Value* links = json::FindArray(value, "links");
  if (links == nullptr || links->Empty()) return;
  if (task.network_mode != model::NetworkMode::kBridge) {
    Refuse(trouble,
           absl::StrFormat("container %s has links, which network mode %s does not have",
                           container.name, std::string(model::ToString(task.network_mode))));
    return;
  }
  for (const Value& entry : links->GetArray()) {
    const std::string text = entry.IsString() ? entry.GetString() : "";
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    const std::string alias = colon == std::string::npos ? name : text.substr(colon + 1);
    const std::optional<size_t> target = ContainerNamed(task, name);
    if (!target || *target == index || alias.empty()) {
      Undecodable(trouble,
                  absl::StrFormat("container %s cannot link to \"%s\"", container.name, text));
      continue;
    }
    container.links.push_back({.container = *target, .alias = alias});
    WaitFor(container, *target);
  }
}

NamespaceMode DecodeNamespace(const Value& value, const char* name, bool none_allowed,
                              Trouble& trouble) {
  const std::string mode = json::StringOr(value, name);
  if (mode.empty()) return NamespaceMode::kOwn;
  if (mode == "host") return NamespaceMode::kHost;
  if (mode == "task") return NamespaceMode::kTask;
  if (mode == "none" && none_allowed) return NamespaceMode::kNone;
  Undecodable(trouble, absl::StrFormat("%s %s is none of its words", name, mode));
  return NamespaceMode::kOwn;
}

}  // namespace

void DecodeSharing(const Value& value, TaskPayload& task, Trouble& trouble) {
  task.pid_mode = DecodeNamespace(value, "pidMode", false, trouble);
  task.ipc_mode = DecodeNamespace(value, "ipcMode", true, trouble);
  if (const Value* volumes = json::FindArray(value, "volumes")) {
    for (const Value& entry : volumes->GetArray()) {
      task.volumes.push_back(DecodeVolume(entry, trouble));
    }
  }
  const Value* list = json::FindArray(value, "containers");
  for (size_t i = 0; i < task.containers.size(); ++i) {
    const Value& entry = (*list)[static_cast<rapidjson::SizeType>(i)];
    ContainerPayload& container = task.containers[i];
    DecodeMounts(entry, task, container, trouble);
    DecodeVolumesFrom(entry, task, i, container, trouble);
    DecodeLinks(entry, task, i, container, trouble);
  }
}

}  // namespace berth::agent

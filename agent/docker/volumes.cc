#include "agent/docker/volumes.h"

#include "absl/strings/str_cat.h"
#include "agent/docker/container_request.h"

namespace berth::agent {

std::string DockerVolumeName(const TaskPayload& task, const VolumePayload& volume) {
  return volume.shared ? volume.name : ContainerHostName(task, volume.name, task.id);
}

std::vector<std::string> VolumeBinds(const TaskPayload& task, const ContainerPayload& container) {
  std::vector<std::string> binds;
  for (const MountPayload& mount : container.mounts) {
    const VolumePayload& volume = task.volumes[mount.volume];
    const std::string source =
        volume.host_path.empty() ? DockerVolumeName(task, volume) : volume.host_path;
    binds.push_back(absl::StrCat(source, ":", mount.container_path, mount.read_only ? ":ro" : ""));
  }
  return binds;
}

}  // namespace berth::agent

#include <algorithm>
#include <set>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/arn.h"
#include "model/errors.h"
#include "model/validation/rules.h"

namespace berth::model::validation {
namespace {

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

absl::Status CheckVolume(const Volume& volume) {
  if (volume.name.empty()) return ClientError("Volume.name should not be null or empty.");
  if (!IsValidName(volume.name)) return ClientError("Volume.name contains invalid characters.");
  const bool kinds[] = {volume.has_host,    volume.has_docker, volume.has_efs,
                        volume.has_s3files, volume.has_fsx,    volume.configured_at_launch};
  if (std::ranges::count(kinds, true) > 1) {
    return ClientError(absl::StrFormat(
        "volume '%s' is of several kinds; give at most one of host, dockerVolumeConfiguration, "
        "efsVolumeConfiguration, s3filesVolumeConfiguration, "
        "fsxWindowsFileServerVolumeConfiguration and configuredAtLaunch",
        volume.name));
  }
  if (volume.host_source_path.has_value() && IsBlank(*volume.host_source_path)) {
    return ClientError("host.sourcePath should not be blank.");
  }
  return absl::OkStatus();
}

absl::Status CheckMounts(const ContainerDefinition& container,
                         const std::set<std::string_view>& volumes) {
  std::set<std::string_view> paths;
  for (size_t i = 0; i < container.mount_points.size(); ++i) {
    const MountPoint& mount = container.mount_points[i];
    if (!volumes.contains(mount.source_volume)) {
      return ClientError(absl::StrFormat("Unknown volume '%s'.", mount.source_volume));
    }
    const std::string member = absl::StrFormat("mountPoints[%d].containerPath", i);
    if (IsBlank(mount.container_path)) {
      return Wrong(container, member, "blank", "the path at which the container sees the volume");
    }
    if (!paths.insert(mount.container_path).second) {
      return Wrong(container, member, absl::StrFormat("'%s' again", mount.container_path),
                   "another path than those before");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckVolumes(const TaskSpec& spec) {
  std::set<std::string_view> names;
  std::string_view configured_at_launch;
  for (const Volume& volume : spec.volumes) {
    if (absl::Status status = CheckVolume(volume); !status.ok()) return status;
    if (!names.insert(volume.name).second) {
      return ClientError(absl::StrFormat(
          "volume '%s' is there twice; volume names must be unique within a task definition",
          volume.name));
    }
    if (!volume.configured_at_launch) continue;
    if (!configured_at_launch.empty()) {
      return ClientError(absl::StrFormat(
          "volumes '%s' and '%s' are both configuredAtLaunch; only one volume may be",
          configured_at_launch, volume.name));
    }
    configured_at_launch = volume.name;
  }
  for (const ContainerDefinition& container : spec.containers) {
    if (absl::Status status = CheckMounts(container, names); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation

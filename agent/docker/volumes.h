// The Docker volumes of a task: their names, and how containers mount them. Plain functions.
//
// A shared volume has the name that the task definition gives it and outlives every task. Any other
// belongs to one task and is called as the official agent calls it,
// ecs-FAMILY-REVISION-NAME-SUFFIX, with the task's id for a suffix, so that it is found again after
// a restart.
#pragma once

#include <string>
#include <vector>

#include "agent/payload.h"

namespace berth::agent {

// Requires: the volume has no host path.
std::string DockerVolumeName(const TaskPayload& task, const VolumePayload& volume);

// Docker's Binds for one container: "source:target", ":ro" behind it when it may only be read.
std::vector<std::string> VolumeBinds(const TaskPayload& task, const ContainerPayload& container);

}  // namespace berth::agent

// The body of Docker's create call for one container of a task. Plain functions over values.
//
// Three layers: what follows from the payload; over it the payload's own Docker objects (objects
// merge, arrays and scalars replace); last what only the agent may say: labels, the task's network,
// the GPUs and, for a container that shares one, the reserved variables and the mount
// (gpu-sharing.md 1.3).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/payload.h"

namespace berth::agent {

// How a container gets its GPUs. Simulated ones are named in the environment and nothing else.
enum class GpuAccess { kSimulated, kDeviceRequest, kCdi };

struct ContainerContext {
  std::string cluster = {};
  std::string instance = {};  // this agent's id, for the label
  std::string region = {};
  std::string pause_container = {};  // whose namespaces the task's containers share
  // Docker's ids of the task's containers, by name; those that it links to or has volumes from.
  std::map<std::string, std::string> siblings = {};
  GpuAccess gpu_access = GpuAccess::kSimulated;
  std::string mps_directory = {};  // on the host, of the shared GPU; empty: it has no daemon
};

// Where a container that shares a GPU finds its MPS daemon.
inline constexpr char kMpsPipeDirectory[] = "/run/berth-mps";

// As Docker's CDI knows the device: nvidia.com/gpu=UUID.
std::string CdiName(const model::GpuId& gpu);

std::string ContainerRequestBody(const TaskPayload& task, size_t index,
                                 const ContainerContext& context);
std::string PauseRequestBody(const TaskPayload& task, const ContainerContext& context,
                             const std::string& image, const std::string& network);

// Whether a pause container holds what the task's containers share: network, processes or IPC.
bool NeedsPauseContainer(const TaskPayload& task);

// The labels of everything that belongs to a task.
std::map<std::string, std::string> TaskLabels(const TaskPayload& task,
                                              const ContainerContext& context);

// As Docker's Env: "NAME=value", or "NAME" alone, which takes the image's variable away.
std::vector<std::string> ContainerEnvironment(const ContainerPayload& container,
                                              std::string_view region);

// ecs-FAMILY-REVISION-NAME-SUFFIX, of characters that Docker takes.
std::string ContainerHostName(const TaskPayload& task, std::string_view name,
                              std::string_view suffix);

}  // namespace berth::agent

// Environment variables that the agent sets itself in a container that shares a GPU, or that would
// undo what it sets (gpu-sharing.md 1.3, E1-E4 and E10). A definition or override that gives one to
// such a container is refused; an image or an environment file cannot be seen in advance, so the
// agent writes its own values last. A container that shares no GPU may set them freely.
#pragma once

#include <string_view>

#include "model/vocabulary.h"

namespace berth::model {

inline constexpr std::string_view kReservedGpuVariables[] = {
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_MPS_CLIENT_PRIORITY",
    "CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING",
    "CUDA_MPS_LOG_DIRECTORY",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_MPS_PROTOCOL_VERSION",
    "CUDA_MPS_SM_PARTITION",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
};

inline bool IsReservedGpuVariable(std::string_view name) {
  return IsOneOf(kReservedGpuVariables, name);
}

}  // namespace berth::model

// A GPU of a container instance, and what a container may ask of one. Rules:
// gpu-sharing.md 1.2, 1.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/ids.h"

namespace berth::model {

// How a device is used. IDLE -> NVIDIA_MPS or DEDICATED and back to IDLE, never between the two.
enum class GpuUse { kIdle, kNvidiaMps, kDedicated };
std::string_view ToString(GpuUse use);  // IDLE, NVIDIA_MPS, DEDICATED

// A device as its agent registered it.
struct Gpu {
  GpuId id = {};
  // Usable memory; 0 when the agent could not tell, and then the device takes dedicated work only.
  int64_t memory_mib = 0;

  bool operator==(const Gpu&) const = default;
};

// A share of one GPU, as a container asks for it. Absent max_compute_percent is neither 0 nor 100:
// no ceiling was asked for, and it must stay absent all the way to the container.
struct NvidiaMps {
  int64_t memory_mib = 0;
  std::optional<int64_t> max_compute_percent = std::nullopt;

  bool operator==(const NvidiaMps&) const = default;
};

// What one container needs of GPUs, after validation.
struct GpuRequirement {
  enum class Kind { kNone, kDedicated, kAll, kShared };
  Kind kind = Kind::kNone;
  int64_t count = 0;     // kDedicated: whole devices
  NvidiaMps share = {};  // kShared

  bool operator==(const GpuRequirement&) const = default;
};

// MPS clients per device where the agent reports no limit of its own: Volta and later up to CUDA
// 13.0 (gpu-sharing.md P24).
inline constexpr int64_t kMpsClientsMaxDefault = 48;

}  // namespace berth::model

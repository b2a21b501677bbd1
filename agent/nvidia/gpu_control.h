// What the agent does to a real GPU through its driver. Devices are named by UUID, never by index,
// which may change over a reboot (gpu-sharing.md 2.2).
//
// Calls block for as long as the driver does: not for the agent's loop. Any thread. An unknown UUID
// gives NOT_FOUND, what the device does not offer UNIMPLEMENTED, a lost driver UNAVAILABLE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace berth::agent {

enum class ComputeMode { kDefault, kExclusiveThread, kProhibited, kExclusiveProcess };

struct ComputeProcess {
  int64_t pid = 0;  // in the host's pid namespace
  std::optional<int64_t> used_bytes = std::nullopt;
};

class GpuControl {
 public:
  virtual ~GpuControl() = default;

  virtual absl::StatusOr<ComputeMode> GetComputeMode(const std::string& uuid) = 0;
  virtual absl::Status SetComputeMode(const std::string& uuid, ComputeMode mode) = 0;
  // All that hold a context on the device, clients of an MPS server among them.
  virtual absl::StatusOr<std::vector<ComputeProcess>> ComputeProcesses(const std::string& uuid) = 0;
};

}  // namespace berth::agent

// What must survive the agent's death about one shared GPU: a file DATA/mps/UUID.json, written
// before the thing that it speaks of is done. Blocking; any thread.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "agent/mps/process.h"
#include "agent/nvidia/gpu_control.h"

namespace berth::agent {

struct MpsDaemonRecord {
  std::string boot_id = {};  // a reboot ends the daemon and puts the compute mode back
  std::string pipe_directory = {};
  ComputeMode mode_before = ComputeMode::kDefault;
  std::optional<ProcessId> daemon = std::nullopt;  // absent: it was about to be started

  bool operator==(const MpsDaemonRecord&) const = default;
};

std::string EncodeMpsDaemonRecord(const MpsDaemonRecord& record);
absl::StatusOr<MpsDaemonRecord> DecodeMpsDaemonRecord(std::string_view text);

// The running kernel's; empty where it cannot be read.
std::string BootId();

}  // namespace berth::agent

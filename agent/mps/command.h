// Starting programs: one that answers and ends, and one that stays when the agent ends.
//
// Both get the agent's environment without CUDA's variables: a percentage or a limit left in there
// would silently hold for every client of a daemon (gpu-sharing.md 2.4). Blocking; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace berth::agent {

struct Command {
  std::vector<std::string> arguments = {};                            // the program's path first
  std::vector<std::pair<std::string, std::string>> environment = {};  // beside the agent's own
};

struct CommandResult {
  bool timed_out = false;
  int exit_status = -1;     // -1: ended by a signal, or timed out
  std::string output = {};  // stdout and stderr, its first 64 KiB
};

// Kills the program when it has not ended in time.
absl::StatusOr<CommandResult> RunCommand(const Command& command, const std::string& input,
                                         absl::Duration limit);
// In a session of its own; its output goes to the file. Returns its pid.
absl::StatusOr<pid_t> StartDetached(const Command& command, const std::string& output_file);

}  // namespace berth::agent

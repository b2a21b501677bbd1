// Processes of this machine, as /proc shows them. Blocking; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace berth::agent {

// A pid may be given out anew; with the time of its start, in clock ticks since boot, it is one
// process only.
struct ProcessId {
  pid_t pid = -1;
  uint64_t start_ticks = 0;

  bool operator==(const ProcessId&) const = default;
};

// Nothing when it is not there or is a zombie. A child of this process that has ended is reaped.
std::optional<ProcessId> FindProcess(pid_t pid);
bool IsAlive(const ProcessId& process);
// Whether a cgroup of the process is that of the Docker container.
bool IsInContainer(pid_t pid, const std::string& container_id);

}  // namespace berth::agent

// One MPS control daemon asked through NVIDIA's front end, a new process for each command.
//
// The front end ends with status 0 for every command that a daemon answered, also one that it did
// not know (gpu-sharing.md 2.5): only the answer itself tells. Blocking; any thread.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace berth::agent {

enum class MpsProbe {
  kServing,
  kDown,              // nobody listens, or the answer is none
  kNotResponding,     // it listens and does not answer in time
  kMissingDirectory,  // not worth a second try
};

class MpsControlClient {
 public:
  MpsControlClient(std::string binary, std::string pipe_directory, absl::Duration limit);

  MpsProbe Probe() const;
  // The answer without blanks around it. DEADLINE_EXCEEDED: none in time; UNAVAILABLE: nobody
  // there.
  absl::StatusOr<std::string> Ask(const std::string& command) const;
  // Pids of the servers, and of the clients of one.
  absl::StatusOr<std::vector<pid_t>> Servers() const;
  absl::StatusOr<std::vector<pid_t>> Clients(pid_t server) const;
  // OK also when there is no such server any more.
  absl::Status TerminateClient(pid_t server, pid_t client) const;

 private:
  std::string binary_;
  std::string pipe_directory_;
  absl::Duration limit_;
};

}  // namespace berth::agent

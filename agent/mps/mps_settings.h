// How the agent runs MPS control daemons. Rules: gpu-sharing.md 1.6, 2.4 to 2.11.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace berth::agent {

struct MpsSettings {
  std::string binary = "/usr/bin/nvidia-cuda-mps-control";
  // Each shared GPU has a directory below. Never /tmp/nvidia-mps, which every CUDA program finds.
  std::string root = "/run/berth/mps";
  std::string log_root = "/var/log/berth-mps";
  std::string record_directory = {};

  absl::Duration probe_limit = absl::Seconds(3);
  absl::Duration start_limit = absl::Seconds(10);
  // Before a task's containers are created.
  int gate_probes = 3;
  int gate_probes_not_responding = 2;
  absl::Duration gate_limit = absl::Seconds(10);
  absl::Duration gate_wait = absl::Seconds(2);  // then twice as long, 20 % jitter
  // While tasks are there: whether the process lives, and whether it answers.
  absl::Duration watch_every = absl::Seconds(1);
  absl::Duration probe_every = absl::Minutes(1);
  int wedged_after_probes = 3;
  absl::Duration quit_limit = absl::Seconds(5);    // then SIGTERM
  absl::Duration signal_limit = absl::Seconds(2);  // then SIGKILL
  absl::Duration release_limit =
      absl::Seconds(10);  // until the driver lists ended processes no more
};

// INVALID_ARGUMENT, naming the setting, for directories that MPS cannot use.
absl::Status CheckMpsSettings(const MpsSettings& settings);

// Of one GPU, below `root`: short, for a socket's path has room for 107 bytes.
std::string MpsDirectory(const std::string& root, const std::string& uuid);

}  // namespace berth::agent

// The MPS control daemon of one GPU, with the GPU's compute mode: both are set and put back
// together, and a record on disk says so to the next run of the agent.
//
// While the daemon serves, the mode is EXCLUSIVE_PROCESS, so that a program that slips past MPS
// fails instead of running without a limit (gpu-sharing.md 1.9 X2). Blocking, one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "agent/mps/control_client.h"
#include "agent/mps/daemon_record.h"
#include "agent/mps/mps_settings.h"
#include "agent/nvidia/gpu_control.h"
#include "model/gpu.h"

namespace berth::agent {

class MpsDaemon {
 public:
  MpsDaemon(MpsSettings settings, std::shared_ptr<GpuControl> gpus, model::Gpu gpu);

  // How an earlier run of the agent left this GPU. A daemon that lives is taken over.
  absl::Status Load();
  // Runs and serves afterwards; nothing happens when it runs already.
  absl::Status Start();
  // Ends the daemon, puts the compute mode back and forgets the record. OK when there was none.
  // After an error something is left: call it again.
  absl::Status Stop();
  // By force, for one that answers nobody. The mode stays, and so does the directory, which
  // containers have mounted.
  void Kill();

  bool IsRunning() const;
  // Started by this run or by an earlier one, and not stopped since.
  bool IsWanted() const { return record_.has_value(); }
  MpsProbe Probe() const;
  // False: the binary knows no multi-user server, so that one user's programs run at a time.
  bool is_multi_user() const { return multi_user_; }
  std::optional<ProcessId> process() const;
  const std::string& pipe_directory() const { return pipe_directory_; }

  // Ends, in good order, the container's programs on the GPU: to kill one with work under way may
  // hang its neighbours. Returns how many.
  absl::StatusOr<int> TerminateClients(const std::string& container_id) const;
  // Until the driver lists no ended process any more, whose memory may still be taken.
  void AwaitRelease() const;

 private:
  absl::Status MakeDirectories() const;
  absl::Status Save() const;
  absl::Status Launch();
  void AdoptFromPidFile();
  std::string RecordFile() const;

  const MpsSettings settings_;
  const std::shared_ptr<GpuControl> gpus_;
  const model::Gpu gpu_;
  const std::string pipe_directory_;
  const std::string log_directory_;
  const MpsControlClient client_;
  std::optional<MpsDaemonRecord> record_ = std::nullopt;
  bool multi_user_ = true;  // until the binary has shown that it does not know it
};

}  // namespace berth::agent

// GPUs of a machine that has none: modes and processes are what the test says.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/nvidia/gpu_control.h"

namespace berth::agent::testing {

class FakeGpuControl : public GpuControl {
 public:
  absl::StatusOr<ComputeMode> GetComputeMode(const std::string& uuid) override {
    const std::lock_guard lock(mutex_);
    return modes_[uuid];
  }
  absl::Status SetComputeMode(const std::string& uuid, ComputeMode mode) override {
    const std::lock_guard lock(mutex_);
    if (refuses_) return absl::PermissionDeniedError("no permission to set the compute mode");
    modes_[uuid] = mode;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<ComputeProcess>> ComputeProcesses(const std::string& uuid) override {
    const std::lock_guard lock(mutex_);
    return processes_[uuid];
  }

  ComputeMode ModeOf(const std::string& uuid) { return *GetComputeMode(uuid); }
  void List(const std::string& uuid, std::vector<ComputeProcess> processes) {
    const std::lock_guard lock(mutex_);
    processes_[uuid] = std::move(processes);
  }
  void RefuseModes() {
    const std::lock_guard lock(mutex_);
    refuses_ = true;
  }

 private:
  std::mutex mutex_;
  bool refuses_ = false;
  std::map<std::string, ComputeMode> modes_ = {};
  std::map<std::string, std::vector<ComputeProcess>> processes_ = {};
};

}  // namespace berth::agent::testing

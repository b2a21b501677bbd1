// NVML, NVIDIA's management library, loaded at run time: no driver is needed to build or to start.
// Facts are absent where the driver says NOT_SUPPORTED, never zero. Rules: gpu-sharing.md 2.2, 3.
//
// Errors are worded by what the driver said: NOT_FOUND no library or no such device;
// FAILED_PRECONDITION library and kernel module differ in version; UNAVAILABLE no driver loaded, or
// the GPU is lost; UNIMPLEMENTED not offered by this device or driver; PERMISSION_DENIED.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/nvidia/gpu_control.h"

namespace berth::agent {

struct DeviceMemory {
  int64_t total_bytes = 0;
  int64_t reserved_bytes = 0;  // by the driver, of the total

  bool operator==(const DeviceMemory&) const = default;
};

struct GpuFacts {
  std::string uuid = {};
  int64_t index = 0;  // may change over a reboot
  std::optional<std::string> name = std::nullopt;
  std::optional<std::string> pci_bus_id = std::nullopt;
  std::optional<DeviceMemory> memory = std::nullopt;
  std::optional<std::pair<int, int>> compute_capability = std::nullopt;
  std::optional<bool> mig_enabled = std::nullopt;
  std::optional<bool> is_vgpu = std::nullopt;  // the guest's side of a vGPU
};

// What containers can be given, in MiB, rounded down; 0 when the driver has no figure.
int64_t UsableMemoryMib(const GpuFacts& facts);

// Why the device may not be shared; absent when it may.
std::optional<std::string> SharingObstacle(const GpuFacts& facts);

class Nvml final : public GpuControl {
 public:
  // Loads the library and starts it.
  static absl::StatusOr<std::shared_ptr<Nvml>> Load(
      const std::string& library = "libnvidia-ml.so.1");
  ~Nvml() override;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  absl::StatusOr<std::string> DriverVersion();
  // In driver order. A device that cannot be read fails the whole: a part looks like a smaller
  // node.
  absl::StatusOr<std::vector<GpuFacts>> Gpus();

  absl::StatusOr<ComputeMode> GetComputeMode(const std::string& uuid) override;
  absl::Status SetComputeMode(const std::string& uuid, ComputeMode mode) override;
  absl::StatusOr<std::vector<ComputeProcess>> ComputeProcesses(const std::string& uuid) override;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  const std::unique_ptr<Library> library_;
};

}  // namespace berth::agent

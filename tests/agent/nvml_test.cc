// What the agent reads of real GPUs, with a stand-in for NVIDIA's library.
// The numbers in names are those of gpu-sharing.md, section 4.
#include "agent/nvidia/nvml.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/agent/agent_under_test.h"

namespace berth::agent {
namespace {

constexpr char kL4[] = "gpu GPU-a 24152899584 493879296 8 9 0 0\n";
constexpr int64_t kMib = 1024 * 1024;

class Machine {
 public:
  explicit Machine(const std::string& facts) {
    Add(facts);
    ::setenv("FAKE_NVML", path_.c_str(), 1);
  }
  ~Machine() { ::unsetenv("FAKE_NVML"); }
  void Add(const std::string& facts) { std::ofstream(path_, std::ios::app) << facts; }

  static absl::StatusOr<std::shared_ptr<Nvml>> Load() {
    return Nvml::Load(std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                      "libfake-nvidia-ml.so");
  }

 private:
  testing::TempDir directory_;
  std::string path_ = directory_.path() + "/machine";
};

GpuFacts Volta() {
  return {.uuid = "GPU-a",
          .memory = DeviceMemory{.total_bytes = 100 * kMib, .reserved_bytes = 1},
          .compute_capability = {{7, 0}}};
}

TEST_CASE("nvml 69: without library, or without driver, the error says which") {
  CHECK(absl::IsNotFound(Nvml::Load("/nowhere/libnvidia-ml.so.1").status()));
  const Machine no_driver("fail nvmlInit_v2 9\n");
  const absl::Status unloaded = Machine::Load().status();
  CHECK(absl::IsUnavailable(unloaded));
  CHECK(absl::StrContains(unloaded.message(), "Driver Not Loaded"));
}

TEST_CASE("nvml: a driver changed without a reload is told apart") {
  const Machine machine("fail nvmlInit_v2 18\n");
  const absl::Status status = Machine::Load().status();
  CHECK(absl::IsFailedPrecondition(status));
  CHECK(absl::StrContains(status.message(), "reboot"));
}

TEST_CASE("nvml 71: facts of a GPU, its usable memory rounded down") {
  const Machine machine("gpu GPU-a 24152899584 493879295 8 9 0 0\n");
  const auto nvml = Machine::Load();
  REQUIRE(nvml.ok());
  CHECK(*(*nvml)->DriverVersion() == "550.163.01");
  const auto gpus = (*nvml)->Gpus();
  REQUIRE(gpus.ok());
  REQUIRE(gpus->size() == 1);
  const GpuFacts& gpu = gpus->front();
  CHECK(gpu.uuid == "GPU-a");
  CHECK(gpu.name == "NVIDIA L4");
  CHECK(gpu.pci_bus_id == "00000000:3B:00.0");
  CHECK(gpu.compute_capability == std::pair(8, 9));
  CHECK(gpu.mig_enabled == false);
  CHECK(UsableMemoryMib(gpu) == (24152899584 - 493879295) / kMib);
  CHECK(SharingObstacle(gpu) == std::nullopt);
}

TEST_CASE("nvml 71: 23034 MiB with 471 reserved are 22563") {
  GpuFacts gpu = Volta();
  gpu.memory = {.total_bytes = 23034 * kMib + 5, .reserved_bytes = 471 * kMib};
  CHECK(UsableMemoryMib(gpu) == 22563);
  gpu.memory->reserved_bytes += 6;
  CHECK(UsableMemoryMib(gpu) == 22562);
}

TEST_CASE("nvml 70: what is not supported is absent, and memory without a figure is not shared") {
  const Machine machine(
      absl::StrCat(kL4, "fail nvmlDeviceGetMemoryInfo_v2 3\n", "fail nvmlDeviceGetMigMode 3\n"));
  const auto nvml = Machine::Load();
  REQUIRE(nvml.ok());
  const auto gpus = (*nvml)->Gpus();
  REQUIRE(gpus.ok());
  CHECK(gpus->front().memory == std::nullopt);
  CHECK(gpus->front().mig_enabled == std::nullopt);
  CHECK(UsableMemoryMib(gpus->front()) == 0);
  CHECK(SharingObstacle(gpus->front()) == "the driver does not tell its memory");
}

TEST_CASE("nvml 74, 75: vGPU, MIG and old devices are not shared") {
  CHECK(SharingObstacle(Volta()) == std::nullopt);
  GpuFacts vgpu = Volta();
  vgpu.is_vgpu = true;
  CHECK(SharingObstacle(vgpu) == "it is a vGPU");
  GpuFacts mig = Volta();
  mig.mig_enabled = true;
  CHECK(SharingObstacle(mig) == "it is in MIG mode");
  GpuFacts pascal = Volta();
  pascal.compute_capability = {6, 1};
  CHECK(SharingObstacle(pascal) == "its compute capability is 6.1; sharing needs 7.0 or newer");

  const Machine machine("gpu GPU-v 1073741824 0 8 0 0 2\ngpu GPU-m 1073741824 0 8 0 1 0\n");
  const auto nvml = Machine::Load();
  REQUIRE(nvml.ok());
  const auto gpus = (*nvml)->Gpus();
  REQUIRE(gpus.ok());
  CHECK(SharingObstacle(gpus->at(0)) == "it is a vGPU");
  CHECK(SharingObstacle(gpus->at(1)) == "it is in MIG mode");
}

TEST_CASE("nvml: a lost GPU fails the look at it") {
  Machine machine(kL4);
  const auto nvml = Machine::Load();
  REQUIRE(nvml.ok());
  machine.Add("fail nvmlDeviceGetMemoryInfo_v2 15\n");
  CHECK(absl::IsUnavailable((*nvml)->Gpus().status()));
}

TEST_CASE("nvml: compute mode is set by UUID, and a refusal is told") {
  Machine machine(absl::StrCat("gpu GPU-other 1073741824 0 8 0 0 0\n", kL4));
  const auto nvml = Machine::Load();
  REQUIRE(nvml.ok());
  CHECK(*(*nvml)->GetComputeMode("GPU-a") == ComputeMode::kDefault);
  CHECK((*nvml)->SetComputeMode("GPU-a", ComputeMode::kExclusiveProcess).ok());
  CHECK(*(*nvml)->GetComputeMode("GPU-a") == ComputeMode::kExclusiveProcess);
  CHECK(*(*nvml)->GetComputeMode("GPU-other") == ComputeMode::kDefault);
  CHECK(absl::IsNotFound((*nvml)->GetComputeMode("GPU-none").status()));
  machine.Add("fail nvmlDeviceSetComputeMode 4\n");
  CHECK(absl::IsPermissionDenied((*nvml)->SetComputeMode("GPU-a", ComputeMode::kDefault)));
}

TEST_CASE("nvml: processes of a GPU, more than fit the first try") {
  std::string facts = absl::StrCat(kL4, "process GPU-other 5 1\nprocess GPU-a 100 -\n");
  for (int i = 1; i < 40; ++i) absl::StrAppend(&facts, "process GPU-a ", 100 + i, " 4096\n");
  const Machine machine(facts);
  const auto nvml = Machine::Load();
  REQUIRE(nvml.ok());
  const auto processes = (*nvml)->ComputeProcesses("GPU-a");
  REQUIRE(processes.ok());
  REQUIRE(processes->size() == 40);
  CHECK(processes->front().pid == 100);
  CHECK(processes->front().used_bytes == std::nullopt);
  CHECK(processes->back().used_bytes == 4096);
}

}  // namespace
}  // namespace berth::agent

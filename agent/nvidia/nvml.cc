#include "agent/nvidia/nvml.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/nvidia/nvml_abi.h"

namespace berth::agent {

namespace abi = nvml_abi;

namespace {

constexpr int64_t kMib = 1024 * 1024;
constexpr int kLeastMajorToShare = 7;  // Volta: limits per client begin there.
constexpr unsigned kTextMax = 128;
constexpr unsigned kProcessesSpare = 16;  // They may grow between two calls.
constexpr int kProcessTries = 4;

}  // namespace

int64_t UsableMemoryMib(const GpuFacts& facts) {
  if (!facts.memory || facts.memory->total_bytes <= facts.memory->reserved_bytes) return 0;
  return (facts.memory->total_bytes - facts.memory->reserved_bytes) / kMib;
}

std::optional<std::string> SharingObstacle(const GpuFacts& facts) {
  if (facts.mig_enabled.value_or(false)) return "it is in MIG mode";
  if (facts.is_vgpu.value_or(false)) return "it is a vGPU";
  if (!facts.compute_capability) return "the driver does not tell its compute capability";
  const auto [major, minor] = *facts.compute_capability;
  if (major < kLeastMajorToShare) {
    return absl::StrFormat("its compute capability is %d.%d; sharing needs 7.0 or newer", major,
                           minor);
  }
  if (UsableMemoryMib(facts) == 0) return "the driver does not tell its memory";
  return std::nullopt;
}

struct Nvml::Library {
  void* handle = nullptr;
  bool started = false;

  ~Library() {
    if (started) Call<>("nvmlShutdown");
    if (handle != nullptr) ::dlclose(handle);
  }

  template <typename... Arguments>
  int Call(const char* function, Arguments... arguments) {
    const auto call = reinterpret_cast<int (*)(Arguments...)>(::dlsym(handle, function));
    return call == nullptr ? abi::kFunctionNotFound : call(arguments...);
  }

  absl::Status Error(const char* function, int code) {
    const auto words = reinterpret_cast<const char* (*)(int)>(::dlsym(handle, "nvmlErrorString"));
    const std::string text = absl::StrCat(function, ": ", words == nullptr ? "error" : words(code),
                                          " (NVML ", code, ")");
    switch (code) {
      case abi::kNotSupported:
      case abi::kFunctionNotFound:
        return absl::UnimplementedError(text);
      case abi::kNoPermission:
        return absl::PermissionDeniedError(text);
      case abi::kNotFound:
        return absl::NotFoundError(text);
      case abi::kDriverNotLoaded:
      case abi::kGpuIsLost:
        return absl::UnavailableError(text);
      case abi::kVersionMismatch:
        return absl::FailedPreconditionError(
            absl::StrCat(text, "; the driver was changed without loading it again: reboot"));
      default:
        return absl::InternalError(text);
    }
  }

  template <typename... Arguments>
  absl::Status Ask(const char* function, Arguments... arguments) {
    const int code = Call(function, arguments...);
    return code == abi::kSuccess ? absl::OkStatus() : Error(function, code);
  }

  absl::StatusOr<abi::Device> Find(const std::string& uuid) {
    abi::Device device = nullptr;
    const absl::Status found = Ask("nvmlDeviceGetHandleByUUID", uuid.c_str(), &device);
    if (!found.ok()) return found;
    return device;
  }

  absl::StatusOr<GpuFacts> Facts(unsigned index);
};

absl::StatusOr<GpuFacts> Nvml::Library::Facts(unsigned index) {
  GpuFacts facts{.index = index};
  absl::Status failure;
  // False leaves the fact absent; any failure but "not supported" is kept.
  const auto has = [&failure](const absl::Status& status) {
    if (!status.ok() && !absl::IsUnimplemented(status)) failure.Update(status);
    return status.ok();
  };
  abi::Device device = nullptr;
  char text[kTextMax] = {};
  if (absl::Status s = Ask("nvmlDeviceGetHandleByIndex_v2", index, &device); !s.ok()) return s;
  if (absl::Status s = Ask("nvmlDeviceGetUUID", device, text, kTextMax); !s.ok()) return s;
  facts.uuid = text;
  if (has(Ask("nvmlDeviceGetName", device, text, kTextMax))) facts.name = text;
  abi::PciInfo pci{};
  if (has(Ask("nvmlDeviceGetPciInfo_v3", device, &pci))) facts.pci_bus_id = pci.bus_id;
  abi::MemoryV2 memory{};
  memory.version = abi::kMemoryVersion;
  if (has(Ask("nvmlDeviceGetMemoryInfo_v2", device, &memory))) {
    facts.memory = {.total_bytes = static_cast<int64_t>(memory.total),
                    .reserved_bytes = static_cast<int64_t>(memory.reserved)};
  }
  int major = 0;
  int minor = 0;
  if (has(Ask("nvmlDeviceGetCudaComputeCapability", device, &major, &minor))) {
    facts.compute_capability = {major, minor};
  }
  unsigned mig = 0;
  unsigned pending = 0;
  if (has(Ask("nvmlDeviceGetMigMode", device, &mig, &pending))) {
    facts.mig_enabled = mig == abi::kMigEnabled;
  }
  int virtualization = 0;
  if (has(Ask("nvmlDeviceGetVirtualizationMode", device, &virtualization))) {
    facts.is_vgpu = virtualization == abi::kVgpuGuest;
  }
  if (!failure.ok()) return failure;
  return facts;
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

absl::StatusOr<std::shared_ptr<Nvml>> Nvml::Load(const std::string& library) {
  auto loaded = std::make_unique<Library>();
  loaded->handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded->handle == nullptr) {
    return absl::NotFoundError(absl::StrCat("no NVIDIA driver: ", ::dlerror()));
  }
  if (absl::Status started = loaded->Ask<>("nvmlInit_v2"); !started.ok()) return started;
  loaded->started = true;
  return std::shared_ptr<Nvml>(new Nvml(std::move(loaded)));
}

absl::StatusOr<std::string> Nvml::DriverVersion() {
  char text[kTextMax] = {};
  const absl::Status asked = library_->Ask("nvmlSystemGetDriverVersion", text, kTextMax);
  if (!asked.ok()) return asked;
  return std::string(text);
}

absl::StatusOr<std::vector<GpuFacts>> Nvml::Gpus() {
  unsigned count = 0;
  if (absl::Status s = library_->Ask("nvmlDeviceGetCount_v2", &count); !s.ok()) return s;
  std::vector<GpuFacts> gpus;
  for (unsigned i = 0; i < count; ++i) {
    absl::StatusOr<GpuFacts> facts = library_->Facts(i);
    if (!facts.ok()) return facts.status();
    gpus.push_back(*std::move(facts));
  }
  return gpus;
}

absl::StatusOr<ComputeMode> Nvml::GetComputeMode(const std::string& uuid) {
  const absl::StatusOr<abi::Device> device = library_->Find(uuid);
  if (!device.ok()) return device.status();
  int mode = 0;
  const absl::Status asked = library_->Ask("nvmlDeviceGetComputeMode", *device, &mode);
  if (!asked.ok()) return asked;
  if (mode < 0 || mode > static_cast<int>(ComputeMode::kExclusiveProcess)) {
    return absl::InternalError(absl::StrCat("NVML gave the unknown compute mode ", mode));
  }
  return static_cast<ComputeMode>(mode);  // The same numbers, in the same order.
}

absl::Status Nvml::SetComputeMode(const std::string& uuid, ComputeMode mode) {
  const absl::StatusOr<abi::Device> device = library_->Find(uuid);
  if (!device.ok()) return device.status();
  return library_->Ask("nvmlDeviceSetComputeMode", *device, static_cast<int>(mode));
}

absl::StatusOr<std::vector<ComputeProcess>> Nvml::ComputeProcesses(const std::string& uuid) {
  constexpr char kFunction[] = "nvmlDeviceGetComputeRunningProcesses_v3";
  const absl::StatusOr<abi::Device> device = library_->Find(uuid);
  if (!device.ok()) return device.status();
  unsigned count = kProcessesSpare;
  for (int i = 0; i < kProcessTries; ++i) {
    std::vector<abi::ProcessInfo> found(count);
    const int code = library_->Call(kFunction, *device, &count, found.data());
    if (code == abi::kInsufficientSize) {
      count += kProcessesSpare;
      continue;
    }
    if (code != abi::kSuccess) return library_->Error(kFunction, code);
    std::vector<ComputeProcess> processes;
    for (unsigned j = 0; j < count; ++j) {
      ComputeProcess process{.pid = found[j].pid};
      if (found[j].used_bytes != abi::kValueNotAvailable) {
        process.used_bytes = static_cast<int64_t>(found[j].used_bytes);
      }
      processes.push_back(process);
    }
    return processes;
  }
  return absl::UnavailableError("the list of the GPU's processes grows too fast to be read");
}

}  // namespace berth::agent

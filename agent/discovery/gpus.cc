#include "agent/discovery/gpus.h"

#include <dlfcn.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace berth::agent {

namespace {

constexpr int64_t kSimulatedGpusMax = 64;
constexpr int64_t kGpuMemoryMibMax = 4 * 1024 * 1024;
constexpr size_t kShortIdBytes = 8;

bool HasNvidiaDriver() {
  if (::access("/dev/nvidiactl", F_OK) == 0) return true;
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return false;
  ::dlclose(library);
  return true;
}

}  // namespace

absl::StatusOr<GpuOption> ParseGpuOption(std::string_view text) {
  constexpr std::string_view kSimulated = "simulated:";
  if (text == "auto") return GpuOption{.kind = GpuOption::Kind::kAuto};
  if (text == "none") return GpuOption{.kind = GpuOption::Kind::kNone};
  const absl::Status malformed = absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\" should be auto, none, or simulated:NxMIB, such as simulated:2x22587 for "
      "2 GPUs (1 to %d) of 22587 MiB each (1 to %d)",
      text, kSimulatedGpusMax, kGpuMemoryMibMax));
  if (!text.starts_with(kSimulated)) return malformed;
  const std::string_view figures = text.substr(kSimulated.size());
  const size_t x = figures.find('x');
  if (x == std::string_view::npos) return malformed;
  GpuOption option{.kind = GpuOption::Kind::kSimulated};
  if (!absl::SimpleAtoi(std::string(figures.substr(0, x)), &option.count) ||
      !absl::SimpleAtoi(std::string(figures.substr(x + 1)), &option.memory_mib)) {
    return malformed;
  }
  if (option.count < 1 || option.count > kSimulatedGpusMax || option.memory_mib < 1 ||
      option.memory_mib > kGpuMemoryMibMax) {
    return malformed;
  }
  return option;
}

GpuInventory DiscoverGpus(const GpuOption& option, std::string_view agent_id) {
  GpuInventory inventory;
  switch (option.kind) {
    case GpuOption::Kind::kNone:
      break;
    case GpuOption::Kind::kAuto:
      if (HasNvidiaDriver()) {
        spdlog::warn(
            "an NVIDIA driver is on this machine, but this version does not drive real GPUs yet: "
            "none is registered (--gpus none says so without this warning)");
      }
      break;
    case GpuOption::Kind::kSimulated:
      for (int64_t i = 0; i < option.count; ++i) {
        inventory.gpus.push_back(
            {.id = {absl::StrFormat("GPU-simulated-%s-%d", agent_id.substr(0, kShortIdBytes), i)},
             .memory_mib = option.memory_mib});
      }
      inventory.can_share = true;
      break;
  }
  return inventory;
}

}  // namespace berth::agent

// A libnvidia-ml.so.1 for machines without a GPU. It reads the file named in FAKE_NVML at each
// call, so that a test may change the machine while it is looked at. One fact a line:
//   gpu UUID TOTAL_BYTES RESERVED_BYTES MAJOR MINOR MIG VIRTUALIZATION
//   process UUID PID BYTES          ("-" for bytes that the driver does not tell)
//   fail FUNCTION CODE              what that function returns
//   mode UUID NUMBER                written by nvmlDeviceSetComputeMode
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "agent/nvidia/nvml_abi.h"

namespace abi = berth::agent::nvml_abi;

namespace {

using Words = std::vector<std::string>;

std::string Path() {
  const char* path = std::getenv("FAKE_NVML");
  return path == nullptr ? "" : path;
}

std::vector<Words> Lines(const std::string& kind) {
  std::vector<Words> lines;
  std::ifstream file(Path());
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    if (!words.empty() && words[0] == kind) lines.push_back(words);
  }
  return lines;
}

int Failure(const char* function) {
  for (const Words& line : Lines("fail")) {
    if (line[1] == function) return std::stoi(line[2]);
  }
  return abi::kSuccess;
}

// A handle is the device's place plus one.
abi::Device Handle(size_t place) { return reinterpret_cast<abi::Device>(place + 1); }
Words Gpu(abi::Device device) { return Lines("gpu").at(reinterpret_cast<size_t>(device) - 1); }

int Copy(const std::string& text, char* out, unsigned size) {
  if (text.size() >= size) return abi::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return abi::kSuccess;
}

}  // namespace

#define FAIL_AS_TOLD() \
  if (const int code = Failure(__func__); code != abi::kSuccess) return code

extern "C" {

int nvmlInit_v2() {
  FAIL_AS_TOLD();
  return abi::kSuccess;
}
int nvmlShutdown() { return abi::kSuccess; }
const char* nvmlErrorString(int code) {
  switch (code) {
    case abi::kDriverNotLoaded:
      return "Driver Not Loaded";
    case abi::kVersionMismatch:
      return "Driver/library version mismatch";
    case abi::kGpuIsLost:
      return "GPU is lost";
    default:
      return "some error";
  }
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  FAIL_AS_TOLD();
  return Copy("550.163.01", out, size);
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  FAIL_AS_TOLD();
  *count = static_cast<unsigned>(Lines("gpu").size());
  return abi::kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, abi::Device* device) {
  FAIL_AS_TOLD();
  *device = Handle(index);
  return abi::kSuccess;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, abi::Device* device) {
  FAIL_AS_TOLD();
  const std::vector<Words> gpus = Lines("gpu");
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i][1] != uuid) continue;
    *device = Handle(i);
    return abi::kSuccess;
  }
  return abi::kNotFound;
}
int nvmlDeviceGetUUID(abi::Device device, char* out, unsigned size) {
  FAIL_AS_TOLD();
  return Copy(Gpu(device)[1], out, size);
}
int nvmlDeviceGetName(abi::Device, char* out, unsigned size) {
  FAIL_AS_TOLD();
  return Copy("NVIDIA L4", out, size);
}
int nvmlDeviceGetPciInfo_v3(abi::Device, abi::PciInfo* pci) {
  FAIL_AS_TOLD();
  return Copy("00000000:3B:00.0", pci->bus_id, sizeof pci->bus_id);
}
int nvmlDeviceGetMemoryInfo_v2(abi::Device device, abi::MemoryV2* memory) {
  FAIL_AS_TOLD();
  if (memory->version != abi::kMemoryVersion) return 25;  // ARGUMENT_VERSION_MISMATCH
  memory->total = std::stoull(Gpu(device)[2]);
  memory->reserved = std::stoull(Gpu(device)[3]);
  return abi::kSuccess;
}
int nvmlDeviceGetCudaComputeCapability(abi::Device device, int* major, int* minor) {
  FAIL_AS_TOLD();
  *major = std::stoi(Gpu(device)[4]);
  *minor = std::stoi(Gpu(device)[5]);
  return abi::kSuccess;
}
int nvmlDeviceGetMigMode(abi::Device device, unsigned* current, unsigned* pending) {
  FAIL_AS_TOLD();
  *current = *pending = static_cast<unsigned>(std::stoul(Gpu(device)[6]));
  return abi::kSuccess;
}
int nvmlDeviceGetVirtualizationMode(abi::Device device, int* mode) {
  FAIL_AS_TOLD();
  *mode = std::stoi(Gpu(device)[7]);
  return abi::kSuccess;
}
int nvmlDeviceGetComputeMode(abi::Device device, int* mode) {
  FAIL_AS_TOLD();
  *mode = 0;
  for (const Words& line : Lines("mode")) {
    if (line[1] == Gpu(device)[1]) *mode = std::stoi(line[2]);  // The last one counts.
  }
  return abi::kSuccess;
}
int nvmlDeviceSetComputeMode(abi::Device device, int mode) {
  FAIL_AS_TOLD();
  const std::string uuid = Gpu(device)[1];
  std::ofstream(Path(), std::ios::app) << "mode " << uuid << ' ' << mode << '\n';
  return abi::kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(abi::Device device, unsigned* count,
                                            abi::ProcessInfo* out) {
  FAIL_AS_TOLD();
  std::vector<Words> mine;
  for (const Words& line : Lines("process")) {
    if (line[1] == Gpu(device)[1]) mine.push_back(line);
  }
  const bool fits = mine.size() <= *count;
  *count = static_cast<unsigned>(mine.size());
  if (!fits) return abi::kInsufficientSize;
  for (size_t i = 0; i < mine.size(); ++i) {
    out[i].pid = static_cast<unsigned>(std::stoul(mine[i][2]));
    out[i].used_bytes = mine[i][3] == "-" ? abi::kValueNotAvailable : std::stoull(mine[i][3]);
  }
  return abi::kSuccess;
}

}  // extern "C"

// The part of NVML's public C ABI that is used, so that no header of NVIDIA's is needed.
#pragma once

#include <cstdint>

namespace berth::agent::nvml_abi {

using Device = void*;

enum Return : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kVersionMismatch = 18,
};

struct MemoryV2 {
  unsigned version;
  uint64_t total;
  uint64_t reserved;
  uint64_t free;
  uint64_t used;
};
constexpr unsigned kMemoryVersion = sizeof(MemoryV2) | 2U << 24U;

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

struct ProcessInfo {
  unsigned pid;
  uint64_t used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr uint64_t kValueNotAvailable = ~uint64_t{0};

static_assert(sizeof(MemoryV2) == 40 && sizeof(PciInfo) == 68 && sizeof(ProcessInfo) == 24);

constexpr int kVgpuGuest = 2;
constexpr unsigned kMigEnabled = 1;

}  // namespace berth::agent::nvml_abi

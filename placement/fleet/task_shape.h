// What a task asks of a node, in integers alone: what the placement engine sees of it.
//
// Units are the caller's, the same for tasks and nodes: CPU units or 1/1000 of a core; MiB of
// memory; for a device's share MiB of its memory (the server) or 1/1000 of the device (the trace).
// With MiB, devices may differ in size: a shape of 8000 fits where 8000 are left, whatever the
// device's total, and a whole device is one that nobody uses, of any size.
#pragma once

#include <cstdint>
#include <utility>

namespace berth::placement {

// Models (or classes) of nodes are numbered 0..63, and what a task accepts is a set of them.
inline constexpr int kModelsMax = 64;
inline constexpr uint64_t kAnyModel = ~uint64_t{0};

enum class GpuNeed : uint8_t {
  kNone,
  kShared,  // units on one device
  kWhole,   // devices that nobody uses
  kAll,     // all devices of a node, none of which anybody uses
};

struct TaskShape {
  int64_t cpu = 0;
  int64_t memory = 0;
  GpuNeed gpu = GpuNeed::kNone;
  int32_t units = 0;    // kShared: at least 1
  int32_t devices = 0;  // kWhole: at least 1
  uint64_t models = kAnyModel;

  bool Accepts(int model) const { return (models >> model & 1) != 0; }
  bool operator==(const TaskShape&) const = default;

  template <class H>
  friend H AbslHashValue(H h, const TaskShape& s) {
    return H::combine(std::move(h), s.cpu, s.memory, static_cast<int>(s.gpu), s.units, s.devices,
                      s.models);
  }
};

// A shape that a Fleet knows by number.
using ShapeId = int32_t;

}  // namespace berth::placement

// One node of a Fleet as policies see it: what is left of it, in the units of task_shape.h.
#pragma once

#include <cstdint>
#include <span>

#include "placement/fleet/task_shape.h"

namespace berth::placement {

// A node's devices are numbered from 0; a set of them is a word of bits.
inline constexpr int kDevicesMax = 32;
using DeviceSet = uint64_t;

struct DeviceState {
  static constexpr int32_t kTakenWhole = -1;

  int32_t left = 0;   // 0 while a task has the whole device
  int32_t total = 0;  // 0: cannot be shared
  int32_t tasks = 0;  // that share it, or kTakenWhole

  bool IsIdle() const { return tasks == 0; }
  bool operator==(const DeviceState&) const = default;
};

// A device as far as scores go, in one word: what is left, its total, whether it is idle. The words
// of a node's devices in order are its devices without their numbers.
using DeviceWord = uint64_t;

inline DeviceWord ToWord(const DeviceState& device) {
  return static_cast<DeviceWord>(static_cast<uint32_t>(device.left)) << 32 |
         static_cast<DeviceWord>(device.total) << 1 | (device.IsIdle() ? 1 : 0);
}

// One that is in use has one task.
inline DeviceState FromWord(DeviceWord word) {
  return {.left = static_cast<int32_t>(word >> 32),
          .total = static_cast<int32_t>(word >> 1 & 0x7FFFFFFF),
          .tasks = (word & 1) != 0 ? 0 : 1};
}

// What is left may be negative where a node has come back with less than its tasks hold.
struct NodeState {
  int64_t cpu_left = 0;
  int64_t memory_left = 0;
  int64_t cpu_total = 0;
  int32_t tasks_left = 0;
  uint8_t model = 0;
  bool present = false;  // false: the slot is free
  bool eligible = false;
  uint8_t devices = 0;

  // Upkept by Fleet.
  uint8_t idle_devices = 0;
  int32_t largest_left = 0;  // of its devices; 0 without any
  int64_t units_left = 0;    // over its devices
  int32_t total_each = 0;    // of its devices, where all are alike; else 0
  // What kinds of tasks with GPUs are here: bit 0 tasks that share, bit k tasks with k devices.
  uint64_t kinds = 0;
};

// Valid until the fleet changes.
struct NodeView {
  int32_t slot = 0;
  const NodeState& node;
  std::span<const DeviceState> devices;
};

// How many whole devices the shape would get of this node.
inline int DevicesAsked(const TaskShape& shape, const NodeState& node) {
  if (shape.gpu == GpuNeed::kWhole) return shape.devices;
  return shape.gpu == GpuNeed::kAll ? node.devices : 0;
}

// The memory that a task may find there: less than any asks for where none may come.
inline int64_t OpenMemory(const NodeState& node) {
  return node.eligible && node.tasks_left >= 1 ? node.memory_left : -1;
}

inline bool IsFeasible(const NodeState& node, const TaskShape& shape) {
  if (OpenMemory(node) < shape.memory || node.cpu_left < shape.cpu || !shape.Accepts(node.model)) {
    return false;
  }
  switch (shape.gpu) {
    case GpuNeed::kNone:
      return true;
    case GpuNeed::kShared:
      return node.largest_left >= shape.units;
    case GpuNeed::kWhole:
      return node.idle_devices >= shape.devices;
    case GpuNeed::kAll:
      return node.devices > 0 && node.idle_devices == node.devices;
  }
  return false;
}

}  // namespace berth::placement

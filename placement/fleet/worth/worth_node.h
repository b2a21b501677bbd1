// A node as `worth` keeps it, and the kinds of devices that a fleet has.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "placement/fleet/node.h"

namespace berth::placement {

// A device's remainder is counted in cells of a hundredth of its kind for the price tables.
inline constexpr int kCells = 100;
// Kinds of devices that are told apart, by their size; of more, the rest count as the nearest
// smaller one, or as the smallest.
inline constexpr int kDeviceKindsMax = 16;

class DeviceKinds {
 public:
  // Devices that cannot be shared (total 0) make none, and count as the smallest.
  void Add(int32_t total);
  int KindOf(int32_t total) const;
  int size() const { return static_cast<int>(totals_.size()); }
  int32_t total(int kind) const { return totals_[kind]; }
  int32_t smallest() const { return totals_.front(); }

 private:
  std::vector<int32_t> totals_ = {};  // ascending
};

struct WorthNode {
  bool present = false;
  uint8_t model = 0;
  uint8_t devices = 0;
  int64_t cpu_left = 0;
  int64_t cpu_total = 0;
  std::array<int32_t, kDevicesMax> totals = {};
  std::array<int32_t, kDevicesMax> left = {};
  uint32_t idle = 0;  // one bit a device

  bool IsIdle(int device) const { return (idle >> device & 1) != 0; }
  // In the units of its kind: a device that cannot be shared has all or nothing.
  int32_t LeftOf(int device, const DeviceKinds& kinds) const {
    if (totals[device] > 0) return left[device];
    return IsIdle(device) ? kinds.smallest() : 0;
  }
};

WorthNode ToWorthNode(const NodeView& view);

inline int CellsOf(int64_t left, int32_t total) {
  return static_cast<int>(std::min<int64_t>(kCells, left * kCells / total));
}

}  // namespace berth::placement

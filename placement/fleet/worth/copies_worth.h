// What the copies that a node could hold alone are worth, over all demand classes: the T of
// docs/placement.md.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "placement/fleet/worth/demand_classes.h"

namespace berth::placement {

class CopiesWorth {
 public:
  static constexpr size_t kClassesMax = 24;
  using ByClass = std::array<int32_t, kClassesMax>;
  // Of more CPU a node counts as having this.
  static constexpr int64_t kCpuMax = (int64_t{1} << 24) - 1;

  CopiesWorth() = default;
  // Of at most kClassesMax classes; weights[i] is what a copy of classes[i] is worth.
  CopiesWorth(const std::vector<DemandClass>& classes, const std::vector<int64_t>& weights);

  // `copies`, less, and more: how many of each class the devices could hold; of a class of several
  // devices, how many devices would do. Copies that the devices could hold but the CPU could not
  // count against the node.
  int64_t Of(const ByClass& copies, const ByClass& less, const ByClass& more,
             int64_t cpu_left) const;

 private:
  alignas(64) ByClass weights_ = {};
  alignas(64) ByClass cpu_ = {};
  alignas(64) std::array<float, kClassesMax> inverse_cpu_ = {};
  // Copies that need no CPU.
  alignas(64) ByClass free_ = {};
  // 65536 / devices, rounded up; what lacks CPU counts once against the node for one device, not
  // at all for several.
  alignas(64) std::array<uint32_t, kClassesMax> inverse_devices_ = {};
  alignas(64) ByClass single_ = {};  // all bits: asks for one device
};

}  // namespace berth::placement

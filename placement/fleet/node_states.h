// Which nodes are alike in all that a score may depend on: the CPU left, the devices in any order,
// the model, and the kinds of tasks there. Equal nodes have one number, so that what a policy made
// of one of them holds for all, also for those that will be alike later.
//
// Numbers are dense, from 0 on. None is forgotten but by Clear: there are as many as different
// nodes have been seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "placement/fleet/node.h"

namespace berth::placement {

using NodeStateId = int32_t;

class NodeStates {
 public:
  NodeStates() { Clear(); }

  // `devices` in ascending order.
  NodeStateId Of(const NodeState& node, std::span<const DeviceWord> devices);
  // All numbers are given anew.
  void Clear();

  int32_t size() const { return static_cast<int32_t>(states_.size()); }
  int model(NodeStateId id) const { return states_[id].model; }
  // Valid until the next new state.
  std::span<const DeviceWord> devices(NodeStateId id) const {
    return {devices_.data() + states_[id].first_device, states_[id].devices};
  }
  int64_t bytes() const;  // of memory held

 private:
  struct State {
    uint64_t hash = 0;
    int64_t cpu_left = 0;
    uint64_t kinds = 0;
    uint32_t first_device = 0;  // in devices_
    uint8_t devices = 0;
    uint8_t model = 0;
  };

  bool Is(const State& state, uint64_t hash, const NodeState& node,
          std::span<const DeviceWord> devices) const;
  void Rehash(size_t buckets);

  std::vector<State> states_ = {};
  std::vector<DeviceWord> devices_ = {};  // of all states, one after the other
  // An open hash table of states; kEmpty where there is none.
  static constexpr NodeStateId kEmpty = -1;
  std::vector<NodeStateId> buckets_ = {};
};

}  // namespace berth::placement

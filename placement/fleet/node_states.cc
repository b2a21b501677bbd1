#include "placement/fleet/node_states.h"

#include <algorithm>

namespace berth::placement {
namespace {

constexpr size_t kBucketsMin = 1024;

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
  return hash ^ hash >> 32;
}

}  // namespace

void NodeStates::Clear() {
  states_.clear();
  devices_.clear();
  buckets_.assign(std::max(kBucketsMin, buckets_.size()), kEmpty);
}

NodeStateId NodeStates::Of(const NodeState& node, std::span<const DeviceWord> devices) {
  uint64_t hash = Mix(Mix(node.model, static_cast<uint64_t>(node.cpu_left)), node.kinds);
  for (const DeviceWord word : devices) hash = Mix(hash, word);
  size_t bucket = hash & (buckets_.size() - 1);
  for (; buckets_[bucket] != kEmpty; bucket = (bucket + 1) & (buckets_.size() - 1)) {
    if (Is(states_[buckets_[bucket]], hash, node, devices)) return buckets_[bucket];
  }
  const NodeStateId id = size();
  states_.push_back({.hash = hash,
                     .cpu_left = node.cpu_left,
                     .kinds = node.kinds,
                     .first_device = static_cast<uint32_t>(devices_.size()),
                     .devices = static_cast<uint8_t>(devices.size()),
                     .model = node.model});
  devices_.insert(devices_.end(), devices.begin(), devices.end());
  buckets_[bucket] = id;
  if (states_.size() * 2 > buckets_.size()) Rehash(buckets_.size() * 2);
  return id;
}

bool NodeStates::Is(const State& state, uint64_t hash, const NodeState& node,
                    std::span<const DeviceWord> devices) const {
  return state.hash == hash && state.cpu_left == node.cpu_left && state.kinds == node.kinds &&
         state.model == node.model && state.devices == devices.size() &&
         std::equal(devices.begin(), devices.end(), devices_.begin() + state.first_device);
}

void NodeStates::Rehash(size_t buckets) {
  buckets_.assign(buckets, kEmpty);
  for (NodeStateId id = 0; id < size(); ++id) {
    size_t bucket = states_[id].hash & (buckets - 1);
    while (buckets_[bucket] != kEmpty) bucket = (bucket + 1) & (buckets - 1);
    buckets_[bucket] = id;
  }
}

int64_t NodeStates::bytes() const {
  return static_cast<int64_t>(states_.capacity() * sizeof(State) +
                              devices_.capacity() * sizeof(DeviceWord) +
                              buckets_.capacity() * sizeof(NodeStateId));
}

}  // namespace berth::placement

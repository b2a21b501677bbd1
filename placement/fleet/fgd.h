// Fragmentation gradient descent: the placement that lowers the fragmentation of its node most, or
// raises it least. Weng et al., USENIX ATC 2023; docs/placement.md has the formula.
//
// Fragmentation depends on the multiset of the devices and on which typical tasks the CPU left
// suffices for. Nodes equal in both share the work: equal multisets are one *profile*, interned,
// with its fragmentation for every class of CPU left; and what a shape makes of a profile is
// remembered as its *steps*.
//
// Scores come from integers, the weights being counts. They are exact, but for changes so near a
// border between two scores that the rounding of the published doubles decides, which is to say
// changes of 0; those come from the doubles of fragmentation.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/node_states.h"

namespace berth::placement {

// floor(100 / (1 + exp(-x))), where x is the fragmentation that a placement removes, in devices.
class SigmoidScore {
 public:
  struct Result {
    int64_t score = 0;            // 0..100
    bool is_near_border = false;  // an error of kError in x could have changed it
  };
  static constexpr double kError = 1e-9;

  SigmoidScore();
  Result Of(double x) const;

 private:
  // Between -kRange and kRange a score is looked up by x, in cells so narrow that few hold a
  // border.
  static constexpr double kRange = 8;
  static constexpr size_t kCells = 4096;

  // borders_[k]: the least double that scores k or more; an infinite one at either end.
  std::array<double, 102> borders_ = {};
  std::array<uint8_t, kCells> first_in_cell_ = {};  // how many borders are below the cell
};

class Fgd : public GpuPolicy {
 public:
  // Profiles and steps remembered at most. Beyond, all are forgotten but what the nodes are in.
  static constexpr int32_t kProfilesMax = 1 << 18;
  static constexpr size_t kStepsMax = size_t{1} << 22;

  explicit Fgd(const GpuPolicyInputs& inputs);

  int64_t Score(const NodeView& view, ShapeId id, const TaskShape& shape) override;
  DeviceSet ChooseDevices(const NodeView& view, ShapeId id, const TaskShape& shape) override;
  bool is_costly() const override { return true; }
  void NodeChanged(const NodeView& view) override;

 private:
  using ProfileId = NodeStateId;

  struct Node {
    ProfileId profile = -1;  // not looked at since it changed
    int32_t cpu_class = 0;
  };
  struct Step {
    ProfileId after = 0;
    DeviceWord taken = 0;  // kShared: the device
  };
  struct Steps {
    uint32_t begin = 0;
    uint32_t count = 0;
  };
  // When a typical task begins to count: from this class of CPU left on.
  struct Weight {
    TaskShape shape = {};
    int64_t count = 0;
    int32_t cpu_class = 0;
  };

  // Devices by value, in ascending order of their words.
  struct Devices {
    explicit Devices(std::span<const DeviceWord> words);
    std::span<const DeviceState> all() const { return {states.data(), count}; }

    size_t count = 0;
    std::array<DeviceState, kDevicesMax> states = {};
  };

  int32_t CpuClass(int64_t cpu_left) const;
  ProfileId Intern(int model, std::span<const DeviceWord> words);
  Node NodeOf(const NodeView& view);
  int64_t* TableOf(ProfileId id) {
    return tables_[static_cast<size_t>(id) / kTablesPerChunk].get() +
           static_cast<size_t>(id) % kTablesPerChunk * classes_;
  }
  void FillTable(ProfileId id);
  std::span<const Step> StepsFrom(ProfileId id, const TaskShape& shape);
  void AddStep(ProfileId before, DeviceSet taken, const TaskShape& shape);
  int64_t ScoreStep(const Node& node, ProfileId after, int32_t cpu_class_after);
  double Exactly(ProfileId id, int32_t cpu_class);
  void Forget();

  const TaskMix mix_;
  const double device_units_;
  const double devices_per_weight_;  // makes devices of weighed units
  const SigmoidScore sigmoid_ = {};
  std::vector<int64_t> cpu_borders_ = {};  // what typical tasks ask for, ascending
  std::vector<Weight> weights_ = {};
  size_t classes_ = 0;

  std::vector<Node> nodes_ = {};  // by slot
  NodeStates profiles_ = {};      // of nothing but devices and models
  // For each profile its fragmentation, weighed, by class of CPU left: classes_ of them.
  static constexpr size_t kTablesPerChunk = 256;
  std::vector<std::unique_ptr<int64_t[]>> tables_ = {};
  absl::flat_hash_map<uint64_t, Steps> steps_from_ = {};
  std::vector<Step> steps_ = {};
  absl::flat_hash_map<uint64_t, double> exact_ = {};
};

}  // namespace berth::placement

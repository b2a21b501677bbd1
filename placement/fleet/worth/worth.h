// Berth's own policy. Every node has a worth, and a task goes where the least of it is lost.
//
// A node's worth is what its device remainders and its CPU could earn if they were filled as well
// as possible with copies of the classes that recent tasks were of, at the prices of prices.h; plus
// a small count of the copies that it could still hold, which breaks ties; times the rent of its
// model (model_rents.h). Formula, constants, and what else was tried: docs/placement.md.
//
// The classes are learned from the tasks that come, or known beforehand.
//
// Prices, classes and rents change only when enough tasks have come since; in between a score
// depends on the node alone. Memory decides whether a task fits, and is worth nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/worth/copies_worth.h"
#include "placement/fleet/worth/demand_classes.h"
#include "placement/fleet/worth/model_rents.h"
#include "placement/fleet/worth/prices.h"
#include "placement/fleet/worth/worth_node.h"

namespace berth::placement {

class Worth : public GpuPolicy {
 public:
  // Prices are made anew after so many tasks, then whenever twice as many more have come, but at
  // least whenever so many more, or as many as there are nodes, have.
  static constexpr int64_t kFirstRefresh = 8;
  static constexpr int64_t kRefreshGrowth = 2;
  static constexpr int64_t kRefreshStepMax = 3000;
  // Device parts kept at most; beyond, all are forgotten.
  static constexpr size_t kDevicePartsMax = 1 << 14;
  // Of the copies against what the prices say, in thousandths.
  static constexpr int64_t kCopiesWeight = 30;

  // `known_mix`: what tasks will ask for; when it is empty, what they asked for so far counts.
  explicit Worth(std::vector<CountedShape> known_mix = {});

  int64_t Score(const NodeView& view, ShapeId id, const TaskShape& shape) override;
  DeviceSet ChooseDevices(const NodeView& view, ShapeId id, const TaskShape& shape) override;
  bool is_costly() const override { return true; }
  void NodeChanged(const NodeView& view) override;
  void TaskArrived(ShapeId id, const TaskShape& shape) override;
  uint64_t epoch() const override { return epoch_; }

 private:
  // What devices make of the worth of a node: what they earn at each price of CPU, and how many
  // copies of each class they hold; of a class of several devices, how many devices would do.
  struct Parts {
    std::array<int64_t, kCpuPrices> earns = {};
    CopiesWorth::ByClass copies = {};

    void Add(const Parts& other);
    void Subtract(const Parts& other);
  };
  using PartsId = int32_t;
  // What a node is worth, as of an epoch; 0: not yet, or no more.
  struct Valuation {
    uint64_t epoch = 0;
    int64_t worth = 0;
    Parts parts = {};
    std::array<PartsId, kDevicesMax> of_device = {};
    std::array<uint8_t, kDevicesMax> kinds = {};  // of the devices
  };
  struct Best {
    int64_t score = 0;
    DeviceSet devices = 0;
  };

  void RefreshIfNever();
  void Refresh();
  void ForgetParts();
  const Parts& Nothing() const { return device_parts_.front(); }
  // What one device makes of the parts, kept from one refresh to the next.
  PartsId PartsOf(int kind, int32_t left, bool idle);
  // Of a node with these parts, less and more those of a device.
  int64_t WorthOf(const Parts& parts, const Parts& less, const Parts& more, int64_t cpu_left,
                  int model) const;
  const Valuation& Value(int32_t slot);
  void Revalue(int32_t slot, const WorthNode& before);
  Best Find(const NodeView& view, const TaskShape& shape);
  Best FindSharedDevice(int32_t slot, const TaskShape& shape);
  Best FindWholeDevices(const NodeView& view, const TaskShape& shape);

  const std::vector<CountedShape> known_mix_;
  DeviceKinds kinds_ = {};
  DemandClasses mix_ = {};
  Prices prices_ = {};
  std::array<int64_t, kModelsMax> rents_ = {};
  std::vector<DemandClass> classes_ = {};  // whose copies count
  CopiesWorth copies_worth_ = {};          // of the same classes
  std::vector<Parts> device_parts_ = {};
  absl::flat_hash_map<uint64_t, PartsId> parts_ids_ = {};  // by kind, what is left, and idleness

  int64_t tasks_ = 0;
  int64_t next_refresh_ = kFirstRefresh;
  uint64_t epoch_ = 0;  // 0: there are no prices yet

  std::vector<WorthNode> nodes_ = {};       // by slot
  std::vector<Valuation> valuations_ = {};  // likewise
};

}  // namespace berth::placement

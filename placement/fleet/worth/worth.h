// Berth's own policy. Every node has a worth, and a task goes where the least of it is lost.
//
// A node's worth is what its device remainders and its CPU could earn if they were filled as well
// as possible with copies of the classes that recent tasks were of, at the prices of prices.h; plus
// a small count of the copies that it could still hold, which breaks ties; times the rent of its
// model (model_rents.h). Formula, constants, and what else was tried: docs/placement.md.
//
// Prices, classes and rents change only when enough tasks have come since; in between a score
// depends on the node alone. Memory decides whether a task fits, and is worth nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/worth/demand_classes.h"
#include "placement/fleet/worth/model_rents.h"
#include "placement/fleet/worth/prices.h"
#include "placement/fleet/worth/worth_node.h"

namespace berth::placement {

class Worth : public GpuPolicy {
 public:
  // Prices are made anew after so many tasks, then whenever a quarter more have come, but at least
  // whenever so many more, or as many as there are nodes, have.
  static constexpr int64_t kFirstRefresh = 8;
  static constexpr int64_t kRefreshStepMax = 1000;
  // Of the copies against what the prices say, in thousandths.
  static constexpr int64_t kCopiesWeight = 30;

  // `known`: the mix is this, and is not learned; empty: it is learned from what comes.
  explicit Worth(const std::vector<CountedShape>& known);

  int64_t Score(const NodeView& view, ShapeId id, const TaskShape& shape) override;
  DeviceSet ChooseDevices(const NodeView& view, ShapeId id, const TaskShape& shape) override;
  void NodeChanged(const NodeView& view) override;
  void TaskArrived(ShapeId id, const TaskShape& shape) override;
  uint64_t epoch() const override { return epoch_; }

 private:
  // Classes that ask for the same of devices, and so share the count of what the devices hold.
  struct Group {
    int32_t devices = 1;
    int32_t units = 0;
    bool whole = false;
    size_t begin = 0;  // its classes, by CPU ascending
    size_t end = 0;
  };
  struct Class {
    int64_t cpu = 0;
    int64_t weight = 0;
  };
  // What the devices of a node make of its worth: what they earn at each price of CPU, and for each
  // group how many copies they hold; for groups of several devices, how many devices would do.
  struct Parts {
    std::array<int64_t, kCpuPrices> earns = {};
    std::vector<int32_t> copies = {};
  };
  struct Best {
    int64_t score = 0;
    DeviceSet devices = 0;
  };

  void RefreshIfNever();
  void Refresh();
  void MakeGroups(const std::vector<DemandClass>& classes);
  // Adds what a device makes of the parts, or takes it away: sign 1 or -1.
  void AddDevice(int kind, int32_t left, bool idle, int sign, Parts& parts) const;
  int64_t WorthOf(const Parts& parts, int64_t cpu_left, int model) const;
  void Recompute(int32_t slot);
  Best Find(const NodeView& view, const TaskShape& shape);
  Best FindSharedDevice(int32_t slot, const TaskShape& shape);

  const std::vector<CountedShape> known_;
  DeviceKinds kinds_ = {};
  DemandClasses mix_ = {};
  Prices prices_ = {};
  std::array<int64_t, kModelsMax> rents_ = {};
  std::vector<Group> groups_ = {};
  std::vector<Class> classes_ = {};

  int64_t tasks_ = 0;
  int64_t next_refresh_ = kFirstRefresh;
  uint64_t epoch_ = 0;  // 0: there are no prices yet

  // By slot. Parts and worth as of `computed_`, an epoch; 0: not yet, or no more.
  std::vector<WorthNode> nodes_ = {};
  std::vector<Parts> parts_ = {};
  std::vector<int64_t> worths_ = {};
  std::vector<uint64_t> computed_ = {};
  Parts after_ = {};  // kept for its memory
};

}  // namespace berth::placement

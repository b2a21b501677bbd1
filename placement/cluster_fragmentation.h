// How fragmented a cluster's GPU memory is: how much of what is idle a random task of the recent
// mix could not use (fleet/fragmentation.h), over all its container instances.
//
// Kept step by step: reading it costs what changed since it was last read. The mix is of the tasks
// that were placed lately; it is taken anew in steps, after twice as many placements as the last
// time and then every kMixStep of them, and only then are all instances looked at again.
//
// Only instances that may take tasks (ACTIVE, connected, healthy) count, for what is fragmented and
// for what is idle: what is left on the others is of no use to any task, and comes back unchanged
// with the agent. In `placement`'s units: MiB of GPU memory, CPU units. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "placement/fleet/task_mix.h"
#include "placement/fragmentation_figures.h"
#include "placement/inventory.h"

namespace berth::placement {

// One instance of those that are fragmented, with its devices.
struct FragmentedInstance {
  model::InstanceId instance = {};
  FragmentationFigures figures = {};
  struct Device {
    model::GpuId id = {};
    FragmentationFigures figures = {};
  };
  std::vector<Device> devices = {};  // in registered order
};

class ClusterFragmentation {
 public:
  static constexpr int64_t kMixStep = 1024;
  // So many shapes, the most frequent, stand for the mix: each is tried on each instance.
  static constexpr int64_t kTypicalShapesMax = 64;

  // A task was placed, or is remembered to have been.
  void Note(const Reservation& reservation);

  // Of the same inventory each time.
  FragmentationFigures Read(const Inventory& inventory);
  // Those with the most, the most first, at most so many; of equal ones the lowest id first. O(all
  // instances).
  std::vector<FragmentedInstance> Worst(const Inventory& inventory, int64_t instances_max);

  // As of the last Read.
  const TaskMix& mix() const { return mix_; }

 private:
  void RefreshMix();
  void Redo(const Inventory& inventory, int32_t slot);

  ArrivalMix arrivals_ = {};
  int64_t noted_ = 0;
  int64_t noted_at_refresh_ = 0;
  TaskMix mix_ = {};
  uint64_t seen_ = 0;  // of the inventory's change log; ChangeLog::kNever
  std::vector<FragmentationFigures> by_slot_ = {};
  FragmentationFigures all_ = {};
};

}  // namespace berth::placement

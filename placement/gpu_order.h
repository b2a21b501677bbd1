// The order that a cluster's GPU policy gives its instances, and the GPUs that it gives tasks.
//
// It owns the policy (fleet/gpu_policy.h), shows it each instance as a node, once for each change
// and when somebody next asks, and tells it of tasks that come. Where the cluster's policy is
// `tightest` it does nothing: place.h's own order holds. Part of Inventory::Impl; inside placement/
// only.
//
// Everything that it answers holds until `epoch` changes: then scores have changed that no change
// of an instance explains (another policy, another mix, other prices), and what was kept of them is
// void. Only then does anything here look at every instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/assign.h"
#include "placement/change_log.h"
#include "placement/cluster_gpu_policy.h"
#include "placement/demand.h"
#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/task_mix.h"
#include "placement/instance_node.h"
#include "placement/inventory.h"

namespace berth::placement {

class GpuOrder {
 public:
  // The mix that fgd measures by is learned from the tasks that come: taken after so many, then
  // whenever a quarter more have come, but at least whenever so many more, or as many as there are
  // instances, have.
  static constexpr int64_t kFirstMix = 8;
  static constexpr int64_t kMixStepMax = 1000;
  // So many shapes, the most frequent, stand for the mix.
  static constexpr size_t kMixShapesMax = 64;
  // What an instance scores that no policy sees, since it has more than kDevicesMax GPUs: it goes
  // last.
  static constexpr int64_t kUnseen = INT64_MIN + 1;

  // The old one and all that it learned are gone.
  void Set(ClusterGpuPolicy policy);
  ClusterGpuPolicy policy() const { return set_; }
  // Whether there is a policy to ask; without, nothing below may be asked but `epoch`.
  bool active() const { return set_.kind.has_value(); }
  // Whether it draws among the instances with room.
  bool draws() const { return set_.kind == GpuPolicyKind::kRandom; }

  // A task came, wherever it will go.
  void NoteArrival(const TaskShape& shape, const Inventory::Impl& inventory);
  // Shows the policy what has changed. Before any question about an instance.
  void CatchUp(const Inventory::Impl& inventory);
  uint64_t epoch();

  // All require: it has caught up, and the demand, of that shape, fits the instance.
  // The highest goes first.
  int64_t Score(const Instance& instance, ShapeId id, const Demand& demand);
  // The seed is for a policy that draws.
  GpuChoice Choose(const Instance& instance, ShapeId id, const Demand& demand, uint64_t seed);

  // The number of a shape: for the same shape the same, as long as it is used. Each Use is ended by
  // a Release.
  ShapeId Use(const TaskShape& shape);
  void Release(ShapeId id);

  // Every node that is not as its instance, in words. O(everything).
  std::vector<std::string> FindViolations(const Inventory::Impl& inventory);

 private:
  // Beyond so many shapes those not in use are forgotten.
  static constexpr size_t kShapesMax = 8192;

  struct Known {
    TaskShape shape = {};
    int64_t uses = 0;
    bool numbered = false;
  };

  NodeView ViewOf(int32_t slot) const;
  std::vector<DeviceState>::iterator DevicesOf(int32_t slot);
  void Mirror(int32_t slot, const Instance* instance);
  void GrowDevices(size_t per_slot);
  void MakePolicy();
  GpuPolicyInputs Inputs() const;
  void ForgetUnused();
  // Calls `ask(NodeView)` with the instance as the demand finds it: a device with fewer free MPS
  // clients than it needs has nothing left for it.
  template <class Ask>
  auto AskAbout(const Instance& instance, const Demand& demand, Ask ask);

  ClusterGpuPolicy set_ = {};
  std::unique_ptr<GpuPolicy> policy_ = nullptr;  // null until it is first needed
  uint64_t epoch_ = 0;
  uint64_t policy_epoch_ = 0;  // the policy's own, as of `epoch_`

  uint64_t seen_ = ChangeLog::kNever;
  std::vector<NodeState> nodes_ = {};  // by slot; not present: none, or more GPUs than can be seen
  size_t devices_per_slot_ = 0;
  std::vector<DeviceState> devices_ = {};  // of slot s: from s * devices_per_slot_ on
  int64_t largest_cpu_ = 0;                // of an instance, seen so far
  int64_t largest_units_ = 0;              // of all devices of one
  bool outgrown_ = false;                  // the policy measures by less than that

  std::vector<Known> shapes_ = {};  // by number
  std::vector<ShapeId> free_shapes_ = {};
  absl::flat_hash_map<TaskShape, ShapeId> shape_ids_ = {};

  ArrivalMix arrivals_ = {};
  int64_t arrived_ = 0;
  int64_t next_mix_ = kFirstMix;
};

// A shape in use, for as long as this is there.
class ShapeUse {
 public:
  // `order` outlives it.
  ShapeUse(GpuOrder& order, const Demand& demand);
  ShapeUse(const ShapeUse&) = delete;
  ShapeUse& operator=(const ShapeUse&) = delete;
  ~ShapeUse() { order_.Release(id_); }

  ShapeId id() const { return id_; }

 private:
  GpuOrder& order_;
  const ShapeId id_;
};

}  // namespace berth::placement

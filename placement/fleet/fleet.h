// The compact placement engine: nodes in slots, shapes by number, a policy that scores.
//
// A score is kept for each node and shape: a Ranking a shape, brought up to date by the ChangeLog
// when the shape is placed next. So a placement costs what changed since that shape was last
// placed, not the size of the fleet. The policy is asked once for nodes that are alike
// (node_states.h) and shapes that differ in memory alone. Choose, Take and GiveBack allocate
// nothing but for states not seen before, once a shape's ranking is there. Policies whose scores
// are keyed need neither in a fleet of up to RoomIndex::kSlotsMax nodes. Nothing is over-committed:
// Take checks and aborts.
//
// Integers only, no ids and no strings: the caller maps its own to slots and shapes. Equal calls
// give equal answers. One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/change_log.h"
#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/node.h"
#include "placement/fleet/node_states.h"
#include "placement/fleet/room_index.h"
#include "placement/fleet/task_shape.h"
#include "placement/ranking.h"

namespace berth::placement {

// A node as it is when nothing runs on it.
struct NodeResources {
  int64_t cpu = 0;
  int64_t memory = 0;
  int32_t tasks_max = 0;
  int model = 0;                            // 0..kModelsMax - 1
  std::vector<int32_t> device_totals = {};  // at most kDevicesMax
};

struct FleetChoice {
  int32_t slot = 0;
  DeviceSet devices = 0;
  int64_t score = 0;  // of the policy; 0 when it draws

  bool operator==(const FleetChoice&) const = default;
};

class Fleet {
 public:
  // What the rankings and scores of all shapes may take together. Beyond it those that were not
  // used for longest are dropped, and built anew when their shape comes again.
  static constexpr int64_t kCacheBytesMax = int64_t{256} << 20;

  explicit Fleet(std::unique_ptr<GpuPolicy> policy, int64_t cache_bytes_max = kCacheBytesMax);

  // The lowest free slot. Slots are what breaks ties: the lowest goes first.
  int32_t Add(const NodeResources& resources);
  // What its tasks hold stays. Requires: it has no fewer devices than before while tasks use them.
  void Change(int32_t slot, const NodeResources& resources);
  // Requires: no task is on it.
  void Remove(int32_t slot);
  // A node that was added is eligible.
  void SetEligible(int32_t slot, bool eligible);

  // The number of this shape; for the same shape the same. Each call is one use, and Release ends
  // one; after the last the number may come again for another shape.
  ShapeId Intern(const TaskShape& shape);
  void Release(ShapeId id);
  const TaskShape& shape(ShapeId id) const { return shapes_[id].shape; }

  // Where the task should go; nothing when no node has room. Changes no node.
  std::optional<FleetChoice> Choose(ShapeId id);
  // Requires: it is free, as Choose said.
  void Take(int32_t slot, ShapeId id, DeviceSet devices);
  // Requires: it was taken so, and not given back yet.
  void GiveBack(int32_t slot, ShapeId id, DeviceSet devices);

  // A task came, wherever it will go. For policies that learn the mix.
  void NoteArrival(ShapeId id) { policy_->TaskArrived(id, shapes_[id].shape); }

  NodeView view(int32_t slot) const {
    return {.slot = slot,
            .node = nodes_[slot],
            .devices = {devices_.data() + static_cast<size_t>(slot) * devices_per_slot_,
                        nodes_[slot].devices}};
  }
  // Slots 0..slots()-1 are or were in use.
  int32_t slots() const { return static_cast<int32_t>(nodes_.size()); }
  GpuPolicy& policy() { return *policy_; }
  int64_t bytes() const;  // held by nodes, shapes and rankings

  // Every broken invariant in words; for tests. O(everything).
  std::vector<std::string> FindViolations() const;

 private:
  // What the policy says of a shape without its memory, by node state.
  struct Scores {
    TaskShape shape = {};
    int64_t shapes = 0;  // that share it
    std::vector<int32_t> by_state = {};
    uint64_t generation = 0;  // of the states
  };
  using ScoresId = int32_t;

  struct Shape {
    TaskShape shape = {};
    ScoresId scores = 0;
    int64_t uses = 0;
    // Its ranking: what it has seen, and when it was last used; none while `seen` is kNever.
    Ranking ranking = Ranking(0);
    uint64_t seen = ChangeLog::kNever;
    uint64_t epoch = 0;
    uint64_t last_used = 0;
  };

  // What feasibility asks of a node, and its number among the states; packed, since it is what most
  // scores end at.
  struct Room {
    int64_t memory = -1;  // OpenMemory
    int64_t cpu = 0;
    int32_t largest_left = 0;
    NodeStateId state = 0;
    uint8_t idle_devices = 0;
    uint8_t devices = 0;
    uint8_t model = 0;
  };

  // A shape as bounds, so that comparing takes no branches.
  struct Bounds {
    explicit Bounds(const TaskShape& shape);
    bool Admit(const Room& room) const {
      const int idle = all ? std::max<int>(room.devices, 1) : idle_devices;
      return (room.memory >= memory) & (room.cpu >= cpu) & (room.largest_left >= largest_left) &
             (room.idle_devices >= idle) & ((models >> room.model & 1) != 0);
    }

    int64_t memory = 0;
    int64_t cpu = 0;
    int32_t largest_left = 0;
    int idle_devices = 0;
    bool all = false;
    uint64_t models = 0;
  };

  // Neither is a score.
  static constexpr int32_t kUnknown = Ranking::kInfeasible + 1;
  // Scores beyond are cut off.
  static constexpr int64_t kScoreMax = int64_t{1} << 30;
  // So many states are remembered for each node, and at least.
  static constexpr int32_t kStatesPerNode = 2;
  static constexpr int32_t kStatesMin = 1 << 14;

  std::span<DeviceState> Devices(int32_t slot) {
    return {devices_.data() + static_cast<size_t>(slot) * devices_per_slot_, nodes_[slot].devices};
  }
  int32_t& KindCount(int32_t slot, int kind) {
    return kind_counts_[static_cast<size_t>(slot) * (devices_per_slot_ + 1) + kind];
  }
  std::span<DeviceWord> Words(int32_t slot) {
    return {words_.data() + static_cast<size_t>(slot) * devices_per_slot_, nodes_[slot].devices};
  }
  ScoresId InternScores(const TaskShape& shape);
  void ReleaseScores(ScoresId id);
  int32_t AskPolicy(int32_t slot, ShapeId id) const;
  // Calls `with(score_of)`, where score_of(slot) is the shape's score there.
  template <class With>
  void WithScores(ShapeId id, With with);
  void GrowDevices(int devices_per_slot);
  void SortWords(int32_t slot);
  void ReplaceWord(int32_t slot, DeviceWord before, DeviceWord after);
  void Summarise(int32_t slot);
  // Upkeeps what Summarise does, and the words. `total` stays.
  void SetDevice(int32_t slot, int number, const DeviceState& after);
  void Changed(int32_t slot);
  void ForgetStates();
  // Gives the index up for good where there are too many nodes.
  void IndexRoom(int32_t slot);
  std::optional<FleetChoice> ChooseByIndex(ShapeId id, int64_t offset);
  void BringUpToDate(ShapeId id);
  void Prepare(Scores& scores);
  void DropScores(Scores& scores);
  void DropRanking(Shape& shape);
  void MakeRoomFor(ShapeId id);
  std::optional<FleetChoice> Draw(ShapeId id, model::Rng& rng);

  std::unique_ptr<GpuPolicy> policy_;
  const bool is_costly_;              // the policy's scores are
  std::unique_ptr<RoomIndex> index_;  // none where scores are not keyed
  int64_t cache_bytes_max_;

  std::vector<NodeState> nodes_ = {};
  std::vector<int32_t> free_slots_ = {};  // a heap, the lowest on top
  // Of slot s: from s * devices_per_slot_ on.
  int devices_per_slot_ = 0;
  std::vector<DeviceState> devices_ = {};
  std::vector<DeviceWord> words_ = {};         // of the same, each slot's in ascending order
  std::vector<int32_t> kind_counts_ = {};      // of NodeState::kinds; devices_per_slot_ + 1 a slot
  std::vector<NodeResources> resources_ = {};  // of each slot, as added
  std::vector<Room> rooms_ = {};               // of each slot, as of its last change

  NodeStates states_ = {};
  uint64_t generation_ = 1;    // of states_: changes when their numbers do, or what policies say
  uint64_t policy_epoch_ = 0;  // of that generation

  std::vector<Shape> shapes_ = {};
  std::vector<ShapeId> free_shapes_ = {};
  absl::flat_hash_map<TaskShape, ShapeId> shape_ids_ = {};
  std::vector<Scores> scores_ = {};
  std::vector<ScoresId> free_scores_ = {};
  absl::flat_hash_map<TaskShape, ScoresId> scores_ids_ = {};

  ChangeLog log_;
  uint64_t uses_ = 0;        // of rankings, so far
  int64_t cache_bytes_ = 0;  // of rankings and scores
};

}  // namespace berth::placement

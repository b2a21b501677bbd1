// Finds the best node for a shape by a policy whose scores are all of one form (KeyedScores), with
// no score kept for any node: for each amount that some shape asks for there is the set of nodes
// that have as much, and for each step of the policy's key the set of those that are as good. The
// answer lies where the sets meet, 64 nodes at a time.
//
// A change of a node costs O(amounts), four at a time, and a search O(nodes), 64 at a time: so this
// is for fleets of a few thousand nodes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/node.h"
#include "placement/fleet/task_shape.h"
#include "placement/fleet/threshold_sets.h"

namespace berth::placement {

class RoomIndex {
 public:
  // Beyond so many nodes rankings cost less.
  static constexpr int32_t kSlotsMax = 8192;

  struct Best {
    int32_t slot = 0;
    int64_t score = 0;
  };

  explicit RoomIndex(int64_t step);

  // The shape by this number; each Add wants its Remove.
  void Add(ShapeId id, const TaskShape& shape);
  void Remove(ShapeId id);
  // A node is there, or has changed.
  void Set(int32_t slot, const NodeState& node, int64_t key);

  // The node with room for the shape whose score is best, the lowest slot among equals. Requires:
  // the shape does not ask for all devices of a node.
  std::optional<Best> Find(ShapeId id, int64_t offset);

  int64_t bytes() const;  // of memory held

 private:
  using Word = ThresholdSets::Word;
  // The sets of merits: so many steps of the key apart, so many on either side of 0.
  static constexpr int64_t kMeritSteps = 4;
  static constexpr int64_t kMerits = 32;

  // What a shape asks for, and where that was found last.
  struct Query {
    TaskShape shape = {};
    uint64_t version = 0;  // of the sets; 0: of none
    const Word* memory = nullptr;
    const Word* cpu = nullptr;
    const Word* gpu = nullptr;  // the same as cpu where it needs no GPU
    size_t gpu_stride = 0;
    int32_t merits = 0;  // the set before the last that met
  };

  void Grow(int32_t slot);
  // What the last search for room met: the last set of merits that any node with room is in, and
  // the first word of room_ with such a node.
  struct Met {
    int32_t merits = 0;
    size_t word = 0;
  };

  void FindSets(Query& query) const;
  // Fills room_. Nothing where no node has room.
  std::optional<Met> FindRoom(const Query& query);
  // Fills accepted_ with the nodes of the models that the shape accepts.
  void FindAccepted(const TaskShape& shape);
  // From room_, where the guess was too high.
  Met FindMerits() const;
  // Calls `visit(slot) -> bool` for those with room in the set of merits, from that word on, the
  // lowest first, until it says true.
  template <class Visit>
  void ForEachWithRoom(Met from, Visit visit) const;

  const int64_t step_;
  ThresholdSets memory_ = {};  // OpenMemory
  ThresholdSets cpu_ = {};
  ThresholdSets largest_left_ = {};
  ThresholdSets idle_devices_ = {};
  ThresholdSets merits_ = {};        // the key's negative
  uint64_t version_ = 1;             // changes when sets come, go, or move
  std::vector<Query> queries_ = {};  // by shape
  std::array<std::vector<Word>, kModelsMax> models_ = {};
  std::vector<uint8_t> model_of_ = {};
  // Of the search: the nodes with room, up to the last there is.
  std::vector<Word> room_ = {};
  std::vector<Word> accepted_ = {};
};

}  // namespace berth::placement

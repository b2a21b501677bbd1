// Finds the best node for a shape by a policy whose scores are all of one form (KeyedScores), with
// no score kept for any node: for each amount that some shape asks for there is the set of nodes
// that have as much, and for each step of the policy's key the set of those that are as good. The
// answer lies where the sets meet, 256 nodes at a time.
//
// A change of a node costs the amounts that it crosses, a search what the sets' words cost: so this
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
  // Steps of the key told apart, on either side of 0.
  static constexpr int64_t kSteps = 127;

  // What a shape asks for, and where that was found last.
  struct Query {
    TaskShape shape = {};
    uint64_t version = 0;  // of the sets; 0: of none
    const Word* memory = nullptr;
    const Word* cpu = nullptr;
    const Word* gpu = nullptr;  // none where it needs no GPU
    int32_t merits = 0;         // the last set that met
  };

  void Grow(int32_t slot);
  void FindSets(Query& query) const;
  bool FindRoom(const Query& query);

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
  std::vector<Word> room_ = {};  // of the search: the nodes with room
};

}  // namespace berth::placement

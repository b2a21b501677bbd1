// Positions 0..n-1, each with a score, and the best of them without a scan.
//
// A tournament tree: the leaves are the scores, and above every kFanout entries stands their
// maximum. Setting a score looks at one block on each level, and stops at the first whose maximum
// stays. Order: the highest score first, the lowest position among equals, so that it is total.
//
// Set, Get, Best and a walk with a used buffer allocate nothing. Eight bytes a position and a
// fifteenth more. Plain data: one thread at a time, copies are independent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace berth::placement {

class Ranking {
 public:
  // The score of a position that may not be chosen. Below every other.
  static constexpr int64_t kInfeasible = INT64_MIN;

  struct Entry {
    int32_t position = 0;
    int64_t score = 0;

    bool operator==(const Entry&) const = default;
  };

  // All infeasible.
  explicit Ranking(int32_t positions = 0) { Resize(positions); }

  // Those that are kept keep their scores, those that are added are infeasible. O(n), and amortised
  // over appending one by one O(log n).
  void Resize(int32_t positions);

  // Both require: 0 <= position < size().
  void Set(int32_t position, int64_t score);
  int64_t Get(int32_t position) const { return entries_[position]; }

  // Sets all scores: `score_of(position) -> int64_t`. O(n), and far cheaper than n times Set.
  template <class ScoreOf>
  void Assign(int32_t positions, ScoreOf score_of) {
    ResizeLevels(positions);
    for (int32_t i = 0; i < positions; ++i) entries_[i] = score_of(i);
    Rebuild();
  }

  // Nothing: all are infeasible.
  std::optional<Entry> Best() const;

  // Goes through the feasible positions from the best on. It holds what it has seen the edge of, so
  // that the kth step costs O(log n) too. To be used again and again: its buffer is kept.
  // The ranking may not change between Start and the last Next.
  class Walk {
   public:
    void Start(const Ranking& ranking);
    std::optional<Entry> Next();

   private:
    struct Subtree {
      int64_t best = 0;
      int32_t level = 0;  // 0: a position
      int32_t index = 0;  // within its level
      int32_t first_position = 0;
    };
    // Of two, the one that the other goes before: the order of a heap with the best on top.
    static bool IsAfter(const Subtree& a, const Subtree& b);
    void Push(int32_t level, int32_t index);

    const Ranking* ranking_ = nullptr;
    std::vector<Subtree> heap_ = {};
  };

  // The best that `accept(Entry) -> bool` takes too.
  template <class Accept>
  std::optional<Entry> BestIf(Walk& walk, Accept accept) const {
    walk.Start(*this);
    while (const std::optional<Entry> entry = walk.Next()) {
      if (accept(*entry)) return entry;
    }
    return std::nullopt;
  }

  int32_t size() const { return size_; }
  int64_t bytes() const;  // of memory held

 private:
  // A block is two cache lines; the compiler makes its maximum of vectors where there are any.
  static constexpr size_t kFanout = 16;

  // Sixteen to the eighth is more than there are positions.
  static constexpr size_t kLevelsMax = 8;

  void ResizeLevels(int32_t positions);
  void Rebuild();
  // Of the block that begins at this entry.
  int64_t BlockMaximum(size_t begin) const;
  size_t FirstInBlock(size_t begin, int64_t score) const;
  size_t BlocksOf(size_t level) const { return (starts_[level + 1] - starts_[level]) / kFanout; }

  int32_t size_ = 0;
  // Level 0, the scores, filled up to whole blocks with kInfeasible; then each level with one entry
  // a block of the one below, likewise filled up; the last is a single block. Level i stands from
  // starts_[i] to starts_[i + 1].
  std::vector<int64_t> entries_ = {};
  std::array<size_t, kLevelsMax + 1> starts_ = {};
  size_t levels_ = 0;
};

}  // namespace berth::placement

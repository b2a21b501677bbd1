// Positions 0..n-1, each with a score, and the best of them without a scan.
//
// A tournament tree: the leaves are the scores, and above every kFanout entries stands their
// maximum. Setting a score looks at one block on each level, and stops at the first whose maximum
// stays. Order: the highest score first, the lowest position among equals, so that it is total.
//
// Set, Get and Best allocate nothing. Four bytes a position and a fifteenth more. Plain data: one
// thread at a time, copies are independent.
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
  static constexpr int32_t kInfeasible = INT32_MIN;

  struct Entry {
    int32_t position = 0;
    int32_t score = 0;

    bool operator==(const Entry&) const = default;
  };

  // All infeasible.
  explicit Ranking(int32_t positions = 0) { Resize(positions); }

  // Those that are kept keep their scores, those that are added are infeasible. O(n), and amortised
  // over appending one by one O(log n).
  void Resize(int32_t positions);

  // Both require: 0 <= position < size().
  void Set(int32_t position, int32_t score);
  int32_t Get(int32_t position) const { return entries_[position]; }

  // Sets all scores: `score_of(position) -> int32_t`. O(n), and far cheaper than n times Set.
  template <class ScoreOf>
  void Assign(int32_t positions, ScoreOf score_of) {
    ResizeLevels(positions);
    for (int32_t i = 0; i < positions; ++i) entries_[i] = score_of(i);
    Rebuild();
  }

  // Nothing: all are infeasible.
  std::optional<Entry> Best() const;

  int32_t size() const { return size_; }
  int64_t bytes() const;  // of memory held

 private:
  // A block is a cache line; the compiler makes its maximum of vectors where there are any.
  static constexpr size_t kFanout = 16;

  // Sixteen to the eighth is more than there are positions.
  static constexpr size_t kLevelsMax = 8;

  void ResizeLevels(int32_t positions);
  void Rebuild();
  // Of the block that begins at this entry.
  int32_t BlockMaximum(size_t begin) const;
  size_t FirstInBlock(size_t begin, int32_t score) const;
  size_t BlocksOf(size_t level) const { return (starts_[level + 1] - starts_[level]) / kFanout; }

  int32_t size_ = 0;
  // Level 0, the scores, filled up to whole blocks with kInfeasible; then each level with one entry
  // a block of the one below, likewise filled up; the last is a single block. Level i stands from
  // starts_[i] to starts_[i + 1].
  std::vector<int32_t> entries_ = {};
  std::array<size_t, kLevelsMax + 1> starts_ = {};
  size_t levels_ = 0;
};

}  // namespace berth::placement

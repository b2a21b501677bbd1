// Positions 0..n-1, each with a score, and the best of them without a scan.
//
// A tournament tree: the leaves are the scores, and above every kFanout entries stands their
// maximum. Setting a score marks its block; Best first redoes the marked blocks, each once however
// many of its scores were set. Order: the highest score first, the lowest position among equals, so
// that it is total.
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
  // Entries of a block, which is a cache line.
  static constexpr int32_t kFanout = 16;
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
  void Set(int32_t position, int32_t score) {
    int32_t& entry = entries_[position];
    if (entry == score) return;
    entry = score;
    const size_t block = static_cast<size_t>(position) / kFanout;
    marked_[block / 64] |= uint64_t{1} << block % 64;
  }
  int32_t Get(int32_t position) const { return entries_[position]; }

  // Sets all scores: `score_of(position) -> int32_t`. O(n), and far cheaper than n times Set.
  template <class ScoreOf>
  void Assign(int32_t positions, ScoreOf score_of) {
    ResizeLevels(positions);
    for (int32_t i = 0; i < positions; ++i) entries_[i] = score_of(i);
    Rebuild();
  }

  // The same for those alone that are not infeasible.
  template <class ScoreOf>
  void Rescore(ScoreOf score_of) {
    for (int32_t i = 0; i < size_; ++i) {
      if (entries_[i] != kInfeasible) entries_[i] = score_of(i);
    }
    Rebuild();
  }

  // Nothing: all are infeasible.
  std::optional<Entry> Best();

  int32_t size() const { return size_; }
  int64_t bytes() const;  // of memory held

 private:
  // Sixteen to the eighth is more than there are positions.
  static constexpr size_t kLevelsMax = 8;

  void ResizeLevels(int32_t positions);
  void Rebuild();
  // Brings the maxima up to what was set.
  void Settle();
  size_t BlocksOf(size_t level) const { return (starts_[level + 1] - starts_[level]) / kFanout; }

  int32_t size_ = 0;
  // Level 0, the scores, filled up to whole blocks with kInfeasible; then each level with one entry
  // a block of the one below, likewise filled up; the last is a single block. Level i stands from
  // starts_[i] to starts_[i + 1].
  std::vector<int32_t> entries_ = {};
  std::array<size_t, kLevelsMax + 1> starts_ = {};
  size_t levels_ = 0;
  // Blocks with an entry that changed since their maximum was taken, a bit each: those of level i
  // from word marked_starts_[i] on.
  std::vector<uint64_t> marked_ = {};
  std::array<size_t, kLevelsMax + 1> marked_starts_ = {};
};

}  // namespace berth::placement

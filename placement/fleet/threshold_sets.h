// For values of positions 0..n-1 and a few thresholds: which positions reach each threshold, as
// sets of bits, kept while values change. Setting a value costs the thresholds that it crosses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace berth::placement {

class ThresholdSets {
 public:
  using Word = uint64_t;
  // Sets are filled up with zeros to a multiple of so many words.
  static constexpr size_t kWordsMultiple = 4;

  // Those that are added have the least value there is. O(n * thresholds).
  void Resize(int32_t positions);
  // Each Add of a threshold wants its Remove. O(n).
  void Add(int64_t threshold);
  void Remove(int64_t threshold);

  void Set(int32_t position, int64_t value) {
    if (values_[position] == value) return;
    values_[position] = value;
    const int64_t* thresholds = thresholds_.data();
    Word* const* sets = sets_.data();
    const auto count = static_cast<int32_t>(thresholds_.size());
    const size_t word = static_cast<size_t>(position) / 64;
    const Word bit = Word{1} << position % 64;
    int32_t reached = reached_[position];
    for (; reached < count && thresholds[reached] <= value; ++reached) sets[reached][word] |= bit;
    for (; reached > 0 && thresholds[reached - 1] > value; --reached) {
      sets[reached - 1][word] &= ~bit;
    }
    reached_[position] = reached;
  }
  int64_t Get(int32_t position) const { return values_[position]; }

  // In ascending order: each set contains those after it.
  int32_t thresholds() const { return static_cast<int32_t>(thresholds_.size()); }
  // The greatest threshold that the value reaches. Requires: it reaches one.
  int32_t LastReachedBy(int64_t value) const;
  // words() of them, until the next Add, Remove or Resize.
  const Word* set(int32_t threshold) const { return sets_[threshold]; }
  size_t words() const { return words_; }
  int64_t bytes() const;  // of memory held

 private:
  size_t words_ = 0;
  std::vector<int64_t> values_ = {};
  std::vector<int32_t> reached_ = {};  // by position: how many thresholds
  std::vector<int64_t> thresholds_ = {};
  std::vector<int32_t> uses_ = {};  // of each threshold
  std::vector<std::unique_ptr<Word[]>> storage_ = {};
  std::vector<Word*> sets_ = {};  // the same
};

}  // namespace berth::placement

// For values of positions 0..n-1 and a few thresholds: which positions reach each threshold, as
// sets of bits, kept while values change.
//
// The words that say which of 64 positions reach each threshold stand side by side, so that setting
// a value rewrites one row of words, without a branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace berth::placement {

class ThresholdSets {
 public:
  using Word = uint64_t;

  // Those that are added have the least value there is. O(n * thresholds).
  void Resize(int32_t positions);
  // Each Add of a threshold wants its Remove. O(n * thresholds).
  void Add(int64_t threshold);
  void Remove(int64_t threshold);

  // O(thresholds), four at a time.
  void Set(int32_t position, int64_t value) {
    if (values_[position] == value) return;
    values_[position] = value;
    const Word bit = Word{1} << position % 64;
    const FourWords bits = {bit, bit, bit, bit};
    const FourValues four = {value, value, value, value};
    const auto* thresholds = reinterpret_cast<const FourValues*>(thresholds_.data());
    auto* row = reinterpret_cast<FourWords*>(words_.data() + position / 64 * stride_);
    const size_t fours = stride_ / 4;
    for (size_t i = 0; i < fours; ++i) {
      const auto missed = reinterpret_cast<FourWords>(thresholds[i] > four);
      row[i] = (row[i] | bits) & ~(missed & bits);
    }
  }
  int64_t Get(int32_t position) const { return values_[position]; }

  // In ascending order: each set contains those after it.
  int32_t thresholds() const { return count_; }
  int64_t threshold(int32_t i) const { return thresholds_[i]; }
  // The greatest threshold that the value reaches. Requires: it reaches one.
  int32_t LastReachedBy(int64_t value) const;
  // Word i of a set stands at set(threshold)[i * stride()], for i < words(); until the next Add,
  // Remove or Resize.
  const Word* set(int32_t threshold) const { return words_.data() + threshold; }
  size_t words() const { return (values_.size() + 63) / 64; }
  size_t stride() const { return stride_; }
  int64_t bytes() const;  // of memory held

 private:
  using FourWords = Word __attribute__((vector_size(32), aligned(8), may_alias));
  using FourValues = int64_t __attribute__((vector_size(32), aligned(8), may_alias));

  void Rebuild();

  int32_t count_ = 0;
  size_t stride_ = 0;                     // count_, filled up to fours
  std::vector<int64_t> values_ = {};      // by position
  std::vector<int64_t> thresholds_ = {};  // filled up with one that none reaches
  std::vector<int32_t> uses_ = {};        // of each threshold
  std::vector<Word> words_ = {};
};

}  // namespace berth::placement

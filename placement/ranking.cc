#include "placement/ranking.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "model/check.h"
#include "placement/vector_clones.h"

namespace berth::placement {
namespace {

// Vectors of the compilers' own kind, which are made of what the processor has. Neither function
// has a branch that depends on the scores.
using Eight = int32_t __attribute__((vector_size(32)));
using Four = int32_t __attribute__((vector_size(16)));
static_assert(Ranking::kFanout == 2 * 8);

// Eight entries wherever they stand.
using EightEntries = int32_t __attribute__((vector_size(32), aligned(4), may_alias));

inline int32_t BlockMaximum(const int32_t* scores) {
  const Eight a = *reinterpret_cast<const EightEntries*>(scores);
  const Eight b = *reinterpret_cast<const EightEntries*>(scores + 8);
  const Eight eight = a > b ? a : b;
  Four low;
  Four high;
  std::memcpy(&low, &eight, sizeof(low));
  std::memcpy(&high, reinterpret_cast<const char*>(&eight) + sizeof(low), sizeof(high));
  const Four four = low > high ? low : high;
  return std::max(std::max(four[0], four[1]), std::max(four[2], four[3]));
}

// Requires: the block has it.
inline size_t FirstInBlock(const int32_t* scores, int32_t score) {
  const Eight places = {1, 2, 4, 8, 16, 32, 64, 128};
  const Eight here = (*reinterpret_cast<const EightEntries*>(scores) == score) & places;
  const Eight there = (*reinterpret_cast<const EightEntries*>(scores + 8) == score) & places;
  const Eight all = here | there << 8;
  uint32_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= static_cast<uint32_t>(all[i]);
  return static_cast<size_t>(std::countr_zero(bits));
}

}  // namespace

void Ranking::Resize(int32_t positions) {
  BERTH_CHECK(positions >= 0);
  if (levels_ > 0 && positions > size_ && static_cast<size_t>(positions) <= starts_[1]) {
    size_ = positions;  // the block is there, and all in it that was not used is infeasible
    return;
  }
  ResizeLevels(positions);
  Rebuild();
}

// Level 0 keeps its scores; those above are to be rebuilt.
void Ranking::ResizeLevels(int32_t positions) {
  size_ = positions;
  levels_ = 0;
  size_t entries = static_cast<size_t>(positions);
  do {
    const size_t blocks = std::max<size_t>(1, (entries + kFanout - 1) / kFanout);
    starts_[levels_ + 1] = starts_[levels_] + blocks * kFanout;
    marked_starts_[levels_ + 1] = marked_starts_[levels_] + (blocks + 63) / 64;
    ++levels_;
    entries = blocks;
  } while (entries > 1);
  marked_.assign(marked_starts_[levels_], 0);
  entries_.resize(std::min(entries_.size(), static_cast<size_t>(positions)));
  // Growing one by one copies the scores rarely.
  if (entries_.capacity() < starts_[levels_]) entries_.reserve(starts_[levels_] * 5 / 4);
  entries_.resize(starts_[levels_], kInfeasible);
}

BERTH_VECTOR_CLONES void Ranking::Rebuild() {
  for (size_t level = 1; level < levels_; ++level) {
    const size_t blocks = BlocksOf(level - 1);
    for (size_t block = 0; block < blocks; ++block) {
      entries_[starts_[level] + block] =
          BlockMaximum(entries_.data() + starts_[level - 1] + block * kFanout);
    }
    std::fill(entries_.begin() + static_cast<ptrdiff_t>(starts_[level] + blocks),
              entries_.begin() + static_cast<ptrdiff_t>(starts_[level + 1]), kInfeasible);
  }
  std::fill(marked_.begin(), marked_.end(), 0);
}

BERTH_VECTOR_CLONES void Ranking::Settle() {
  for (size_t level = 0; level + 1 < levels_; ++level) {
    const int32_t* entries = entries_.data() + starts_[level];
    int32_t* maxima = entries_.data() + starts_[level + 1];
    uint64_t* marked_above = marked_.data() + marked_starts_[level + 1];
    for (size_t word = marked_starts_[level]; word < marked_starts_[level + 1]; ++word) {
      const size_t first_block = (word - marked_starts_[level]) * 64;
      for (uint64_t bits = std::exchange(marked_[word], 0); bits != 0; bits &= bits - 1) {
        const size_t block = first_block + static_cast<size_t>(std::countr_zero(bits));
        const int32_t maximum = BlockMaximum(entries + block * kFanout);
        if (maxima[block] == maximum) continue;
        maxima[block] = maximum;
        marked_above[block / kFanout / 64] |= uint64_t{1} << block / kFanout % 64;
      }
    }
  }
}

BERTH_VECTOR_CLONES std::optional<Ranking::Entry> Ranking::Best() {
  Settle();
  const int32_t score = BlockMaximum(entries_.data() + starts_[levels_ - 1]);
  if (score == kInfeasible) return std::nullopt;
  size_t index = 0;
  for (size_t level = levels_; level > 0; --level) {
    const int32_t* block = entries_.data() + starts_[level - 1] + index * kFanout;
    index = index * kFanout + FirstInBlock(block, score);
  }
  return Entry{.position = static_cast<int32_t>(index), .score = score};
}

int64_t Ranking::bytes() const {
  return static_cast<int64_t>(entries_.capacity() * sizeof(int32_t) +
                              marked_.capacity() * sizeof(uint64_t));
}

}  // namespace berth::placement

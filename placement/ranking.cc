#include "placement/ranking.h"

#include <algorithm>
#include <cstddef>

#include "model/check.h"

namespace berth::placement {

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
    ++levels_;
    entries = blocks;
  } while (entries > 1);
  entries_.resize(std::min(entries_.size(), static_cast<size_t>(positions)));
  // Growing one by one copies the scores rarely.
  if (entries_.capacity() < starts_[levels_]) entries_.reserve(starts_[levels_] * 5 / 4);
  entries_.resize(starts_[levels_], kInfeasible);
}

void Ranking::Rebuild() {
  for (size_t level = 1; level < levels_; ++level) {
    const size_t blocks = BlocksOf(level - 1);
    for (size_t block = 0; block < blocks; ++block) {
      entries_[starts_[level] + block] = BlockMaximum(starts_[level - 1] + block * kFanout);
    }
    std::fill(entries_.begin() + static_cast<ptrdiff_t>(starts_[level] + blocks),
              entries_.begin() + static_cast<ptrdiff_t>(starts_[level + 1]), kInfeasible);
  }
}

int32_t Ranking::BlockMaximum(size_t begin) const {
  const int32_t* scores = entries_.data() + begin;
  int32_t maximum = scores[0];
  for (size_t i = 1; i < kFanout; ++i) maximum = scores[i] > maximum ? scores[i] : maximum;
  return maximum;
}

size_t Ranking::FirstInBlock(size_t begin, int32_t score) const {
  size_t i = begin;
  while (entries_[i] != score) ++i;
  return i;
}

void Ranking::Set(int32_t position, int32_t score) {
  auto index = static_cast<size_t>(position);
  for (size_t level = 0;; ++level) {
    int32_t& entry = entries_[starts_[level] + index];
    const int32_t before = entry;
    if (before == score) return;
    entry = score;
    if (level + 1 == levels_) return;
    const size_t block = index / kFanout;
    const int32_t maximum = entries_[starts_[level + 1] + block];
    if (score < maximum) {
      if (before < maximum) return;
      score = BlockMaximum(starts_[level] + block * kFanout);  // the best of the block has fallen
    }
    index = block;
  }
}

std::optional<Ranking::Entry> Ranking::Best() const {
  const int32_t score = BlockMaximum(starts_[levels_ - 1]);
  if (score == kInfeasible) return std::nullopt;
  size_t index = 0;
  for (size_t level = levels_; level > 0; --level) {
    const size_t start = starts_[level - 1];
    index = FirstInBlock(start + index * kFanout, score) - start;
  }
  return Entry{.position = static_cast<int32_t>(index), .score = score};
}

int64_t Ranking::bytes() const {
  return static_cast<int64_t>(entries_.capacity() * sizeof(int32_t));
}

}  // namespace berth::placement

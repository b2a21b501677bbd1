#include "placement/ranking.h"

#include <algorithm>
#include <cstddef>

#include "model/check.h"

namespace berth::placement {

void Ranking::Resize(int32_t positions) {
  BERTH_CHECK(positions >= 0);
  const int32_t before = size_;
  if (!levels_.empty() && positions > before &&
      static_cast<size_t>(positions) <= levels_[0].size()) {
    size_ = positions;  // the block is there, and all in it that was not used is infeasible
    return;
  }
  ResizeLevels(positions);
  Rebuild();
}

void Ranking::ResizeLevels(int32_t positions) {
  size_ = positions;
  size_t depth = 0;
  size_t entries = static_cast<size_t>(positions);
  do {
    const size_t blocks = std::max<size_t>(1, (entries + kFanout - 1) / kFanout);
    if (levels_.size() == depth) levels_.emplace_back();
    levels_[depth].resize(blocks * kFanout, kInfeasible);
    ++depth;
    entries = blocks;
  } while (entries > 1);
  levels_.resize(depth);
  // What was cut off within the last block.
  std::fill(levels_[0].begin() + positions, levels_[0].end(), kInfeasible);
}

void Ranking::Rebuild() {
  for (size_t level = 1; level < levels_.size(); ++level) {
    const std::vector<int64_t>& below = levels_[level - 1];
    const auto blocks = static_cast<int32_t>(below.size() / kFanout);
    for (int32_t block = 0; block < blocks; ++block) {
      levels_[level][block] = BlockMaximum(below, block);
    }
    std::fill(levels_[level].begin() + blocks, levels_[level].end(), kInfeasible);
  }
}

int64_t Ranking::BlockMaximum(const std::vector<int64_t>& level, int32_t block) {
  const int64_t* scores = level.data() + static_cast<ptrdiff_t>(block) * kFanout;
  int64_t maximum = scores[0];
  for (int i = 1; i < kFanout; ++i) maximum = scores[i] > maximum ? scores[i] : maximum;
  return maximum;
}

int32_t Ranking::FirstInBlock(const std::vector<int64_t>& level, int32_t block, int64_t score) {
  const int32_t begin = block * kFanout;
  int32_t i = begin;
  while (level[i] != score) ++i;
  return i;
}

void Ranking::Set(int32_t position, int64_t score) {
  int32_t index = position;
  for (size_t level = 0;; ++level) {
    const int64_t before = levels_[level][index];
    if (before == score) return;
    levels_[level][index] = score;
    if (level + 1 == levels_.size()) return;
    const int32_t block = index / kFanout;
    const int64_t maximum = levels_[level + 1][block];
    if (score < maximum) {
      if (before < maximum) return;
      score = BlockMaximum(levels_[level], block);  // the best of the block has fallen
    }
    index = block;
  }
}

std::optional<Ranking::Entry> Ranking::Best() const {
  const int64_t score = BlockMaximum(levels_.back(), 0);
  if (score == kInfeasible) return std::nullopt;
  int32_t index = 0;
  for (size_t level = levels_.size(); level > 0; --level) {
    index = FirstInBlock(levels_[level - 1], index, score);
  }
  return Entry{.position = index, .score = score};
}

int64_t Ranking::bytes() const {
  int64_t bytes = 0;
  for (const std::vector<int64_t>& level : levels_) {
    bytes += static_cast<int64_t>(level.capacity() * sizeof(int64_t));
  }
  return bytes;
}

// Subtrees of a walk do not overlap, so of two with the same best the one that begins first also
// has it first.
bool Ranking::Walk::IsAfter(const Subtree& a, const Subtree& b) {
  if (a.best != b.best) return a.best < b.best;
  return a.first_position > b.first_position;
}

void Ranking::Walk::Push(int32_t level, int32_t index) {
  const int64_t best = ranking_->levels_[level][index];
  if (best == kInfeasible) return;
  int32_t first_position = index;
  for (int32_t below = 0; below < level; ++below) first_position *= kFanout;
  heap_.push_back({.best = best, .level = level, .index = index, .first_position = first_position});
  std::push_heap(heap_.begin(), heap_.end(), IsAfter);
}

void Ranking::Walk::Start(const Ranking& ranking) {
  ranking_ = &ranking;
  heap_.clear();
  const auto top = static_cast<int32_t>(ranking.levels_.size()) - 1;
  for (int32_t i = 0; i < kFanout; ++i) Push(top, i);
}

std::optional<Ranking::Entry> Ranking::Walk::Next() {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), IsAfter);
    const Subtree next = heap_.back();
    heap_.pop_back();
    if (next.level == 0) return Entry{.position = next.index, .score = next.best};
    for (int32_t i = 0; i < kFanout; ++i) Push(next.level - 1, next.index * kFanout + i);
  }
  return std::nullopt;
}

}  // namespace berth::placement

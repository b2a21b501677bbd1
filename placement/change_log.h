// Which positions changed, in order, so that each of many caches that follow the same positions
// redoes only what changed since it was last used.
//
// A ring that forgets: a reader that is too far behind must rebuild, and the ring is as long as
// there are positions, so that this is what is cheaper then. Add and Replay allocate nothing. One
// thread at a time.
//
//   reader.seen is the log's sequence() when the reader was built; later
//     if (!log.CanReplay(reader.seen)) rebuild all; else log.Replay(reader.seen, redo one);
//     reader.seen = log.sequence();
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/check.h"

namespace berth::placement {

class ChangeLog {
 public:
  // A reader that has never been built: it cannot replay.
  static constexpr uint64_t kNever = 0;

  explicit ChangeLog(int32_t positions = 0) { Reset(positions); }

  // How many positions there are from now on. All readers must rebuild.
  void Reset(int32_t positions) {
    BERTH_CHECK(positions >= 0);
    oldest_ = ++next_;
    last_change_.assign(positions, kNever);
    ring_.assign(std::bit_ceil(std::max(kShortest, static_cast<size_t>(positions))), 0);
  }

  // There are more positions; what changed is kept. Amortised over growing one by one O(1).
  void Grow(int32_t positions) {
    BERTH_CHECK(positions >= static_cast<int32_t>(last_change_.size()));
    last_change_.resize(positions, kNever);
    if (static_cast<size_t>(positions) <= ring_.size()) return;
    std::vector<int32_t> longer(std::bit_ceil(static_cast<size_t>(positions)));
    const uint64_t kept = std::max(oldest_, next_ - std::min<uint64_t>(next_, ring_.size()));
    for (uint64_t change = kept; change < next_; ++change) {
      longer[change & (longer.size() - 1)] = ring_[change & (ring_.size() - 1)];
    }
    oldest_ = kept;
    ring_ = std::move(longer);
  }

  // Requires: 0 <= position < positions.
  void Add(int32_t position) {
    ring_[next_ & (ring_.size() - 1)] = position;
    last_change_[position] = next_;
    ++next_;
  }

  // The number of the change to come. Never falls, never kNever.
  uint64_t sequence() const { return next_; }

  bool CanReplay(uint64_t since) const { return since >= oldest_ && next_ - since <= ring_.size(); }

  // Calls `redo(position)` once for each that changed at or after `since`, however often it did.
  // Requires: CanReplay(since).
  template <class Redo>
  void Replay(uint64_t since, Redo redo) const {
    for (uint64_t change = since; change < next_; ++change) {
      const int32_t position = ring_[change & (ring_.size() - 1)];
      if (last_change_[position] == change) redo(position);
    }
  }

 private:
  static constexpr size_t kShortest = 16;

  uint64_t oldest_ = 0;  // readers that saw less must rebuild
  uint64_t next_ = 0;
  std::vector<int32_t> ring_ = {};  // a power of two; change i stands at i modulo its length
  std::vector<uint64_t> last_change_ = {};  // of each position
};

}  // namespace berth::placement

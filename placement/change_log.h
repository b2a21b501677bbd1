// Which positions changed, so that each of many caches that follow the same positions redoes only
// what changed since it was last used.
//
// A list of the positions by their last change, the latest first: a change moves its position to
// the front. So a reader meets each position once, however often it changed, and stops at the first
// that it has seen; none is ever too far behind. Add is O(1), Replay O(positions to redo); neither
// allocates. Sixteen bytes a position. One thread at a time.
//
//   reader.seen is the log's sequence() when the reader was built; later
//     if (!log.CanReplay(reader.seen)) rebuild all; else log.Replay(reader.seen, redo one);
//     reader.seen = log.sequence();
#pragma once

#include <cstddef>
#include <cstdint>
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
    latest_ = kNone;
    links_.assign(positions, Link());
  }

  // There are more positions; what changed is kept. Amortised over growing one by one O(1).
  void Grow(int32_t positions) {
    BERTH_CHECK(static_cast<size_t>(positions) >= links_.size());
    links_.resize(positions);
  }

  // Requires: 0 <= position < positions.
  void Add(int32_t position) {
    Link& link = links_[position];
    link.changed = next_++;
    if (latest_ == position) return;
    if (link.newer != kNone) links_[link.newer].older = link.older;
    if (link.older != kNone) links_[link.older].newer = link.newer;
    link.newer = kNone;
    link.older = latest_;
    if (latest_ != kNone) links_[latest_].newer = position;
    latest_ = position;
  }

  // The number of the change to come. Never falls, never kNever.
  uint64_t sequence() const { return next_; }

  bool CanReplay(uint64_t since) const { return since >= oldest_; }

  // Calls `redo(position)` once for each that changed at or after `since`, the latest first.
  // Requires: CanReplay(since).
  template <class Redo>
  void Replay(uint64_t since, Redo redo) const {
    for (int32_t i = latest_; i != kNone && links_[i].changed >= since; i = links_[i].older) {
      redo(i);
    }
  }

 private:
  static constexpr int32_t kNone = -1;

  struct Link {
    uint64_t changed = kNever;  // when last
    int32_t newer = kNone;      // the neighbours in the list; none of both when it never changed
    int32_t older = kNone;
  };

  uint64_t oldest_ = 0;  // readers that saw less must rebuild
  uint64_t next_ = 0;
  int32_t latest_ = kNone;
  std::vector<Link> links_ = {};
};

}  // namespace berth::placement

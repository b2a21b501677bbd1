#include "placement/fleet/threshold_sets.h"

#include <algorithm>

#include "model/check.h"

namespace berth::placement {
namespace {

constexpr int64_t kNeverReached = std::numeric_limits<int64_t>::max();

}  // namespace

void ThresholdSets::Resize(int32_t positions) {
  values_.resize(positions, std::numeric_limits<int64_t>::min());
  Rebuild();
}

void ThresholdSets::Add(int64_t threshold) {
  BERTH_CHECK(threshold < kNeverReached);
  const auto place = std::lower_bound(thresholds_.begin(), thresholds_.begin() + count_, threshold);
  const auto at = place - thresholds_.begin();
  if (at < count_ && *place == threshold) {
    ++uses_[at];
    return;
  }
  thresholds_.insert(place, threshold);
  uses_.insert(uses_.begin() + at, 1);
  ++count_;
  Rebuild();
}

void ThresholdSets::Remove(int64_t threshold) {
  const auto place = std::lower_bound(thresholds_.begin(), thresholds_.begin() + count_, threshold);
  const auto at = place - thresholds_.begin();
  BERTH_CHECK(at < count_ && *place == threshold);
  if (--uses_[at] > 0) return;
  thresholds_.erase(place);
  uses_.erase(uses_.begin() + at);
  --count_;
  Rebuild();
}

void ThresholdSets::Rebuild() {
  stride_ = (static_cast<size_t>(count_) + 3) / 4 * 4;
  thresholds_.resize(stride_, kNeverReached);
  words_.assign(words() * stride_, 0);
  for (size_t i = 0; i < values_.size(); ++i) {
    Word* row = words_.data() + i / 64 * stride_;
    for (int32_t t = 0; t < count_ && thresholds_[t] <= values_[i]; ++t) {
      row[t] |= Word{1} << i % 64;
    }
  }
}

int32_t ThresholdSets::LastReachedBy(int64_t value) const {
  const auto above = std::upper_bound(thresholds_.begin(), thresholds_.begin() + count_, value);
  return static_cast<int32_t>(above - thresholds_.begin()) - 1;
}

int64_t ThresholdSets::bytes() const {
  return static_cast<int64_t>((values_.capacity() + thresholds_.capacity()) * sizeof(int64_t) +
                              words_.capacity() * sizeof(Word));
}

}  // namespace berth::placement

#include "placement/fleet/threshold_sets.h"

#include <algorithm>
#include <utility>

#include "model/check.h"

namespace berth::placement {

void ThresholdSets::Resize(int32_t positions) {
  const size_t before = words_;
  const size_t words = (static_cast<size_t>(positions) + 63) / 64;
  words_ = (words + kWordsMultiple - 1) / kWordsMultiple * kWordsMultiple;
  values_.resize(positions, std::numeric_limits<int64_t>::min());
  reached_.resize(positions);
  for (size_t i = 0; i < storage_.size(); ++i) {
    auto larger = std::make_unique<Word[]>(words_);
    std::copy_n(storage_[i].get(), std::min(before, words_), larger.get());
    storage_[i] = std::move(larger);
    sets_[i] = storage_[i].get();
  }
}

void ThresholdSets::Add(int64_t threshold) {
  const auto place = std::lower_bound(thresholds_.begin(), thresholds_.end(), threshold);
  const auto at = place - thresholds_.begin();
  if (place != thresholds_.end() && *place == threshold) {
    ++uses_[at];
    return;
  }
  thresholds_.insert(place, threshold);
  uses_.insert(uses_.begin() + at, 1);
  auto set = std::make_unique<Word[]>(words_);
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] < threshold) continue;
    set[i / 64] |= Word{1} << i % 64;
    ++reached_[i];
  }
  sets_.insert(sets_.begin() + at, set.get());
  storage_.insert(storage_.begin() + at, std::move(set));
}

void ThresholdSets::Remove(int64_t threshold) {
  const auto place = std::lower_bound(thresholds_.begin(), thresholds_.end(), threshold);
  BERTH_CHECK(place != thresholds_.end() && *place == threshold);
  const auto at = place - thresholds_.begin();
  if (--uses_[at] > 0) return;
  thresholds_.erase(place);
  uses_.erase(uses_.begin() + at);
  sets_.erase(sets_.begin() + at);
  storage_.erase(storage_.begin() + at);
  for (size_t i = 0; i < values_.size(); ++i) reached_[i] -= values_[i] >= threshold ? 1 : 0;
}

int32_t ThresholdSets::LastReachedBy(int64_t value) const {
  const auto above = std::upper_bound(thresholds_.begin(), thresholds_.end(), value);
  return static_cast<int32_t>(above - thresholds_.begin()) - 1;
}

int64_t ThresholdSets::bytes() const {
  const size_t per_set = words_ * sizeof(Word);
  return static_cast<int64_t>(values_.capacity() * (sizeof(int64_t) + sizeof(int32_t)) +
                              sets_.size() * (per_set + sizeof(int64_t)));
}

}  // namespace berth::placement

#include "placement/fleet/worth/copies_worth.h"

#include <algorithm>
#include <limits>

#include "model/check.h"
#include "placement/vector_clones.h"

namespace berth::placement {
namespace {

constexpr int32_t kNoLimit = 1 << 29;

}  // namespace

CopiesWorth::CopiesWorth(const std::vector<DemandClass>& classes,
                         const std::vector<int64_t>& weights) {
  BERTH_CHECK(classes.size() <= weights_.size() && classes.size() == weights.size());
  cpu_.fill(1);
  inverse_cpu_.fill(1);
  for (size_t i = 0; i < classes.size(); ++i) {
    weights_[i] =
        static_cast<int32_t>(std::min<int64_t>(weights[i], std::numeric_limits<int32_t>::max()));
    if (classes[i].cpu == 0) free_[i] = kNoLimit;
    cpu_[i] = static_cast<int32_t>(std::clamp<int64_t>(classes[i].cpu, 1, kCpuMax + 1));
    inverse_cpu_[i] = 1.0F / static_cast<float>(cpu_[i]);
    inverse_devices_[i] = static_cast<uint32_t>(65536 / classes[i].devices + 1);
    single_[i] = classes[i].devices == 1 ? -1 : 0;
  }
}

BERTH_VECTOR_CLONES int64_t CopiesWorth::Of(const ByClass& copies, const ByClass& less,
                                            const ByClass& more, int64_t cpu_left) const {
  const auto cpu = static_cast<int32_t>(std::min(cpu_left, kCpuMax));
  const auto cpu_as_float = static_cast<float>(cpu);
  int64_t worth = 0;
  for (size_t i = 0; i < copies.size(); ++i) {
    const int32_t devices = copies[i] - less[i] + more[i];
    const auto sets =
        static_cast<int32_t>(static_cast<uint32_t>(devices) * inverse_devices_[i] >> 16);
    const int32_t held = (devices & single_[i]) | (sets & ~single_[i]);
    // The float may be off by one.
    int32_t by_cpu = static_cast<int32_t>(cpu_as_float * inverse_cpu_[i]);
    const int32_t rest = cpu - by_cpu * cpu_[i];
    by_cpu += (rest >= cpu_[i] ? 1 : 0) - (rest < 0 ? 1 : 0) + free_[i];
    const int32_t lacking = std::max(0, held - by_cpu);
    const int32_t counted = held - lacking - (lacking & single_[i]);
    worth += int64_t{weights_[i]} * counted;
  }
  return worth;
}

}  // namespace berth::placement

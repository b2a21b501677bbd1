// In which order tasks arrive in one run of the published experiment, and in which order nodes
// stand. By a seed, as the experiment draws it; docs/placement.md has the steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "simulator/trace.h"

namespace berth::simulator {

// Tasks arrive until they have asked for this many tenths of the devices.
inline constexpr int64_t kArrivedTenthsMax = 13;
inline constexpr int64_t kArrivalsMax = 10'000'000;

struct Arrivals {
  static constexpr int32_t kOriginal = -1;

  std::vector<int32_t> tasks = {};       // each arrival's, in Trace::tasks
  std::vector<int32_t> copies = {};      // which copy of its task it is, or kOriginal
  std::vector<int32_t> node_order = {};  // the node in Trace::nodes that has this index
};

// Of a timed trace, tasks arrive in their order; copies of them are drawn after that all the same,
// where they do not ask for enough.
absl::StatusOr<Arrivals> DrawArrivals(const Trace& trace, int64_t seed);

// As the experiment names it: the task's name, and "-tuned-<k>" for a copy.
std::string ArrivalName(const Trace& trace, const Arrivals& arrivals, size_t arrival);

}  // namespace berth::simulator

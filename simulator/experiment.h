// One run of the published experiment: a trace, a policy, a seed. Tasks arrive one after the other
// and none leaves; one that does not fit is dropped. docs/placement.md has it in full.
//
// A run touches nothing but its own fleet, so runs of one trace may go on several threads at once.
// Equal arguments give equal results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/fleet/gpu_policy.h"
#include "simulator/trace.h"

namespace berth::simulator {

// How things stood while so many per cent of the devices had been asked for: means over the
// arrivals at which that, rounded, is the number.
struct CurvePoint {
  double alloc_pct = 0;             // of capacity, in use
  double frag_pct_of_capacity = 0;  // idle, but of no use to a typical task
  double frag_pct_of_idle = 0;
};

// What `worth` goes by: the tasks that have arrived, or the trace's own distribution, as fgd does.
enum class MixSource { kArrivals, kTrace };

struct RunResult {
  std::string policy = {};
  int64_t seed = 0;
  int64_t arrived = 0;
  int64_t failed = 0;
  double alloc_pct_at_100 = 0;
  double alloc_pct_at_130 = 0;
  // FNV-1a, 64 bits, in hexadecimal, over a line for each arrival: the index of the node, or -1.
  std::string decision_hash = {};
  std::vector<CurvePoint> curve = {};  // at 0, 1, ... 130 per cent
};

absl::StatusOr<RunResult> RunExperiment(const Trace& trace, placement::GpuPolicyKind policy,
                                        int64_t seed, MixSource mix = MixSource::kArrivals);

}  // namespace berth::simulator

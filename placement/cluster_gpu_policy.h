// The GPU policy of one cluster: how Place orders the instances that a task's rules leave equal,
// and which GPUs a task gets. One of fleet/gpu_policy.h, or `tightest`.
//
// `tightest` is place.h's fixed order: a shared GPU before an IDLE one, then the tightest fit; it
// is found in the indexes, in O(log n) whatever came before. The others are better at keeping GPUs
// usable; their rankings cost what changed since the same demand was placed last.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "placement/fleet/gpu_policy.h"

namespace berth::placement {

struct ClusterGpuPolicy {
  std::optional<GpuPolicyKind> kind = std::nullopt;  // nothing: tightest

  bool operator==(const ClusterGpuPolicy&) const = default;
};

std::string_view ToString(ClusterGpuPolicy policy);
// Nothing: there is none of that name.
std::optional<ClusterGpuPolicy> ClusterGpuPolicyFrom(std::string_view name);
// "tightest, random, ... or worth": for messages.
std::string ClusterGpuPolicyNames();

}  // namespace berth::placement

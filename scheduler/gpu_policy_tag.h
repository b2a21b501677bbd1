// The tag by which a cluster chooses its GPU policy (placement/cluster_gpu_policy.h); without it
// the server's own holds.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "model/tag.h"
#include "placement/cluster_gpu_policy.h"

namespace berth::scheduler {

inline constexpr char kGpuPolicyTag[] = "berth:gpu-policy";

// Refuses a value that is no policy.
absl::Status CheckGpuPolicyTag(const model::Tags& tags);
// Nothing: the tag is not there, or of a version that knew other policies.
std::optional<placement::ClusterGpuPolicy> GpuPolicyIn(const model::Tags& tags);

}  // namespace berth::scheduler

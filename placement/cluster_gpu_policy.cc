#include "placement/cluster_gpu_policy.h"

namespace berth::placement {
namespace {

constexpr std::string_view kTightest = "tightest";

}  // namespace

std::string_view ToString(ClusterGpuPolicy policy) {
  return policy.kind ? ToString(*policy.kind) : kTightest;
}

std::optional<ClusterGpuPolicy> ClusterGpuPolicyFrom(std::string_view name) {
  if (name == kTightest) return ClusterGpuPolicy{};
  const std::optional<GpuPolicyKind> kind = GpuPolicyKindFrom(name);
  if (!kind) return std::nullopt;
  return ClusterGpuPolicy{.kind = kind};
}

std::string ClusterGpuPolicyNames() {
  std::string names(kTightest);
  for (const GpuPolicyKind kind : GpuPolicyKinds()) {
    names += kind == GpuPolicyKinds().back() ? " or " : ", ";
    names += ToString(kind);
  }
  return names;
}

}  // namespace berth::placement

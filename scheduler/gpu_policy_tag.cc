#include "scheduler/gpu_policy_tag.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::scheduler {
namespace {

const model::Tag* FindTag(const model::Tags& tags) {
  const auto found = std::find_if(tags.begin(), tags.end(),
                                  [](const model::Tag& tag) { return tag.key == kGpuPolicyTag; });
  return found == tags.end() ? nullptr : &*found;
}

}  // namespace

absl::Status CheckGpuPolicyTag(const model::Tags& tags) {
  const model::Tag* tag = FindTag(tags);
  if (tag == nullptr || placement::ClusterGpuPolicyFrom(tag->value)) return absl::OkStatus();
  return model::InvalidParameter(absl::StrFormat("the tag %s is '%s'; it must be %s", kGpuPolicyTag,
                                                 tag->value, placement::ClusterGpuPolicyNames()));
}

std::optional<placement::ClusterGpuPolicy> GpuPolicyIn(const model::Tags& tags) {
  const model::Tag* tag = FindTag(tags);
  if (tag == nullptr) return std::nullopt;
  return placement::ClusterGpuPolicyFrom(tag->value);
}

}  // namespace berth::scheduler

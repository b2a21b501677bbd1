#include "model/tag.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace berth::model {
namespace {

constexpr char kReservedPrefix[] = "aws:";

}  // namespace

bool IsReservedTagKey(std::string_view key) {
  return absl::StartsWithIgnoreCase({key.data(), key.size()}, kReservedPrefix);
}

size_t CountTags(const Tags& tags) {
  return static_cast<size_t>(std::count_if(
      tags.begin(), tags.end(), [](const Tag& tag) { return !IsReservedTagKey(tag.key); }));
}

}  // namespace berth::model

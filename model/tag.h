#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

struct Tag {
  std::string key = {};
  std::string value = {};

  bool operator==(const Tag&) const = default;
};

using Tags = std::vector<Tag>;

// Of one resource, without the reserved ones.
inline constexpr size_t kTagsMax = 50;

// Tags that begin with "aws:", in any case, are the service's own: nobody else sets or removes
// them, and they do not count against kTagsMax.
bool IsReservedTagKey(std::string_view key);
size_t CountTags(const Tags& tags);  // without the reserved ones

}  // namespace berth::model

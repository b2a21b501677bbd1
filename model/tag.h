#pragma once

#include <string>
#include <vector>

namespace berth::model {

struct Tag {
  std::string key = {};
  std::string value = {};

  bool operator==(const Tag&) const = default;
};

using Tags = std::vector<Tag>;

}  // namespace berth::model

// Ids as asked for: each once, in the order of first mention.
#pragma once

#include <vector>

#include "absl/container/btree_set.h"

namespace berth::scheduler {

template <class Id>
std::vector<Id> WithoutRepeats(const std::vector<Id>& ids) {
  std::vector<Id> unique;
  absl::btree_set<Id> seen;
  for (const Id& id : ids) {
    if (seen.insert(id).second) unique.push_back(id);
  }
  return unique;
}

}  // namespace berth::scheduler

// The latest failure to place a task of each task group of a cluster: why, how often, and from when
// to when. In memory alone: after a restart the first failure tells again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "model/ids.h"
#include "placement/explanation.h"

namespace berth::scheduler {

struct FailedPlacement {
  // The latest. Without the list of single instances, which is for the reply alone.
  std::shared_ptr<const placement::Explanation> explanation = {};
  model::DefinitionId definition = {};
  int64_t times = 0;  // since a task of the group was placed last
  absl::Time first = absl::InfinitePast();
  absl::Time last = absl::InfinitePast();
};

class FailureLog {
 public:
  // One more failure of the group. Beyond `groups_max` groups the one whose latest failure is the
  // oldest is forgotten. Requires: `now` never goes back.
  void Note(const std::string& group, const model::DefinitionId& definition,
            placement::Explanation explanation, absl::Time now, int64_t groups_max);
  // A task of the group was placed.
  void Forget(const std::string& group);
  // The groups whose latest failure is before that.
  void ForgetBefore(absl::Time time);

  // Null: none is remembered.
  const FailedPlacement* Find(const std::string& group) const;
  int64_t size() const { return static_cast<int64_t>(by_group_.size()); }

 private:
  absl::btree_map<std::string, FailedPlacement> by_group_;
  absl::btree_set<std::pair<absl::Time, std::string>> by_age_;  // `last`, group
};

}  // namespace berth::scheduler

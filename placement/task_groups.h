// How many tasks of which group are on which instance: what distinctInstance, spread and task:group
// look at. A group has a number while it has tasks, so that an instance keeps two small integers
// for each of its groups and no name. Inside placement/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace berth::placement {

struct GroupCount {
  int32_t group = 0;
  int32_t tasks = 0;
};
using GroupCounts = std::vector<GroupCount>;  // by group

// Of this group; 0 when it is not there.
int64_t TasksOf(int32_t group, const GroupCounts& counts);

class TaskGroups {
 public:
  static constexpr int32_t kNone = -1;

  // A task of the group comes to the instance that has these counts, or goes.
  void Enter(const std::string& group, GroupCounts& counts);
  void Leave(const std::string& group, GroupCounts& counts);  // Requires: it came.

  // kNone: it has no task anywhere.
  int32_t NumberOf(std::string_view group) const;
  const std::string& NameOf(int32_t group) const { return names_[group]; }
  // By number, for the self-check.
  int64_t size() const { return static_cast<int64_t>(groups_.size()); }
  int64_t TasksOf(int32_t group) const;

 private:
  struct Group {
    int32_t number = 0;
    int64_t tasks = 0;
  };

  int32_t Add(const std::string& group);

  absl::flat_hash_map<std::string, Group> groups_;
  std::vector<std::string> names_;  // by number
  std::vector<int32_t> free_numbers_;
};

}  // namespace berth::placement

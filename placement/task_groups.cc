#include "placement/task_groups.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "model/check.h"

namespace berth::placement {
namespace {

template <class Counts>
auto PlaceOf(int32_t group, Counts& counts) {
  return std::lower_bound(
      counts.begin(), counts.end(), group,
      [](const GroupCount& count, int32_t number) { return count.group < number; });
}

}  // namespace

int64_t TasksOf(int32_t group, const GroupCounts& counts) {
  const auto place = PlaceOf(group, counts);
  return place == counts.end() || place->group != group ? 0 : place->tasks;
}

int32_t TaskGroups::Add(const std::string& group) {
  int32_t number = static_cast<int32_t>(names_.size());
  if (free_numbers_.empty()) {
    names_.push_back(group);
  } else {
    number = free_numbers_.back();
    free_numbers_.pop_back();
    names_[number] = group;
  }
  groups_.emplace(group, Group{.number = number});
  return number;
}

void TaskGroups::Enter(const std::string& group, GroupCounts& counts) {
  auto found = groups_.find(group);
  if (found == groups_.end()) {
    Add(group);
    found = groups_.find(group);
  }
  ++found->second.tasks;
  const int32_t number = found->second.number;
  const auto place = PlaceOf(number, counts);
  if (place != counts.end() && place->group == number) {
    ++place->tasks;
  } else {
    counts.insert(place, {.group = number, .tasks = 1});
  }
}

void TaskGroups::Leave(const std::string& group, GroupCounts& counts) {
  const auto found = groups_.find(group);
  BERTH_CHECK(found != groups_.end());
  const int32_t number = found->second.number;
  const auto place = PlaceOf(number, counts);
  BERTH_CHECK(place != counts.end() && place->group == number);
  if (--place->tasks == 0) counts.erase(place);
  if (--found->second.tasks > 0) return;
  names_[number].clear();
  free_numbers_.push_back(number);
  groups_.erase(found);
}

int32_t TaskGroups::NumberOf(std::string_view group) const {
  const auto found = groups_.find(absl::string_view(group.data(), group.size()));
  return found == groups_.end() ? kNone : found->second.number;
}

int64_t TaskGroups::TasksOf(int32_t group) const {
  const auto found = groups_.find(names_[group]);
  return found == groups_.end() ? 0 : found->second.tasks;
}

}  // namespace berth::placement

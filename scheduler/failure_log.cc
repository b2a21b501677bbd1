#include "scheduler/failure_log.h"

namespace berth::scheduler {

void FailureLog::Note(const std::string& group, const model::DefinitionId& definition,
                      placement::Explanation explanation, absl::Time now, int64_t groups_max) {
  explanation.turned_away.clear();
  explanation.turned_away.shrink_to_fit();
  FailedPlacement& failure = by_group_[group];
  if (failure.times == 0) failure.first = now;
  by_age_.erase({failure.last, group});
  failure.explanation = std::make_shared<const placement::Explanation>(std::move(explanation));
  failure.definition = definition;
  failure.last = now;
  ++failure.times;
  by_age_.insert({now, group});
  while (size() > groups_max) Forget(std::string(by_age_.begin()->second));
}

void FailureLog::Forget(const std::string& group) {
  const auto found = by_group_.find(group);
  if (found == by_group_.end()) return;
  by_age_.erase({found->second.last, group});
  by_group_.erase(found);
}

void FailureLog::ForgetBefore(absl::Time time) {
  while (!by_age_.empty() && by_age_.begin()->first < time) {
    Forget(std::string(by_age_.begin()->second));
  }
}

const FailedPlacement* FailureLog::Find(const std::string& group) const {
  const auto found = by_group_.find(group);
  return found == by_group_.end() ? nullptr : &found->second;
}

}  // namespace berth::scheduler

#include "placement/instance_query.h"

#include <algorithm>

namespace berth::placement {
namespace {

class Facts : public QueryFacts {
 public:
  Facts(const Instance& instance, const TaskGroups& groups)
      : instance_(instance), groups_(groups) {}

  std::optional<std::string_view> Attribute(std::string_view name) const override {
    return AttributeValue(instance_, name);
  }
  bool AgentConnected() const override { return instance_.connected; }
  std::string_view AgentVersion() const override { return instance_.agent_version; }
  std::string_view Ec2InstanceId() const override { return instance_.ec2_instance_id; }
  absl::Time RegisteredAt() const override { return instance_.registered_at; }
  int64_t RunningTasksCount() const override { return instance_.running_tasks; }
  bool AnyTaskGroup(absl::FunctionRef<bool(std::string_view)> matches) const override {
    return std::any_of(
        instance_.groups.begin(), instance_.groups.end(),
        [&](const GroupCount& count) { return matches(groups_.NameOf(count.group)); });
  }

 private:
  const Instance& instance_;
  const TaskGroups& groups_;
};

}  // namespace

bool Matches(const Instance& instance, const Query& query, const TaskGroups& groups) {
  return query.Matches(Facts(instance, groups));
}

}  // namespace berth::placement

// A container instance made up for a query.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/query.h"

namespace berth::placement {

struct Facts {
  std::map<std::string, std::optional<std::string>, std::less<>> attributes = {};
  bool connected = false;
  std::string agent_version = {};
  std::string ec2_instance_id = {};
  absl::Time registered_at = absl::UnixEpoch();
  int64_t running_tasks = 0;
  std::vector<std::string> groups = {};
};

class FakeInstance : public QueryFacts {
 public:
  explicit FakeInstance(const Facts& facts) : facts_(facts) {}

  std::optional<std::string_view> Attribute(std::string_view name) const override {
    const auto found = facts_.attributes.find(name);
    if (found == facts_.attributes.end()) return std::nullopt;
    return found->second ? std::string_view(*found->second) : "";
  }
  bool AgentConnected() const override { return facts_.connected; }
  std::string_view AgentVersion() const override { return facts_.agent_version; }
  std::string_view Ec2InstanceId() const override { return facts_.ec2_instance_id; }
  absl::Time RegisteredAt() const override { return facts_.registered_at; }
  int64_t RunningTasksCount() const override { return facts_.running_tasks; }
  bool AnyTaskGroup(absl::FunctionRef<bool(std::string_view)> matches) const override {
    return std::any_of(facts_.groups.begin(), facts_.groups.end(), matches);
  }

 private:
  const Facts& facts_;
};

}  // namespace berth::placement

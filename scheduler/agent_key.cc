#include "scheduler/agent_key.h"

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::scheduler {
namespace {

bool Succeeds(const Account& account, const std::string& key, const std::string& owner) {
  const AccessKeyEntry* old = account.FindKey(owner);
  const AccessKeyEntry* next = account.FindKey(key);
  return old != nullptr && next != nullptr && old->record->user == next->record->user &&
         old->record->revoked_at != absl::InfinitePast();
}

}  // namespace

absl::Status CheckSpeaksFor(const std::string& agent_key, const InstanceEntry& instance) {
  if (agent_key.empty() || instance.record->registered_by == agent_key) return absl::OkStatus();
  return model::NotItsInstance(absl::StrFormat("container instance %s", instance.record->id.value));
}

absl::Status CheckSpeaksFor(const std::string& agent_key, const ClusterState& cluster,
                            const model::Task& task) {
  if (agent_key.empty()) return absl::OkStatus();
  const InstanceEntry* instance = cluster.FindInstance(task.instance);
  if (instance == nullptr || instance->record->registered_by == agent_key) return absl::OkStatus();
  return model::NotItsInstance(absl::StrFormat("task %s", task.id.value));
}

absl::Status CheckMayRegisterAnew(const Account& account, const std::string& agent_key,
                                  const InstanceEntry& instance) {
  const std::string& owner = instance.record->registered_by;
  if (owner.empty() || Succeeds(account, agent_key, owner)) return absl::OkStatus();
  return CheckSpeaksFor(agent_key, instance);
}

}  // namespace berth::scheduler

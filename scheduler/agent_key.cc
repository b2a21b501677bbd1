#include "scheduler/agent_key.h"

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::scheduler {
namespace {

bool IsOfOneUser(const AccessKeyEntry* old, const AccessKeyEntry* next) {
  return old != nullptr && next != nullptr && old->record->user == next->record->user;
}

absl::Status Check(const Account& account, const std::string& agent_key,
                   const InstanceEntry& instance, const char* kind, const std::string& id) {
  const std::string& owner = instance.record->registered_by;
  if (agent_key.empty() || owner == agent_key) return absl::OkStatus();
  const std::string what = absl::StrFormat("%s %s", kind, id);
  const AccessKeyEntry* old = account.FindKey(owner);
  if (!IsOfOneUser(old, account.FindKey(agent_key))) {
    return model::NotItsInstance(
        what,
        "a key of the same user takes the place of the one that did, once that is revoked, and "
        "others never; for this key, deregister the instance and remove the agent's state");
  }
  if (old->record->revoked_at != absl::InfinitePast()) return absl::OkStatus();
  return model::NotItsInstance(
      what, absl::StrFormat("key %s of the same user did; for this one to take its place, revoke "
                            "that: berth key revoke %s",
                            owner, owner));
}

}  // namespace

absl::Status CheckSpeaksFor(const Account& account, const std::string& agent_key,
                            const InstanceEntry& instance) {
  return Check(account, agent_key, instance, "container instance", instance.record->id.value);
}

absl::Status CheckSpeaksFor(const Account& account, const std::string& agent_key,
                            const ClusterState& cluster, const model::Task& task) {
  if (agent_key.empty()) return absl::OkStatus();
  const InstanceEntry* instance = cluster.FindInstance(task.instance);
  if (instance == nullptr) return absl::OkStatus();
  return Check(account, agent_key, *instance, "task", task.id.value);
}

absl::Status CheckMayOwn(const Account& account, const std::string& agent_key,
                         const InstanceEntry& instance) {
  if (instance.record->registered_by.empty()) return absl::OkStatus();
  return CheckSpeaksFor(account, agent_key, instance);
}

}  // namespace berth::scheduler

// The rule for access keys of role agent: such a key may speak only for the container instances
// that it registered, and for the tasks on them (commands.h, `agent_key`).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "model/container_instance.h"
#include "scheduler/account.h"
#include "scheduler/cluster_state.h"

namespace berth::scheduler {

// OK, or NotItsInstance. An empty key is nobody's agent and may speak for all.
absl::Status CheckSpeaksFor(const std::string& agent_key, const InstanceEntry& instance);
// The same of a task. One whose instance is forgotten is STOPPED and nobody's: nothing that is said
// of it changes anything.
absl::Status CheckSpeaksFor(const std::string& agent_key, const ClusterState& cluster,
                            const model::Task& task);

// Whether the key may register the instance anew. Less strict: an instance that was registered
// without a key belongs to the first that comes, so that a cluster can begin to ask for keys; and
// one whose key was revoked belongs to other keys of the same user, so that keys can be exchanged.
absl::Status CheckMayRegisterAnew(const Account& account, const std::string& agent_key,
                                  const InstanceEntry& instance);

}  // namespace berth::scheduler

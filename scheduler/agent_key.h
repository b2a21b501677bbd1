// The rule for access keys of role agent: such a key may speak only for the container instances
// that it registered, and for the tasks on them (commands.h, `agent_key`).
//
// A key can be exchanged while its agent runs: once it is revoked, other keys of role agent of the
// same user speak in its place, and the first that connects or registers has the instance for its
// own. While both are good the instance is the old one's, or else any agent whose key has the same
// user could speak for the others. A key of another user never takes over.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "model/container_instance.h"
#include "scheduler/account.h"
#include "scheduler/cluster_state.h"

namespace berth::scheduler {

// OK, or NotItsInstance, which says what would help. An empty key is nobody's agent and may speak
// for all.
absl::Status CheckSpeaksFor(const Account& account, const std::string& agent_key,
                            const InstanceEntry& instance);
// The same of a task. One whose instance is forgotten is STOPPED and nobody's: nothing that is said
// of it changes anything.
absl::Status CheckSpeaksFor(const Account& account, const std::string& agent_key,
                            const ClusterState& cluster, const model::Task& task);

// Whether the key may have the instance for its own from now on. Less strict: one that was
// registered without a key belongs to the first that comes, so that a cluster can begin to ask for
// keys.
absl::Status CheckMayOwn(const Account& account, const std::string& agent_key,
                         const InstanceEntry& instance);

}  // namespace berth::scheduler

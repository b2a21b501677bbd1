// What `berth doctor --server` looks at: whether this machine's agent would be let in. It calls
// nothing that changes anything.
#pragma once

#include <vector>

#include "agent/agent.h"
#include "cli/doctor_checks.h"

namespace berth::cli {

// The settings' server, CA file, credentials and region.
std::vector<Finding> CheckServer(const agent::AgentSettings& settings);

}  // namespace berth::cli

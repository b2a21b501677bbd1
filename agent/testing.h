// For tests: an agent with other waits than those of production.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "agent/agent.h"
#include "agent/instance.h"

namespace berth::agent {

absl::StatusOr<std::unique_ptr<Agent>> CreateWithTiming(AgentSettings settings, AgentTiming timing);

}  // namespace berth::agent

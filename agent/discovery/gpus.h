// The GPUs of this machine, as they are registered. This version has simulated ones only: a machine
// with a real driver is told so in the log, and registers none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/agent.h"
#include "model/gpu.h"

namespace berth::agent {

struct GpuInventory {
  std::vector<model::Gpu> gpus = {};
  bool can_share = false;  // offers the MPS sharing capability
};

// `agent_id` makes the ids of simulated GPUs stable over restarts and different between instances.
GpuInventory DiscoverGpus(const GpuOption& option, std::string_view agent_id);

}  // namespace berth::agent

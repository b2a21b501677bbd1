// What one task asks of a container instance, summed over its containers. Sources: ecs-api.md 8.1,
// gpu-sharing.md 1.4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gpu.h"
#include "model/task_definition.h"

namespace berth::placement {

// A task's GPU need. A task is all dedicated or all shared, never both (validated before).
struct GpuDemand {
  enum class Kind { kNone, kDedicated, kAll, kShared };
  Kind kind = Kind::kNone;
  int64_t count = 0;       // kDedicated: whole devices, over all containers
  int64_t memory_mib = 0;  // kShared: the sum, on one device
  int64_t containers = 0;  // kShared: how many, which is the least number of MPS clients
};

struct Demand {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::vector<int64_t> tcp_ports = {};  // static host ports; sorted
  std::vector<int64_t> udp_ports = {};
  GpuDemand gpu = {};
  // Capability attributes that the instance must carry; sorted.
  std::vector<std::string> required_attributes = {};
  model::LaunchType launch_type = model::LaunchType::kEc2;
};

// CPU: the task's, else the containers' sum. Memory: the task's, else the sum of memoryReservation
// where set, else memory. Ports: static host ports of bridge and host mode.
// Requires: the spec has passed validation.
Demand DemandOf(const model::TaskSpec& spec, const std::vector<std::string>& required_attributes,
                model::LaunchType launch_type);

}  // namespace berth::placement

// Why a demand found no place: an answer, not an error. One object that every surface shows
// (architecture section 4). Made only when placement failed or somebody asks: it looks at every
// instance.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/ids.h"
#include "model/task_definition.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/rules.h"

namespace berth::placement {

// What turned an instance away, in the order in which it is looked at: the first that fails is the
// instance's shortfall (ecs-api.md 7.2).
enum class Dimension {
  kLaunchType,  // EXTERNAL asked of an EC2 instance or the reverse
  kAgent,       // not connected, not ACTIVE or not healthy
  kAttribute,
  kCpu,
  kMemory,
  kPorts,
  kGpuCount,   // dedicated: idle whole GPUs
  kGpuMemory,  // shared: memory on one GPU
  kMpsClients,
  kDistinctInstance,
  kMemberOf,
};

// ECS's failure reason: AGENT, ATTRIBUTE, RESOURCE:CPU, RESOURCE:MEMORY, RESOURCE:PORTS,
// RESOURCE:GPU, or that a placement constraint is unsatisfied.
std::string_view EcsReason(Dimension dimension);

struct Shortfall {
  Dimension dimension = Dimension::kAgent;
  int64_t asked = 0;           // units of the dimension; the port for kPorts
  int64_t had = 0;             // free now; kDistinctInstance: tasks of the group there
  int64_t total = 0;           // free when no task is there
  std::string attribute = {};  // kAttribute: the one that is missing
  model::Protocol protocol = model::Protocol::kTcp;  // kPorts
  // kMpsClients: the device with room for the memory. kAttribute: the device without a memory
  // figure, where that is why the instance does not offer sharing.
  model::GpuId gpu = {};
  std::shared_ptr<const Query> query = {};  // kMemberOf: the one that does not match
  bool never = false;  // the instance could not hold the demand even when empty
};

struct TurnedAway {
  model::InstanceId instance = {};
  Shortfall shortfall = {};
};

struct Explanation {
  Demand demand = {};  // what was asked
  std::string group = {};
  int64_t instances = 0;
  struct Count {
    Dimension dimension = Dimension::kAgent;
    int64_t instances = 0;
  };
  std::vector<Count> funnel = {};            // only dimensions that turned one away, in order
  std::vector<TurnedAway> turned_away = {};  // by instance id; at most kTurnedAwayMax
  bool never = false;  // there are instances, and none could ever hold it, even empty
  // What no instance of the cluster exceeds.
  int64_t largest_gpu_mib = 0;
  int64_t most_gpus = 0;
  // For a shared demand, over the instances that lack GPU memory and nothing before it: the largest
  // gap on one device, where, and what is free over all devices.
  int64_t largest_gap_mib = 0;
  model::InstanceId largest_gap_instance = {};
  int64_t free_gpu_memory_mib = 0;

  // One sentence that a tired person can act on, for one instance's failure: "needs 20480 MiB on
  // one GPU; the largest gap is 16000 MiB on instance b; 32000 MiB are free in total".
  std::string Detail(const TurnedAway& entry) const;
};

// How many instances an explanation lists one by one.
inline constexpr int64_t kTurnedAwayMax = 100;

Explanation Explain(const Demand& demand, const Inventory& inventory);
// `group`: the task's.
Explanation Explain(const Demand& demand, const Inventory& inventory, const Rules& rules,
                    const std::string& group);

}  // namespace berth::placement

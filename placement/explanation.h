// Why a demand found no place: an answer, not an error. One object that every surface shows
// (architecture section 4). Made only when placement failed or somebody asks: it looks at every
// instance, once (benchmarks/explanation_benchmark.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/ids.h"
#include "model/task_definition.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/remedy.h"
#include "placement/rules.h"

namespace berth::placement {

// What turned an instance away, in the order in which it is looked at: the first that fails is the
// instance's shortfall (ecs-api.md 7.2).
enum class Dimension {
  kLaunchType,  // EXTERNAL asked of an EC2 instance or the reverse
  kStatus,      // not ACTIVE: it is being drained
  kAgent,       // not connected
  kHealth,      // ACTIVE and connected, and takes no tasks all the same
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
// LAUNCH_TYPE, STATUS, AGENT, HEALTH, ATTRIBUTE, CPU, ...
std::string_view ToString(Dimension dimension);

// ECS's failure reason: AGENT, ATTRIBUTE, RESOURCE:CPU, RESOURCE:MEMORY, RESOURCE:PORTS,
// RESOURCE:GPU, or that a placement constraint is unsatisfied.
std::string_view EcsReason(Dimension dimension);

// What waiting is worth.
enum class Verdict {
  kNotNow,     // it would fit if something ended, or the agent came back
  kForbidden,  // a constraint or a drain keeps it off, room or not
  kNever,      // the instance could not hold it even when empty
};
// NOT_NOW, FORBIDDEN, NEVER
std::string_view ToString(Verdict verdict);

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
  // Of the instance, and not only for this shortfall: all that keeps the demand off it counts.
  Verdict verdict = Verdict::kNotNow;
};

struct TurnedAway {
  model::InstanceId instance = {};
  Shortfall shortfall = {};
};

// How many instances an explanation lists one by one, how many groups of equal shortfalls, and how
// many instances each names.
inline constexpr int64_t kTurnedAwayMax = 100;
inline constexpr int64_t kShortfallGroupsMax = 16;
inline constexpr int64_t kGroupInstancesMax = 4;

struct Explanation {
  Demand demand = {};  // what was asked
  std::string group = {};
  int64_t instances = 0;
  int64_t fitting = 0;  // those that would take it: 0 where placement failed
  struct Count {
    Dimension dimension = Dimension::kAgent;
    int64_t instances = 0;
  };
  std::vector<Count> funnel = {};            // only dimensions that turned one away, in order
  std::vector<TurnedAway> turned_away = {};  // by instance id; at most kTurnedAwayMax

  // The same for reading: instances whose shortfalls are equal together, the closest to a fit
  // first. Closest: by verdict, then what got furthest through the checks, then what lacks least.
  struct Group {
    Shortfall shortfall = {};  // of the first of its instances
    int64_t instances = 0;
    std::vector<model::InstanceId> examples = {};  // the lowest ids; at most kGroupInstancesMax
  };
  std::vector<Group> closest = {};  // at most kShortfallGroupsMax

  // Of the instances, and of the whole: the best of any instance's. Nothing where one fits, or
  // there is none.
  int64_t not_now = 0;
  int64_t forbidden = 0;
  int64_t never = 0;
  std::optional<Verdict> verdict = std::nullopt;

  // What no instance of the cluster exceeds.
  int64_t largest_gpu_mib = 0;
  int64_t most_gpus = 0;
  // For a shared demand, over the instances that lack GPU memory and nothing before it: the largest
  // gap on one device, where, and what is free over all devices.
  int64_t largest_gap_mib = 0;
  model::InstanceId largest_gap_instance = {};
  int64_t free_gpu_memory_mib = 0;

  std::vector<Remedy> remedies = {};  // by Remedy::Kind; empty where it fits
  // Where ending tasks may help, the closest first: what AddTaskRemedies looks into. At most
  // kRemedyInstancesMax.
  std::vector<model::InstanceId> busy = {};

  // One sentence that a tired person can act on, for one instance's failure: "needs 20480 MiB on
  // one GPU; the largest gap is 16000 MiB on instance b; 32000 MiB are free in total".
  std::string Detail(const TurnedAway& entry) const;
  // The same for the whole: that of the closest instance. Says also that it fits, or that there is
  // no instance.
  std::string Summary() const;
};

Explanation Explain(const Demand& demand, const Inventory& inventory);
// `group`: the task's.
Explanation Explain(const Demand& demand, const Inventory& inventory, const Rules& rules,
                    const std::string& group);

}  // namespace berth::placement

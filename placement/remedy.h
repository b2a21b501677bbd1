// What would make a demand fit that does not: the smallest changes, each tried out before it is
// said. Part of an Explanation.
//
// "Tried out" means: the change is made to a copy of the instance (or to one instance made for it)
// and the engine's own checks pass there. Nothing is ever carried out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/ids.h"
#include "placement/busy_ports.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/rules.h"

namespace berth::placement {

enum class Dimension;  // explanation.h
struct Explanation;

struct Remedy {
  // In the order in which they are offered: what costs nobody anything goes first.
  enum class Kind {
    kMoveTasks,        // tasks go to other places, which have room for them
    kReconnect,        // the instance's agent comes back
    kActivate,         // the instance becomes ACTIVE again
    kFreePorts,        // what holds them ends
    kShrink,           // the demand asks for less
    kStopTasks,        // tasks end
    kRelaxConstraint,  // one constraint is left out
    kAddGpus,          // the instance gets more devices
    kAddInstance,
  };
  struct Shrunk {
    Dimension dimension;
    int64_t from = 0;
    int64_t to = 0;  // the most that fits somewhere
  };
  struct Task {
    std::string id = {};        // as the holder was named
    model::InstanceId to = {};  // kMoveTasks: perhaps the same instance, with another GPU
    std::vector<model::GpuId> to_gpus = {};
  };
  // The least that a new machine must have.
  struct Machine {
    int64_t cpu_units = 0;
    int64_t memory_mib = 0;
    int64_t gpus = 0;
    int64_t gpu_memory_mib = 0;  // of each; 0: any
    int64_t mps_clients = 0;     // on one GPU
    std::vector<std::string> attributes = {};
  };

  Kind kind = Kind::kShrink;
  model::InstanceId instance = {};  // where the demand then fits; empty for kAddInstance
  std::vector<Shrunk> shrunk = {};
  std::vector<Task> tasks = {};
  std::vector<HostPort> ports = {};
  bool distinct_instance = false;           // kRelaxConstraint: that one, or
  std::shared_ptr<const Query> query = {};  // this memberOf
  int64_t gpus = 0;                         // kAddGpus: so many, of
  int64_t gpu_memory_mib = 0;               // so much memory; 0: any
  Machine machine = {};                     // kAddInstance
};

// MOVE_TASKS, RECONNECT, ...
std::string_view ToString(Remedy::Kind kind);

// "stop task t1 on instance b", "ask for at most 16000 MiB of GPU memory; instance b has that".
std::string Describe(const Remedy& remedy);

// What one task holds of an instance, and what placing it elsewhere would have to obey. The tasks
// are the scheduler's; `id` is its name for one.
struct Holder {
  std::string id = {};
  Reservation reservation = {};
  Demand demand = {};
  Rules rules = {};
};
// Those of an instance.
using HoldersOn = absl::FunctionRef<std::vector<Holder>(const model::InstanceId&)>;

// How many instances are looked into for tasks to stop or move, how many tasks of one are
// considered, how many one remedy names, and for how many choices of tasks other places are sought.
inline constexpr int64_t kRemedyInstancesMax = 5;
inline constexpr int64_t kRemedyHoldersMax = 256;
inline constexpr int64_t kRemedyTasksMax = 4;
inline constexpr int64_t kRemedyMovesMax = 4;

// Adds to the explanation's remedies which tasks to move or to stop, if few are enough. `inventory`
// and `rules`: those that it explains.
void AddTaskRemedies(const Inventory& inventory, const Rules& rules, HoldersOn holders_on,
                     Explanation& explanation);

}  // namespace berth::placement

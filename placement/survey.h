// One look at every instance for an Explanation: what turned it away, how close it was, and which
// instances are one step from a fit. Allocates nothing per instance, so that a hundred thousand
// cost milliseconds. Inside placement/ only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "placement/demand.h"
#include "placement/explanation.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"
#include "placement/rules.h"

namespace berth::placement {

inline constexpr int kDimensions = static_cast<int>(Dimension::kMemberOf) + 1;

// By id.
bool Precedes(const Instance& a, const Instance& b);

// An instance that was turned away.
struct Miss {
  const Instance* instance = nullptr;
  Lack lack = {};
  Verdict verdict = Verdict::kNotNow;
};

// Equal shortfalls counted together, the closest first, so many of them. What falls out or does not
// get in is further than all that are kept, and stays so: the counts of those that are kept are
// exact.
class ClosestGroups {
 public:
  struct Group {
    Miss first = {};
    int64_t instances = 0;
    std::vector<const Instance*> examples = {};  // by id
  };

  void Add(const Miss& miss);
  const std::vector<Group>& groups() const { return groups_; }

 private:
  std::vector<Group> groups_;
};

// Those with the lowest ids, so many of them.
class FirstById {
 public:
  void Add(const Miss& miss);
  std::vector<Miss> Take();  // by id

 private:
  std::vector<Miss> heap_;  // the highest id on top
};

// What a demand may ask for less of.
enum Shrinkable : uint32_t { kShrinkCpu = 1, kShrinkMemory = 2, kShrinkGpu = 4 };
inline constexpr uint32_t kShrinkSets = 8;

struct Survey {
  int64_t instances = 0;
  int64_t fitting = 0;
  std::array<int64_t, kDimensions> turned_away_by = {};
  std::array<int64_t, 3> verdicts = {};  // by Verdict
  FirstById first = {};
  ClosestGroups closest = {};
  int64_t largest_gpu_mib = 0;
  int64_t most_gpus = 0;
  int64_t largest_gap_mib = 0;
  const Instance* largest_gap = nullptr;
  int64_t free_gpu_memory_mib = 0;

  // One step from a fit: nothing is lacking but what the name says. The best, then the lowest id.
  const Instance* but_for_status = nullptr;
  const Instance* but_for_agent = nullptr;
  const Instance* but_for_ports = nullptr;  // none of them the host's
  const Instance* but_for_distinct = nullptr;
  std::vector<const Instance*> but_for_query = {};  // in the order of Rules::member_of
  struct Shrink {
    const Instance* instance = nullptr;
    int64_t loss_ppm = 0;  // summed over what shrinks
    int64_t cpu_units = 0;
    int64_t memory_mib = 0;
    int64_t gpu = 0;  // MiB on one, or devices
  };
  std::array<Shrink, kShrinkSets> but_for_size = {};  // by the set of Shrinkable that would do
  struct MoreGpus {
    const Instance* instance = nullptr;
    int64_t gpus = 0;
  };
  MoreGpus but_for_gpus = {};

  // Where ending tasks may help: it would fit on them when empty, and nothing forbids it.
  struct Busy {
    const Instance* instance = nullptr;
    int64_t lacks = 0;    // in how many dimensions
    int64_t gap_ppm = 0;  // of what was asked, summed
  };
  std::vector<Busy> busy = {};  // the closest first; at most kRemedyInstancesMax
};

Survey Look(const Demand& demand, const Rules& rules, int32_t group, const Inventory::Impl& impl);

// How much of a GPU's memory, or how many GPUs, the demand could have on the instance; 0: none.
int64_t LargestGpuShare(const GpuDemand& demand, const Instance& instance);

}  // namespace berth::placement

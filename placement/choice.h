// Why a place was chosen rather than the runner-up: the first of the criteria by which Place orders
// them (place.h, rules.h) that tells the two apart, with what it measured on each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/ids.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/place.h"
#include "placement/rules.h"

namespace berth::placement {

struct Choice {
  enum class Criterion {
    kOnlyOne,         // no other instance would do
    kSpread,          // fewer tasks of the group: on the instance, or on all of its attribute value
    kBinpack,         // less is left, of `strategy.field`
    kRandom,          // drawn
    kSharedGpu,       // its GPU is shared already, the other's would be broken into: 0 and 1
    kTightestGpu,     // less memory is left on the GPU
    kFewestIdleGpus,  // fewer of its GPUs are idle
    kWithoutGpus,     // it has no GPU that the task would block: 0 and 1
    kLeastMemory,     // less memory is left
    kGpuPolicy,       // the cluster's GPU policy scores it higher
    kLowestId,        // all else is equal
  };
  Criterion criterion = Criterion::kOnlyOne;
  Strategy strategy = {};        // kSpread, kBinpack: the one that decided
  ClusterGpuPolicy policy = {};  // kGpuPolicy
  // As measured: never more than `other`, but for kGpuPolicy never less.
  int64_t chosen = 0;
  int64_t other = 0;
  std::optional<Placement> runner_up = std::nullopt;
};
// ONLY_ONE, SPREAD, ...
std::string_view ToString(Choice::Criterion criterion);

// Where Place would go if the instance took no tasks. `inventory` is as it was when it returns.
// Requires: Place has just answered with that instance.
std::optional<Placement> PlaceElsewhere(const Demand& demand, Inventory& inventory,
                                        const Rules& rules, const TaskToPlace& task,
                                        const model::InstanceId& instance);

// Requires: nothing has been reserved since the two were found.
Choice Compare(const Demand& demand, const Inventory& inventory, const Rules& rules,
               const TaskToPlace& task, const Placement& chosen,
               std::optional<Placement> runner_up);

// "2000 MiB are left on its GPU, 8000 MiB on that of instance b"
std::string Describe(const Choice& choice);

}  // namespace berth::placement

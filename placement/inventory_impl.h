// The inside of Inventory, for place.cc and explanation.cc: the instances, and the indexes over
// those that may take tasks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/attribute_index.h"
#include "placement/busy_ports.h"
#include "placement/capability_class.h"
#include "placement/change_log.h"
#include "placement/gpu_order.h"
#include "placement/instance.h"
#include "placement/inventory.h"
#include "placement/ruled_rankings.h"
#include "placement/task_groups.h"

namespace berth::placement {

struct Inventory::Impl {
  // By slot; null where one was removed. Slots are used again.
  std::vector<std::unique_ptr<Instance>> instances = {};
  std::vector<int32_t> free_slots = {};
  absl::flat_hash_map<model::InstanceId, int32_t> slots_by_id = {};
  int64_t eligible = 0;  // instances
  CapabilityClasses classes = {};
  BusyPorts busy_ports = {};
  TaskGroups groups = {};
  AttributeIndex attributes = {};
  // Slots whose instance has changed in any way, and those whose instance has come, gone or
  // registered anew: what the rankings follow.
  ChangeLog changes = ChangeLog();
  ChangeLog registrations = ChangeLog();
  int32_t logged_slots = 0;             // how many the logs have room for
  mutable GpuOrder gpu_order = {};      // what it is shown, it is shown when it is asked
  mutable RuledRankings rankings = {};  // a cache: what it answers does not depend on what it holds
  // The same for the indexes: up to which change each group of them is in step.
  mutable std::array<uint64_t, kIndexGroups> indexed = {};
  mutable std::vector<IndexPosition> next_positions = {};  // room to work in, kept for its memory
  mutable std::vector<int32_t> overrated = {};             // likewise, for a search

  Instance& Add(const model::InstanceId& id);
  Instance* Find(const model::InstanceId& id);
  const Instance* Find(const model::InstanceId& id) const;
  Instance& At(const model::InstanceId& id);  // Requires: it is there.

  // Indexes are caches: what they find is what is in the instances, whenever they are brought in
  // step. So these are const.
  //
  // An entry may overrate the CPU and memory that its instance has left, after a task took some:
  // that costs nothing until a search comes by in vain, which then has it tightened.
  void BringInStep(IndexGroup group) const;
  void Tighten(Instance& instance) const;
  void Unindex(Instance& instance);

  // Tells the port table what the instance has begun or ceased to use, and gives every instance
  // that this concerns its bits.
  void UsePorts(Instance& instance, const std::vector<HostPort>& ports);
  void LeavePorts(Instance& instance, const std::vector<HostPort>& ports);
  void RefreshBusyPorts(Instance& instance, const std::vector<int32_t>& others);
};

// Where the entries of an instance belong in its class's indexes of this group, always in the same
// order; kNone for those that belong nowhere now.
void AppendPositions(const Instance& instance, IndexGroup group,
                     std::vector<IndexPosition>& positions);
// Every port in use, each once; sorted.
std::vector<HostPort> PortsInUse(const Instance& instance);

}  // namespace berth::placement

// How an instance stands in the indexes, kept in step with what it has left.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "placement/inventory_impl.h"

namespace berth::placement {
namespace {

Room RoomOf(const Instance& instance) {
  return {.cpu_units = instance.remaining_cpu_units(),
          .memory_mib = instance.remaining_memory_mib(),
          .mps_clients = 0,
          .busy_ports = instance.busy_ports};
}

// Of equal IDLE devices of one instance only the lowest id is ever chosen for sharing, so only that
// one stands in the index: a machine of eight whole GPUs has one entry there, not eight.
bool HasTwinBefore(const Instance& instance, const Device& device) {
  return std::any_of(instance.devices.begin(), instance.devices.end(), [&](const Device& other) {
    return other.IsIdle() && other.rank < device.rank &&
           other.total_memory_mib == device.total_memory_mib;
  });
}

IndexKind SharingKind(const Instance& instance, const Device& device) {
  if (!instance.eligible || !instance.offers_gpu_sharing || !device.registered) {
    return IndexKind::kNone;
  }
  if (device.remaining_memory_mib() < 1 || FreeMpsClients(instance, device) < 1) {
    return IndexKind::kNone;
  }
  if (device.use == model::GpuUse::kNvidiaMps) return IndexKind::kSharedGpus;
  if (device.use == model::GpuUse::kIdle && !HasTwinBefore(instance, device)) {
    return IndexKind::kSharableIdleGpus;
  }
  return IndexKind::kNone;
}

IndexPosition DevicePosition(const Instance& instance, const Device& device) {
  IndexPosition position;
  position.kind = SharingKind(instance, device);
  position.key = {.size = device.remaining_memory_mib(),
                  .id_prefix = instance.id_prefix,
                  .id = &instance.id,
                  .slot = instance.slot,
                  .gpu = device.rank};
  position.room = RoomOf(instance);
  position.room.mps_clients = FreeMpsClients(instance, device);
  return position;
}

IndexPosition InstancePosition(const Instance& instance, IndexKind kind, int64_t size) {
  return {.kind = instance.eligible ? kind : IndexKind::kNone,
          .key = {.size = size,
                  .id_prefix = instance.id_prefix,
                  .id = &instance.id,
                  .slot = instance.slot,
                  .gpu = 0},
          .room = RoomOf(instance)};
}

bool SameEntry(const IndexPosition& a, const IndexPosition& b) {
  return a.kind == b.kind && a.key.size == b.key.size && a.key.gpu == b.key.gpu;
}

}  // namespace

void AppendPositions(const Instance& instance, IndexGroup group,
                     std::vector<IndexPosition>& positions) {
  switch (group) {
    case IndexGroup::kMemory: {
      const bool has_gpus = RegisteredGpus(instance) > 0;
      positions.push_back(InstancePosition(
          instance, has_gpus ? IndexKind::kMemoryWithGpus : IndexKind::kMemoryWithoutGpus,
          instance.remaining_memory_mib()));
      return;
    }
    case IndexGroup::kIdleCounts: {
      const int64_t idle = IdleGpus(instance);
      const bool all_idle = idle > 0 && idle == RegisteredGpus(instance);
      positions.push_back(
          InstancePosition(instance, idle > 0 ? IndexKind::kIdleGpuCount : IndexKind::kNone, idle));
      positions.push_back(
          InstancePosition(instance, all_idle ? IndexKind::kAllGpusIdle : IndexKind::kNone, idle));
      return;
    }
    case IndexGroup::kSharing:
      for (const Device& device : instance.devices) {
        positions.push_back(DevicePosition(instance, device));
      }
      return;
  }
}

namespace {

// Whether the room may stand though it should be the other: it promises no less.
bool Overrates(const Room& room, const Room& actual) {
  return room.cpu_units >= actual.cpu_units && room.memory_mib >= actual.memory_mib &&
         room.mps_clients == actual.mps_clients && room.busy_ports == actual.busy_ports;
}

void Reindex(Instance& instance, IndexGroup group, std::vector<IndexPosition>& next_positions) {
  next_positions.clear();
  AppendPositions(instance, group, next_positions);
  CapabilityClass& indexes = *instance.capability_class;
  std::vector<IndexPosition>& positions = instance.positions[static_cast<int>(group)];
  const size_t both = std::min(positions.size(), next_positions.size());
  // First out, then in: devices that change ranks may want each other's place.
  for (size_t i = 0; i < positions.size(); ++i) {
    IndexPosition& now = positions[i];
    if (now.kind == IndexKind::kNone) continue;
    if (i < both && SameEntry(now, next_positions[i])) continue;
    indexes.index(now.kind).Erase(now.key);
    now.kind = IndexKind::kNone;
  }
  positions.resize(next_positions.size());
  for (size_t i = 0; i < next_positions.size(); ++i) {
    IndexPosition& now = positions[i];
    const IndexPosition& next = next_positions[i];
    if (next.kind == IndexKind::kNone) continue;
    if (now.kind == IndexKind::kNone) {
      indexes.index(next.kind).Insert({.key = next.key, .room = next.room});
    } else if (!Overrates(now.room, next.room)) {
      indexes.index(next.kind).SetRoom(next.key, next.room);
    } else {
      continue;
    }
    now = next;
  }
}

}  // namespace

void Inventory::Impl::BringInStep(IndexGroup group) const {
  uint64_t& seen = indexed[static_cast<int>(group)];
  if (seen == changes.sequence()) return;
  const auto reindex = [this, group](int32_t slot) {
    Instance* instance = instances[slot].get();
    if (instance != nullptr) Reindex(*instance, group, next_positions);
  };
  if (changes.CanReplay(seen)) {
    changes.Replay(seen, reindex);
  } else {
    for (size_t slot = 0; slot < instances.size(); ++slot) reindex(static_cast<int32_t>(slot));
  }
  seen = changes.sequence();
}

void Inventory::Impl::Tighten(Instance& instance) const {
  for (std::vector<IndexPosition>& positions : instance.positions) {
    for (IndexPosition& now : positions) {
      if (now.kind == IndexKind::kNone) continue;
      now.room.cpu_units = instance.remaining_cpu_units();
      now.room.memory_mib = instance.remaining_memory_mib();
      instance.capability_class->index(now.kind).SetRoom(now.key, now.room);
    }
  }
}

void Inventory::Impl::Unindex(Instance& instance) {
  for (std::vector<IndexPosition>& positions : instance.positions) {
    for (const IndexPosition& now : positions) {
      if (now.kind == IndexKind::kNone) continue;
      instance.capability_class->index(now.kind).Erase(now.key);
    }
    positions.clear();
  }
}

std::vector<std::string> Inventory::FindViolations() const {
  constexpr IndexGroup kGroups[] = {IndexGroup::kMemory, IndexGroup::kIdleCounts,
                                    IndexGroup::kSharing};
  for (const IndexGroup group : kGroups) impl_->BringInStep(group);
  std::vector<std::string> violations;
  const auto append = [&violations](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(violations));
  };
  // The entries there should be in each class's indexes, against those that are.
  std::map<const CapabilityClass*, std::array<int64_t, kIndexKinds>> expected;
  std::vector<IndexPosition> positions;
  std::map<int32_t, int64_t> tasks_by_group;
  for (const auto& instance : impl_->instances) {
    if (instance == nullptr) continue;
    append(placement::FindViolations(*instance));
    bool in_step = true;
    for (const IndexGroup group : kGroups) {
      const std::vector<IndexPosition>& known = instance->positions[static_cast<int>(group)];
      positions.clear();
      AppendPositions(*instance, group, positions);
      in_step = in_step && positions.size() == known.size();
      for (size_t i = 0; in_step && i < positions.size(); ++i) {
        const IndexPosition& is = known[i];
        const IndexPosition& should = positions[i];
        in_step = is.kind == should.kind;
        if (in_step && should.kind != IndexKind::kNone) {
          in_step = SameEntry(is, should) && Overrates(is.room, should.room);
          ++expected[instance->capability_class][static_cast<int>(should.kind)];
        }
      }
    }
    uint64_t busy_ports = 0;
    for (const HostPort& port : PortsInUse(*instance)) busy_ports |= impl_->busy_ports.BitOf(port);
    in_step = in_step && busy_ports == instance->busy_ports;
    int64_t tasks = 0;
    for (const GroupCount& count : instance->groups) {
      tasks += count.tasks;
      tasks_by_group[count.group] += count.tasks;
    }
    if (tasks != instance->reservations) {
      violations.push_back("instance " + instance->id.value +
                           " has tasks of no group, or too many");
    }
    if (!in_step) {
      violations.push_back("instance " + instance->id.value + " is not where the indexes have it");
    }
  }
  if (static_cast<int64_t>(tasks_by_group.size()) != impl_->groups.size()) {
    violations.push_back("a group has a number and no task");
  }
  for (const auto& [group, tasks] : tasks_by_group) {
    if (tasks != impl_->groups.TasksOf(group)) {
      violations.push_back("group " + impl_->groups.NameOf(group) +
                           " counts other tasks than it has");
    }
  }
  for (const auto& [key, capability_class] : impl_->classes.all()) {
    for (int kind = 0; kind < kIndexKinds; ++kind) {
      const FitIndex& index = capability_class->indexes[kind];
      append(index.FindViolations());
      if (index.size() != expected[capability_class.get()][kind]) {
        violations.push_back("an index has entries of no instance");
      }
      for (const FitIndex::Entry& entry : index.Entries()) {
        const Instance& instance = *impl_->instances[entry.key.slot];
        bool is_its_own = false;
        for (const std::vector<IndexPosition>& known : instance.positions) {
          is_its_own |= std::any_of(known.begin(), known.end(), [&](const IndexPosition& now) {
            return static_cast<int>(now.kind) == kind && now.key.size == entry.key.size &&
                   now.key.gpu == entry.key.gpu && now.room == entry.room;
          });
        }
        if (!is_its_own) violations.push_back("an index has an entry that its instance has not");
      }
    }
  }
  append(impl_->gpu_order.FindViolations(*impl_));
  append(impl_->rankings.FindViolations());
  return violations;
}

}  // namespace berth::placement

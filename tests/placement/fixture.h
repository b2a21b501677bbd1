// Small instances and demands that say what matters and default the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/container_instance.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/place.h"

namespace berth::placement {

inline constexpr int64_t kGpuMib = 22587;  // what the guide's example GPU has

inline model::Gpu Gpu(std::string id, int64_t memory_mib = kGpuMib) {
  return {.id = {std::move(id)}, .memory_mib = memory_mib};
}

struct Machine {
  std::string id = "i-1";
  int64_t cpu_units = 64 * 1024;
  int64_t memory_mib = 256 * 1024;
  std::vector<model::Gpu> gpus = {};
  std::vector<std::string> attributes = {model::kGpuSharingCapability};
  std::map<std::string, std::string> values = {};  // attributes with a value
  std::vector<int64_t> reserved_tcp_ports = {};
  std::vector<int64_t> reserved_udp_ports = {};
  int64_t mps_clients_max = 48;
};

inline model::ContainerInstance Record(const Machine& machine) {
  model::ContainerInstance record;
  record.id.value = machine.id;
  record.resources = {.cpu_units = machine.cpu_units,
                      .memory_mib = machine.memory_mib,
                      .reserved_tcp_ports = machine.reserved_tcp_ports,
                      .reserved_udp_ports = machine.reserved_udp_ports,
                      .gpus = machine.gpus,
                      .mps_clients_max = machine.mps_clients_max};
  std::vector<std::string> names = machine.attributes;
  std::sort(names.begin(), names.end());
  for (std::string& name : names) record.attributes.push_back({.name = std::move(name)});
  for (const auto& [name, value] : machine.values) {
    record.attributes.push_back({.name = name, .value = value});
  }
  return record;
}

inline Demand Plain(int64_t cpu_units, int64_t memory_mib) {
  return {.cpu_units = cpu_units, .memory_mib = memory_mib};
}
inline Demand Shared(int64_t memory_mib, int64_t containers = 1) {
  return {
      .gpu = {.kind = GpuDemand::Kind::kShared, .memory_mib = memory_mib, .containers = containers},
      .required_attributes = {model::kGpuSharingCapability}};
}
inline Demand Dedicated(int64_t count) {
  return {.gpu = {.kind = GpuDemand::Kind::kDedicated, .count = count}};
}
inline Demand AllGpus() { return {.gpu = {.kind = GpuDemand::Kind::kAll}}; }

// An inventory, and the tasks placed on it by name, so that a test can end them.
class World {
 public:
  explicit World(const std::vector<Machine>& machines = {}) {
    for (const Machine& machine : machines) Add(machine);
  }

  void Add(const Machine& machine) {
    inventory.Put(Record(machine));
    inventory.SetEligible({machine.id}, true);
  }

  // Places and reserves, as RunTask does. Nothing: it found no place.
  std::optional<Placement> Run(const Demand& demand, const std::string& name = "") {
    std::optional<Placement> placement = Place(demand, inventory);
    if (placement) {
      inventory.Reserve(placement->instance, placement->reservation);
      if (!name.empty()) tasks_[name] = *placement;
    }
    return placement;
  }

  void Stop(const std::string& name) {
    const auto task = tasks_.find(name);
    inventory.Release(task->second.instance, task->second.reservation);
    tasks_.erase(task);
  }

  GpuState Gpu(const std::string& instance, const std::string& gpu) const {
    const InstanceState state = inventory.Find({instance});
    for (const GpuState& device : state.gpus) {
      if (device.id.value == gpu) return device;
    }
    return {};
  }

  Inventory inventory;

 private:
  std::map<std::string, Placement> tasks_;
};

// "instance" or "instance/gpu,gpu"; "nowhere" when nothing was found: one text to compare.
inline std::string Where(const std::optional<Placement>& placement) {
  if (!placement) return "nowhere";
  std::string where = placement->instance.value;
  char separator = '/';
  for (const model::GpuId& gpu : placement->reservation.gpus) {
    where += separator + gpu.value;
    separator = ',';
  }
  return where;
}

// "IDLE 22587/22587 0": use, remaining of total, containers.
inline std::string Text(const GpuState& gpu) {
  return std::string(model::ToString(gpu.use)) + " " + std::to_string(gpu.remaining_memory_mib) +
         "/" + std::to_string(gpu.total_memory_mib) + " " + std::to_string(gpu.containers);
}

}  // namespace berth::placement

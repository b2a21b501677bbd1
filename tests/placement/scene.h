// A hand-made cluster whose tasks have names, so that what an explanation proposes can be done.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "placement/defrag.h"
#include "placement/explanation.h"
#include "placement/place_on.h"
#include "rules.h"

namespace berth::placement {

class Scene {
 public:
  explicit Scene(const std::vector<Machine>& machines) {
    for (const Machine& machine : machines) Add(machine);
  }

  void Add(const Machine& machine) {
    machines_[machine.id] = machine;
    inventory.Put(Record(machine));
    inventory.SetConnected({machine.id}, true);
    SetEligible(machine.id, true);
  }
  void Drain(const std::string& id) { SetStatus(id, model::InstanceStatus::kDraining); }
  void Activate(const std::string& id) { SetStatus(id, model::InstanceStatus::kActive); }
  void Disconnect(const std::string& id) {
    inventory.SetConnected({id}, false);
    SetEligible(id, false);
  }
  void Connect(const std::string& id) {
    inventory.SetConnected({id}, true);
    SetEligible(id, true);
  }

  // On that instance, where it must have room.
  void Run(const std::string& name, const std::string& instance, const Demand& demand,
           const std::string& group = "others", const Rules& rules = {}) {
    auto place = PlaceOn({instance}, demand, inventory);
    REQUIRE(std::holds_alternative<Placement>(place));
    Put(name, std::get<Placement>(place), demand, group, rules);
  }
  void Stop(const std::string& name) {
    const Task& task = tasks_.at(name);
    inventory.Release(task.instance, task.holder.reservation);
    tasks_.erase(name);
  }
  void StopIfThere(const std::string& name) {
    if (tasks_.contains(name)) Stop(name);
  }

  Explanation Why(const Demand& demand, const Rules& rules = {},
                  const std::string& group = "web") const {
    Explanation why = Explain(demand, inventory, rules, group);
    const auto holders_on = [this](const model::InstanceId& id) { return HoldersOn(id); };
    AddTaskRemedies(inventory, rules, holders_on, why);
    return why;
  }

  std::vector<Holder> HoldersOn(const model::InstanceId& id) const {
    std::vector<Holder> holders;
    for (const auto& [name, task] : tasks_) {
      if (task.instance == id) holders.push_back(task.holder);
    }
    return holders;
  }

  // Stops the task and runs it again over there, where the engine must find that it may go.
  void Make(const DefragMove& move) {
    const Holder holder = tasks_.at(move.task).holder;
    REQUIRE(tasks_.at(move.task).instance == move.from);
    REQUIRE(holder.reservation.gpus == move.from_gpus);
    Stop(move.task);
    for (const std::string& id : eligible_) {
      if (id != move.to.value) inventory.SetEligible({id}, false);
    }
    const auto place =
        Place(holder.demand, inventory, holder.rules, {.group = holder.reservation.group});
    for (const std::string& id : eligible_) inventory.SetEligible({id}, true);
    REQUIRE(place.has_value());
    Placement to{.instance = move.to, .reservation = holder.reservation};
    to.reservation.gpus = move.to_gpus;
    Put(move.task, to, holder.demand, holder.reservation.group, holder.rules);
  }

  // Does what the remedy says, and says where the task then goes.
  std::string Carry(const Remedy& remedy, Demand demand, Rules rules = {},
                    const std::string& group = "web");

  Inventory inventory;

 private:
  struct Task {
    model::InstanceId instance = {};
    Holder holder = {};
  };

  void Put(const std::string& name, Placement placement, const Demand& demand,
           const std::string& group, const Rules& rules) {
    placement.reservation.group = group;
    inventory.Reserve(placement.instance, placement.reservation);
    tasks_[name] = {
        .instance = placement.instance,
        .holder = {
            .id = name, .reservation = placement.reservation, .demand = demand, .rules = rules}};
  }
  void SetStatus(const std::string& id, model::InstanceStatus status) {
    model::ContainerInstance record = Record(machines_.at(id));
    record.status = status;
    inventory.Put(record);
    SetEligible(id, status == model::InstanceStatus::kActive);
  }
  void SetEligible(const std::string& id, bool eligible) {
    inventory.SetEligible({id}, eligible);
    if (eligible) eligible_.insert(id);
    if (!eligible) eligible_.erase(id);
  }
  void Move(const Remedy::Task& move) {
    const Task task = tasks_.at(move.id);
    Placement to{.instance = move.to, .reservation = task.holder.reservation};
    to.reservation.gpus = move.to_gpus;
    // Its new place is there while it still has the old one.
    Put(move.id + "'", to, task.holder.demand, task.holder.reservation.group, task.holder.rules);
    Stop(move.id);
  }

  std::map<std::string, Machine> machines_;
  std::set<std::string> eligible_;
  std::map<std::string, Task> tasks_;
};

inline std::string Scene::Carry(const Remedy& remedy, Demand demand, Rules rules,
                                const std::string& group) {
  using Kind = Remedy::Kind;
  switch (remedy.kind) {
    case Kind::kMoveTasks:
      for (const Remedy::Task& task : remedy.tasks) Move(task);
      break;
    case Kind::kStopTasks:
      for (const Remedy::Task& task : remedy.tasks) Stop(task.id);
      break;
    case Kind::kReconnect:
      Connect(remedy.instance.value);
      break;
    case Kind::kActivate:
      Activate(remedy.instance.value);
      break;
    case Kind::kFreePorts: {
      const auto holds_one = [&](const Task& task) {
        return task.instance == remedy.instance &&
               std::any_of(remedy.ports.begin(), remedy.ports.end(), [&](const HostPort& port) {
                 const auto& ports = port.protocol == model::Protocol::kTcp
                                         ? task.holder.reservation.tcp_ports
                                         : task.holder.reservation.udp_ports;
                 return std::binary_search(ports.begin(), ports.end(), port.port);
               });
      };
      std::vector<std::string> names;
      for (const auto& [name, task] : tasks_) {
        if (holds_one(task)) names.push_back(name);
      }
      for (const std::string& name : names) Stop(name);
      break;
    }
    case Kind::kShrink:
      for (const Remedy::Shrunk& shrunk : remedy.shrunk) {
        if (shrunk.dimension == Dimension::kCpu) demand.cpu_units = shrunk.to;
        if (shrunk.dimension == Dimension::kMemory) demand.memory_mib = shrunk.to;
        if (shrunk.dimension == Dimension::kGpuMemory) demand.gpu.memory_mib = shrunk.to;
        if (shrunk.dimension == Dimension::kGpuCount) demand.gpu.count = shrunk.to;
      }
      break;
    case Kind::kRelaxConstraint:
      if (remedy.distinct_instance) rules.distinct_instance = false;
      std::erase(rules.member_of, remedy.query);
      break;
    case Kind::kAddGpus: {
      Machine machine = machines_.at(remedy.instance.value);
      for (int64_t i = 0; i < remedy.gpus; ++i) {
        machine.gpus.push_back(Gpu("more-" + std::to_string(i), remedy.gpu_memory_mib));
      }
      Add(machine);
      break;
    }
    case Kind::kAddInstance: {
      Machine machine{.id = "new",
                      .cpu_units = remedy.machine.cpu_units,
                      .memory_mib = remedy.machine.memory_mib,
                      .attributes = remedy.machine.attributes,
                      .mps_clients_max = remedy.machine.mps_clients};
      for (int64_t i = 0; i < remedy.machine.gpus; ++i) {
        machine.gpus.push_back(Gpu("g" + std::to_string(i), remedy.machine.gpu_memory_mib));
      }
      Add(machine);
      break;
    }
  }
  return Where(Place(demand, inventory, rules, {.group = group}));
}

}  // namespace berth::placement

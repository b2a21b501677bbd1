#include "placement/remedies.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "placement/capability_class.h"
#include "placement/feasibility.h"
#include "placement/place.h"

namespace berth::placement {
namespace {

using model::Protocol;
using Kind = GpuDemand::Kind;

// What every remedy is tried out against.
struct Problem {
  const Survey& survey;
  const Demand& demand;
  const Rules& rules;
  int32_t group;
  const TaskGroups& groups;

  bool FitsOn(const Instance& instance) const {
    return Fits(demand, instance, rules, group, groups);
  }
};

void TryMachine(const Problem& problem, Remedy::Kind kind, const Instance* candidate,
                std::vector<Remedy>& remedies) {
  if (candidate == nullptr) return;
  Instance changed = *candidate;
  if (kind == Remedy::Kind::kActivate) changed.active = true;
  if (kind == Remedy::Kind::kReconnect) changed.connected = true;
  changed.eligible = true;
  if (problem.FitsOn(changed)) remedies.push_back({.kind = kind, .instance = candidate->id});
}

// The ports that the demand wants and tasks hold.
std::vector<HostPort> TakenPorts(const Demand& demand, const Instance& instance) {
  std::vector<HostPort> taken;
  for (const int64_t port : demand.tcp_ports) {
    if (IsPortInUse(instance, Protocol::kTcp, port)) taken.push_back({Protocol::kTcp, port});
  }
  for (const int64_t port : demand.udp_ports) {
    if (IsPortInUse(instance, Protocol::kUdp, port)) taken.push_back({Protocol::kUdp, port});
  }
  return taken;
}

void TryPorts(const Problem& problem, std::vector<Remedy>& remedies) {
  const Instance* candidate = problem.survey.but_for_ports;
  if (candidate == nullptr) return;
  Instance changed = *candidate;
  std::vector<HostPort> taken = TakenPorts(problem.demand, changed);
  for (const HostPort& port : taken) {
    std::erase(port.protocol == Protocol::kTcp ? changed.task_tcp_ports : changed.task_udp_ports,
               port.port);
  }
  if (!problem.FitsOn(changed)) return;
  remedies.push_back(
      {.kind = Remedy::Kind::kFreePorts, .instance = candidate->id, .ports = std::move(taken)});
}

std::optional<Remedy> TryShrink(const Problem& problem, uint32_t set) {
  const Survey::Shrink& shrink = problem.survey.but_for_size[set];
  if (shrink.instance == nullptr) return std::nullopt;
  Remedy remedy{.kind = Remedy::Kind::kShrink, .instance = shrink.instance->id};
  Demand demand = problem.demand;
  const auto reduce = [&remedy](Dimension dimension, int64_t& value, int64_t to) {
    remedy.shrunk.push_back({.dimension = dimension, .from = value, .to = to});
    value = to;
  };
  if ((set & kShrinkCpu) != 0) reduce(Dimension::kCpu, demand.cpu_units, shrink.cpu_units);
  if ((set & kShrinkMemory) != 0) reduce(Dimension::kMemory, demand.memory_mib, shrink.memory_mib);
  if ((set & kShrinkGpu) != 0) {
    if (demand.gpu.kind == Kind::kShared) {
      reduce(Dimension::kGpuMemory, demand.gpu.memory_mib, shrink.gpu);
    } else {
      reduce(Dimension::kGpuCount, demand.gpu.count, shrink.gpu);
    }
  }
  if (!Fits(demand, *shrink.instance, problem.rules, problem.group, problem.groups)) {
    return std::nullopt;
  }
  return remedy;
}

// Of one thing, where that is enough, each thing once; else of as few things as possible.
void TryShrinks(const Problem& problem, std::vector<Remedy>& remedies) {
  for (int things = 1; things <= 3; ++things) {
    bool found = false;
    for (uint32_t set = 1; set < kShrinkSets; ++set) {
      if (std::popcount(set) != things) continue;
      if (std::optional<Remedy> remedy = TryShrink(problem, set)) {
        remedies.push_back(*std::move(remedy));
        found = true;
      }
    }
    if (found) return;
  }
}

void TryConstraints(const Problem& problem, std::vector<Remedy>& remedies) {
  const auto try_without = [&](const Instance& instance, const Rules& rules, Remedy remedy) {
    if (!Fits(problem.demand, instance, rules, problem.group, problem.groups)) return;
    remedy.kind = Remedy::Kind::kRelaxConstraint;
    remedy.instance = instance.id;
    remedies.push_back(std::move(remedy));
  };
  if (const Instance* instance = problem.survey.but_for_distinct) {
    Rules rules = problem.rules;
    rules.distinct_instance = false;
    try_without(*instance, rules, {.distinct_instance = true});
  }
  for (size_t i = 0; i < problem.rules.member_of.size(); ++i) {
    const Instance* instance = problem.survey.but_for_query[i];
    if (instance == nullptr) continue;
    Rules rules = problem.rules;
    rules.member_of.erase(rules.member_of.begin() + static_cast<int64_t>(i));
    try_without(*instance, rules, {.query = problem.rules.member_of[i]});
  }
}

void TryGpus(const Problem& problem, std::vector<Remedy>& remedies) {
  const Survey::MoreGpus& more = problem.survey.but_for_gpus;
  if (more.instance == nullptr) return;
  const GpuDemand& gpu = problem.demand.gpu;
  const int64_t memory_mib = gpu.kind == Kind::kShared ? gpu.memory_mib : 0;
  Instance changed = *more.instance;
  for (int64_t i = 0; i < more.gpus; ++i) {
    changed.devices.push_back(
        {.total_memory_mib = memory_mib, .rank = static_cast<int32_t>(changed.devices.size())});
  }
  CountGpus(changed);
  if (!problem.FitsOn(changed)) return;
  remedies.push_back({.kind = Remedy::Kind::kAddGpus,
                      .instance = more.instance->id,
                      .gpus = more.gpus,
                      .gpu_memory_mib = memory_mib});
}

Remedy::Machine LeastMachine(const Demand& demand) {
  const GpuDemand& gpu = demand.gpu;
  const bool shares = gpu.kind == Kind::kShared;
  Remedy::Machine machine{.cpu_units = demand.cpu_units,
                          .memory_mib = demand.memory_mib,
                          .gpus = gpu.kind == Kind::kDedicated ? gpu.count
                                  : gpu.kind == Kind::kNone    ? 0
                                                               : 1,
                          .gpu_memory_mib = shares ? gpu.memory_mib : 0,
                          .mps_clients = shares ? gpu.containers : 0,
                          .attributes = demand.required_attributes};
  const auto add = [&machine](const std::string& attribute) {
    auto& all = machine.attributes;
    const auto place = std::lower_bound(all.begin(), all.end(), attribute);
    if (place == all.end() || *place != attribute) all.insert(place, attribute);
  };
  if (shares) add(GpuSharingCapability());
  if (demand.launch_type == model::LaunchType::kExternal) add(model::kExternalCapability);
  return machine;
}

// In an inventory of its own. What memberOf asks for beyond is left to whoever buys the machine.
void TryInstance(const Problem& problem, std::vector<Remedy>& remedies) {
  const Remedy::Machine machine = LeastMachine(problem.demand);
  model::ContainerInstance record{.id = {"new"}};
  record.resources = {.cpu_units = machine.cpu_units,
                      .memory_mib = machine.memory_mib,
                      .mps_clients_max = machine.mps_clients};
  for (int64_t i = 0; i < machine.gpus; ++i) {
    record.resources.gpus.push_back(
        {.id = {std::to_string(i)}, .memory_mib = machine.gpu_memory_mib});
  }
  for (const std::string& name : machine.attributes) record.attributes.push_back({.name = name});
  Inventory inventory;
  inventory.Put(record);
  inventory.SetConnected(record.id, true);
  inventory.SetEligible(record.id, true);
  if (!Place(problem.demand, inventory)) return;
  remedies.push_back({.kind = Remedy::Kind::kAddInstance, .machine = machine});
}

}  // namespace

std::vector<Remedy> FindRemedies(const Survey& survey, const Demand& demand, const Rules& rules,
                                 int32_t group, const Inventory::Impl& impl) {
  const Problem problem{
      .survey = survey, .demand = demand, .rules = rules, .group = group, .groups = impl.groups};
  std::vector<Remedy> remedies;
  TryMachine(problem, Remedy::Kind::kReconnect, survey.but_for_agent, remedies);
  TryMachine(problem, Remedy::Kind::kActivate, survey.but_for_status, remedies);
  TryPorts(problem, remedies);
  TryShrinks(problem, remedies);
  TryConstraints(problem, remedies);
  TryGpus(problem, remedies);
  TryInstance(problem, remedies);
  return remedies;
}

}  // namespace berth::placement

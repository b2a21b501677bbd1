#include "naive.h"

#include <algorithm>
#include <set>

namespace berth::placement::naive {
namespace {

using model::GpuUse;
using Kind = GpuDemand::Kind;

bool IsExternal(const Instance& instance) {
  for (const model::Attribute& attribute : instance.record.attributes) {
    if (attribute.name == "ecs.capability.external") return true;
  }
  return false;
}

bool OffersSharing(const Instance& instance) {
  if (instance.record.resources.gpus.empty()) return false;
  for (const model::Gpu& gpu : instance.record.resources.gpus) {
    if (gpu.memory_mib == 0) return false;
  }
  for (const model::Attribute& attribute : instance.record.attributes) {
    if (attribute.name == "ecs.capability.gpu-sharing-mps") return true;
  }
  return false;
}

bool HasAttribute(const Instance& instance, const std::string& name) {
  if (name == "ecs.capability.gpu-sharing-mps") return OffersSharing(instance);
  for (const model::Attribute& attribute : instance.record.attributes) {
    if (attribute.name == name) return true;
  }
  return false;
}

bool IsRegistered(const Instance& instance, const model::GpuId& id) {
  for (const model::Gpu& gpu : instance.record.resources.gpus) {
    if (gpu.id == id) return true;
  }
  return false;
}

// The device with what the tasks hold of it.
GpuState GpuStateOf(const Instance& instance, const model::GpuId& id, int64_t total_mib) {
  GpuState state{.id = id, .total_memory_mib = total_mib, .remaining_memory_mib = total_mib};
  for (const auto& [number, task] : instance.tasks) {
    for (const model::GpuId& gpu : task.gpus) {
      if (gpu != id) continue;
      state.use = task.gpu_use;
      if (task.gpu_use == GpuUse::kDedicated) {
        state.remaining_memory_mib = 0;
        state.containers = 1;
      } else {
        state.remaining_memory_mib -= task.gpu_memory_mib;
        state.containers += task.gpu_containers;
      }
    }
  }
  if (state.remaining_memory_mib < 0) state.remaining_memory_mib = 0;
  return state;
}

std::vector<GpuState> RegisteredGpus(const Instance& instance) {
  std::vector<GpuState> gpus;
  for (const model::Gpu& gpu : instance.record.resources.gpus) {
    gpus.push_back(GpuStateOf(instance, gpu.id, gpu.memory_mib));
  }
  return gpus;
}

std::vector<int64_t> AllOf(std::vector<int64_t> host, const Instance& instance,
                           std::vector<int64_t> Reservation::*ports) {
  std::set<int64_t> all(host.begin(), host.end());
  for (const auto& [number, task] : instance.tasks) {
    all.insert((task.*ports).begin(), (task.*ports).end());
  }
  return {all.begin(), all.end()};
}

bool AnyInUse(const std::vector<int64_t>& asked, const std::vector<int64_t>& in_use) {
  for (const int64_t port : asked) {
    if (std::find(in_use.begin(), in_use.end(), port) != in_use.end()) return true;
  }
  return false;
}

bool HasMemory(const GpuState& gpu, const Demand& demand) {
  return gpu.use != GpuUse::kDedicated && gpu.remaining_memory_mib >= demand.gpu.memory_mib;
}

bool HasRoom(const GpuState& gpu, const Demand& demand, int64_t clients_max) {
  return HasMemory(gpu, demand) && gpu.containers + demand.gpu.containers <= clients_max;
}

int64_t CountIdle(const std::vector<GpuState>& gpus) {
  return std::count_if(gpus.begin(), gpus.end(),
                       [](const GpuState& gpu) { return gpu.use == GpuUse::kIdle; });
}

std::optional<Dimension> FindGpuShortfall(const Demand& demand, const Instance& instance) {
  const std::vector<GpuState> gpus = RegisteredGpus(instance);
  const int64_t idle = CountIdle(gpus);
  const int64_t all = static_cast<int64_t>(gpus.size());
  switch (demand.gpu.kind) {
    case Kind::kNone:
      return std::nullopt;
    case Kind::kDedicated:
      if (idle < demand.gpu.count) return Dimension::kGpuCount;
      return std::nullopt;
    case Kind::kAll:
      if (all == 0 || idle < all) return Dimension::kGpuCount;
      return std::nullopt;
    case Kind::kShared:
      break;
  }
  bool has_memory = false;
  for (const GpuState& gpu : gpus) {
    if (HasRoom(gpu, demand, instance.record.resources.mps_clients_max)) return std::nullopt;
    has_memory |= HasMemory(gpu, demand);
  }
  return has_memory ? Dimension::kMpsClients : Dimension::kGpuMemory;
}

// A place and how good it is: the smallest rank wins.
struct Option {
  std::tuple<int64_t, int64_t, std::string, std::string> rank = {};
  Placement placement = {};
};

void AddSharedOptions(const Demand& demand, const Instance& instance, const Placement& base,
                      std::vector<Option>& options) {
  for (const GpuState& gpu : RegisteredGpus(instance)) {
    if (!HasRoom(gpu, demand, instance.record.resources.mps_clients_max)) continue;
    Placement placement = base;
    placement.reservation.gpu_use = GpuUse::kNvidiaMps;
    placement.reservation.gpus = {gpu.id};
    placement.reservation.gpu_memory_mib = demand.gpu.memory_mib;
    placement.reservation.gpu_containers = demand.gpu.containers;
    options.push_back({.rank = {gpu.use == GpuUse::kIdle, gpu.remaining_memory_mib,
                                instance.record.id.value, gpu.id.value},
                       .placement = placement});
  }
}

Option DedicatedOption(const Demand& demand, const Instance& instance, const Placement& base) {
  std::vector<model::GpuId> idle;
  for (const GpuState& gpu : RegisteredGpus(instance)) {
    if (gpu.use == GpuUse::kIdle) idle.push_back(gpu.id);
  }
  std::sort(idle.begin(), idle.end());
  Option option{.rank = {0, static_cast<int64_t>(idle.size()), instance.record.id.value, ""},
                .placement = base};
  if (demand.gpu.kind == Kind::kDedicated) idle.resize(demand.gpu.count);
  option.placement.reservation.gpu_use = GpuUse::kDedicated;
  option.placement.reservation.gpus = idle;
  return option;
}

void AddOptions(const Demand& demand, const Instance& instance, std::vector<Option>& options) {
  const Placement base{.instance = instance.record.id,
                       .reservation = {.cpu_units = demand.cpu_units,
                                       .memory_mib = demand.memory_mib,
                                       .tcp_ports = demand.tcp_ports,
                                       .udp_ports = demand.udp_ports}};
  switch (demand.gpu.kind) {
    case Kind::kNone:
      options.push_back(
          {.rank = {!instance.record.resources.gpus.empty(), StateOf(instance).remaining_memory_mib,
                    instance.record.id.value, ""},
           .placement = base});
      return;
    case Kind::kDedicated:
    case Kind::kAll:
      options.push_back(DedicatedOption(demand, instance, base));
      return;
    case Kind::kShared:
      AddSharedOptions(demand, instance, base, options);
      return;
  }
}

}  // namespace

InstanceState StateOf(const Instance& instance) {
  const model::RegisteredResources& resources = instance.record.resources;
  InstanceState state{.remaining_cpu_units = resources.cpu_units,
                      .remaining_memory_mib = resources.memory_mib};
  std::set<model::GpuId> gone;
  for (const auto& [number, task] : instance.tasks) {
    state.remaining_cpu_units -= task.cpu_units;
    state.remaining_memory_mib -= task.memory_mib;
    for (const model::GpuId& gpu : task.gpus) {
      if (!IsRegistered(instance, gpu)) gone.insert(gpu);
    }
  }
  state.remaining_cpu_units = std::max<int64_t>(0, state.remaining_cpu_units);
  state.remaining_memory_mib = std::max<int64_t>(0, state.remaining_memory_mib);
  state.tcp_ports_in_use = AllOf(resources.reserved_tcp_ports, instance, &Reservation::tcp_ports);
  state.udp_ports_in_use = AllOf(resources.reserved_udp_ports, instance, &Reservation::udp_ports);
  state.gpus = RegisteredGpus(instance);
  for (const model::GpuId& gpu : gone) state.gpus.push_back(GpuStateOf(instance, gpu, 0));
  return state;
}

std::optional<Dimension> FindShortfall(const Demand& demand, const Instance& instance) {
  const bool wants_external = demand.launch_type == model::LaunchType::kExternal;
  if (demand.launch_type == model::LaunchType::kFargate) return Dimension::kLaunchType;
  if (wants_external != IsExternal(instance)) return Dimension::kLaunchType;
  if (!instance.eligible) return Dimension::kAgent;
  for (const std::string& name : demand.required_attributes) {
    if (!HasAttribute(instance, name)) return Dimension::kAttribute;
  }
  if (demand.gpu.kind == Kind::kShared && !OffersSharing(instance)) return Dimension::kAttribute;
  const InstanceState state = StateOf(instance);
  if (demand.cpu_units > state.remaining_cpu_units) return Dimension::kCpu;
  if (demand.memory_mib > state.remaining_memory_mib) return Dimension::kMemory;
  if (AnyInUse(demand.tcp_ports, state.tcp_ports_in_use)) return Dimension::kPorts;
  if (AnyInUse(demand.udp_ports, state.udp_ports_in_use)) return Dimension::kPorts;
  return FindGpuShortfall(demand, instance);
}

std::optional<Placement> Place(const Demand& demand, const Cluster& cluster) {
  std::vector<Option> options;
  for (const auto& [id, instance] : cluster) {
    if (!FindShortfall(demand, instance)) AddOptions(demand, instance, options);
  }
  if (options.empty()) return std::nullopt;
  return std::min_element(options.begin(), options.end(),
                          [](const Option& a, const Option& b) { return a.rank < b.rank; })
      ->placement;
}

int64_t CountTasks(const Instance& instance, const std::string& group) {
  int64_t count = 0;
  for (const auto& [number, task] : instance.tasks) count += task.group == group ? 1 : 0;
  return count;
}

std::optional<std::string> AttributeValue(const Instance& instance, const std::string& name) {
  for (const model::Attribute& attribute : instance.record.attributes) {
    if (attribute.name == name) return attribute.value.value_or("");
  }
  return std::nullopt;
}

std::optional<Dimension> FindShortfall(const Demand& demand, const Instance& instance,
                                       const Rules& rules, const std::string& group) {
  if (const auto shortfall = FindShortfall(demand, instance)) return shortfall;
  if (rules.distinct_instance && CountTasks(instance, group) > 0) {
    return Dimension::kDistinctInstance;
  }
  for (const auto& holds : rules.member_of) {
    if (!holds(instance)) return Dimension::kMemberOf;
  }
  return std::nullopt;
}

namespace {

// The lower, the better.
int64_t ScoreOf(const Strategy& strategy, const Option& option, const Demand& demand,
                const Cluster& cluster, const std::string& group) {
  const Instance& instance = cluster.at(option.placement.instance);
  switch (strategy.field) {
    case Strategy::Field::kInstanceId:
      return CountTasks(instance, group);
    case Strategy::Field::kAttribute: {
      int64_t count = 0;
      for (const auto& [id, other] : cluster) {
        if (AttributeValue(other, strategy.attribute) ==
            AttributeValue(instance, strategy.attribute)) {
          count += CountTasks(other, group);
        }
      }
      return count;
    }
    case Strategy::Field::kCpu:
      return StateOf(instance).remaining_cpu_units;
    case Strategy::Field::kMemory:
      return StateOf(instance).remaining_memory_mib;
    case Strategy::Field::kGpuMemory:
      // What remains on the GPU, or how many GPUs are idle.
      return demand.gpu.kind == Kind::kNone ? 0 : std::get<1>(option.rank);
    case Strategy::Field::kNone:
      break;
  }
  return 0;
}

}  // namespace

std::vector<Placement> FindBest(const Demand& demand, const Cluster& cluster, const Rules& rules,
                                const std::string& group) {
  return FindBest(demand, cluster, rules, group, nullptr);
}

std::vector<Placement> FindBest(const Demand& demand, const Cluster& cluster, const Rules& rules,
                                const std::string& group, const Preference& preference) {
  const auto by_rank = [](const Option& a, const Option& b) { return a.rank < b.rank; };
  std::vector<Option> options;  // one for each instance, by id
  for (const auto& [id, instance] : cluster) {
    if (FindShortfall(demand, instance, rules, group)) continue;
    std::vector<Option> of_instance;
    AddOptions(demand, instance, of_instance);
    options.push_back(*std::min_element(of_instance.begin(), of_instance.end(), by_rank));
  }
  bool any_will_do = false;
  for (const Strategy& strategy : rules.strategies) {
    any_will_do |= strategy.kind == Strategy::Kind::kRandom;
    if (any_will_do || options.empty()) break;
    std::map<int64_t, std::vector<Option>> by_score;
    for (const Option& option : options) {
      by_score[ScoreOf(strategy, option, demand, cluster, group)].push_back(option);
    }
    options = by_score.begin()->second;
  }
  if (!any_will_do && !options.empty() && preference != nullptr) {
    std::map<std::pair<int64_t, int64_t>, std::vector<Option>> by_preference;
    for (const Option& option : options) {
      by_preference[preference(cluster.at(option.placement.instance))].push_back(option);
    }
    options = by_preference.begin()->second;
  } else if (!any_will_do && !options.empty()) {
    options = {*std::min_element(options.begin(), options.end(), by_rank)};
  }
  std::vector<Placement> best;
  for (const Option& option : options) {
    best.push_back(option.placement);
    best.back().reservation.group = group;
  }
  return best;
}

std::vector<std::string> FindOverCommitments(const Instance& instance) {
  std::vector<std::string> found;
  const model::RegisteredResources& resources = instance.record.resources;
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::multiset<int64_t> tcp(resources.reserved_tcp_ports.begin(),
                             resources.reserved_tcp_ports.end());
  std::multiset<int64_t> udp(resources.reserved_udp_ports.begin(),
                             resources.reserved_udp_ports.end());
  struct Held {
    int64_t dedicated = 0;
    int64_t shared_mib = 0;
    int64_t containers = 0;
  };
  std::map<model::GpuId, Held> held;
  for (const auto& [number, task] : instance.tasks) {
    cpu_units += task.cpu_units;
    memory_mib += task.memory_mib;
    tcp.insert(task.tcp_ports.begin(), task.tcp_ports.end());
    udp.insert(task.udp_ports.begin(), task.udp_ports.end());
    for (const model::GpuId& gpu : task.gpus) {
      Held& holds = held[gpu];
      if (task.gpu_use == GpuUse::kDedicated) {
        ++holds.dedicated;
      } else {
        holds.shared_mib += task.gpu_memory_mib;
        holds.containers += task.gpu_containers;
      }
    }
  }
  if (cpu_units > resources.cpu_units) found.push_back("CPU");
  if (memory_mib > resources.memory_mib) found.push_back("memory");
  for (const auto* ports : {&tcp, &udp}) {
    if (std::set<int64_t>(ports->begin(), ports->end()).size() != ports->size()) {
      found.push_back("a port");
    }
  }
  for (const auto& [gpu, holds] : held) {
    int64_t total_mib = 0;
    for (const model::Gpu& registered : resources.gpus) {
      if (registered.id == gpu) total_mib = registered.memory_mib;
    }
    if (!IsRegistered(instance, gpu)) found.push_back("a GPU that is not there");
    if (holds.dedicated > 1) found.push_back("a whole GPU twice");
    if (holds.dedicated > 0 && holds.containers > 0) found.push_back("a GPU whole and shared");
    if (holds.shared_mib > total_mib) found.push_back("GPU memory");
    if (holds.containers > resources.mps_clients_max) found.push_back("MPS clients");
  }
  return found;
}

}  // namespace berth::placement::naive

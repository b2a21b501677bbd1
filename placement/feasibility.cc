#include "placement/feasibility.h"

#include <algorithm>
#include <string>

#include "placement/capability_class.h"
#include "placement/instance_query.h"

namespace berth::placement {
namespace {

using model::Protocol;
using Kind = GpuDemand::Kind;

std::optional<Lack> FindDedicatedLack(const Demand& demand, const Instance& instance) {
  const int64_t gpus = RegisteredGpus(instance);
  const int64_t asked =
      demand.gpu.kind == Kind::kAll ? std::max<int64_t>(1, gpus) : demand.gpu.count;
  const int64_t idle = IdleGpus(instance);
  if (idle >= asked) return std::nullopt;
  return Lack{.dimension = Dimension::kGpuCount, .asked = asked, .had = idle, .total = gpus};
}

// Memory first; where a device has enough of that, it is the clients.
std::optional<Lack> FindSharedLack(const Demand& demand, const Instance& instance) {
  const GpuFigures& figures = instance.gpu_figures;
  if (figures.registered == 0 || figures.largest_gap_mib < demand.gpu.memory_mib) {
    return Lack{.dimension = Dimension::kGpuMemory,
                .asked = demand.gpu.memory_mib,
                .had = figures.largest_gap_mib,
                .total = figures.largest_mib};
  }
  if (figures.gap_clients >= demand.gpu.containers) return std::nullopt;
  const Device* roomiest = nullptr;  // by clients, of those with the memory
  for (const Device& device : instance.devices) {
    if (!device.registered || device.remaining_memory_mib() < demand.gpu.memory_mib) continue;
    const auto precedes = [&instance](const Device& a, const Device& b) {
      const int64_t a_clients = FreeMpsClients(instance, a);
      const int64_t b_clients = FreeMpsClients(instance, b);
      return a_clients != b_clients ? a_clients > b_clients : a.rank < b.rank;
    };
    if (roomiest == nullptr || precedes(device, *roomiest)) roomiest = &device;
  }
  const int64_t clients = FreeMpsClients(instance, *roomiest);
  if (clients >= demand.gpu.containers) return std::nullopt;
  return Lack{.dimension = Dimension::kMpsClients,
              .asked = demand.gpu.containers,
              .had = clients,
              .total = instance.mps_clients_max,
              .gpu = roomiest};
}

// The first device without a memory figure, where that is why the instance offers no sharing.
const Device* FindUnknownDevice(const std::string& missing, const Instance& instance) {
  if (missing != model::kGpuSharingCapability || !instance.registers_gpu_sharing) return nullptr;
  for (const Device& device : instance.devices) {
    if (device.registered && device.total_memory_mib == 0) return &device;
  }
  return nullptr;
}

std::optional<Lack> FindRoomLack(const Demand& demand, const Instance& instance) {
  if (const auto cpu = FindCpuLack(demand, instance)) return cpu;
  if (const auto memory = FindMemoryLack(demand, instance)) return memory;
  if (const auto ports = FindPortLack(demand, instance)) return ports;
  return FindGpuLack(demand, instance);
}

bool CouldHoldGpus(const GpuDemand& gpu, const Instance& instance) {
  switch (gpu.kind) {
    case Kind::kNone:
      return true;
    case Kind::kDedicated:
      return RegisteredGpus(instance) >= gpu.count;
    case Kind::kAll:
      return RegisteredGpus(instance) >= 1;
    case Kind::kShared:
      return instance.mps_clients_max >= gpu.containers && RegisteredGpus(instance) > 0 &&
             instance.gpu_figures.largest_mib >= gpu.memory_mib;
  }
  return false;
}

}  // namespace

Shortfall ToShortfall(const Lack& lack, Verdict verdict) {
  Shortfall shortfall{.dimension = lack.dimension,
                      .asked = lack.asked,
                      .had = lack.had,
                      .total = lack.total,
                      .protocol = lack.protocol,
                      .verdict = verdict};
  if (lack.attribute != nullptr) shortfall.attribute = *lack.attribute;
  if (lack.gpu != nullptr) shortfall.gpu = lack.gpu->id;
  if (lack.query != nullptr) shortfall.query = *lack.query;
  return shortfall;
}

bool HostUses(const Instance& instance, Protocol protocol, int64_t port) {
  const std::vector<int64_t>& ports =
      protocol == Protocol::kTcp ? instance.host_tcp_ports : instance.host_udp_ports;
  return std::binary_search(ports.begin(), ports.end(), port);
}

std::optional<Lack> FindMachineLack(const Demand& demand, const Instance& instance) {
  if (!ServesLaunchType(instance.is_external, demand.launch_type)) {
    return Lack{.dimension = Dimension::kLaunchType, .asked = 1};
  }
  if (instance.eligible) return std::nullopt;
  Lack lack{.dimension = Dimension::kHealth, .asked = 1, .total = 1};
  if (!instance.active) {
    lack.dimension = Dimension::kStatus;
  } else if (!instance.connected) {
    lack.dimension = Dimension::kAgent;
  }
  return lack;
}

std::optional<Lack> FindAttributeLack(const Demand& demand, const Instance& instance) {
  const std::string* missing = FindMissingAttribute(demand, instance);
  if (missing == nullptr) return std::nullopt;
  return LackOfAttribute(*missing, instance);
}

std::optional<Lack> FindCpuLack(const Demand& demand, const Instance& instance) {
  if (demand.cpu_units <= instance.remaining_cpu_units()) return std::nullopt;
  return Lack{.dimension = Dimension::kCpu,
              .asked = demand.cpu_units,
              .had = instance.remaining_cpu_units(),
              .total = instance.total_cpu_units};
}

std::optional<Lack> FindMemoryLack(const Demand& demand, const Instance& instance) {
  if (demand.memory_mib <= instance.remaining_memory_mib()) return std::nullopt;
  return Lack{.dimension = Dimension::kMemory,
              .asked = demand.memory_mib,
              .had = instance.remaining_memory_mib(),
              .total = instance.total_memory_mib};
}

std::optional<Lack> FindPortLack(const Demand& demand, const Instance& instance) {
  for (const Protocol protocol : {Protocol::kTcp, Protocol::kUdp}) {
    for (const int64_t port : protocol == Protocol::kTcp ? demand.tcp_ports : demand.udp_ports) {
      if (!IsPortInUse(instance, protocol, port)) continue;
      return Lack{.dimension = Dimension::kPorts,
                  .asked = port,
                  .total = HostUses(instance, protocol, port) ? 0 : port,
                  .protocol = protocol};
    }
  }
  return std::nullopt;
}

std::optional<Lack> FindGpuLack(const Demand& demand, const Instance& instance) {
  switch (demand.gpu.kind) {
    case Kind::kNone:
      return std::nullopt;
    case Kind::kDedicated:
    case Kind::kAll:
      return FindDedicatedLack(demand, instance);
    case Kind::kShared:
      return FindSharedLack(demand, instance);
  }
  return std::nullopt;
}

std::optional<Lack> FindLack(const Demand& demand, const Instance& instance) {
  if (const auto machine = FindMachineLack(demand, instance)) return machine;
  if (const auto attribute = FindAttributeLack(demand, instance)) return attribute;
  return FindRoomLack(demand, instance);
}

std::optional<Lack> FindUnsatisfied(const Rules& rules, int32_t group, const Instance& instance,
                                    const TaskGroups& groups) {
  return FindUnsatisfied(rules, group, instance, [&](size_t query) {
    return Matches(instance, *rules.member_of[query], groups);
  });
}

std::optional<Lack> FindUnsatisfied(const Rules& rules, int32_t group, const Instance& instance,
                                    absl::FunctionRef<bool(size_t query)> matches) {
  if (rules.distinct_instance) {
    const int64_t tasks = TasksOf(group, instance.groups);
    if (tasks > 0) return Lack{.dimension = Dimension::kDistinctInstance, .had = tasks};
  }
  for (size_t i = 0; i < rules.member_of.size(); ++i) {
    if (!matches(i)) return Lack{.dimension = Dimension::kMemberOf, .query = &rules.member_of[i]};
  }
  return std::nullopt;
}

bool CouldHoldWhenEmpty(const Demand& demand, const Instance& instance) {
  const auto host_uses_any = [&instance](Protocol protocol, const std::vector<int64_t>& ports) {
    return std::any_of(ports.begin(), ports.end(), [&instance, protocol](int64_t port) {
      return HostUses(instance, protocol, port);
    });
  };
  return ServesLaunchType(instance.is_external, demand.launch_type) &&
         demand.cpu_units <= instance.total_cpu_units &&
         demand.memory_mib <= instance.total_memory_mib &&
         !host_uses_any(Protocol::kTcp, demand.tcp_ports) &&
         !host_uses_any(Protocol::kUdp, demand.udp_ports) && CouldHoldGpus(demand.gpu, instance);
}

Verdict VerdictOn(const Demand& demand, const Instance& instance, const Conditions& conditions) {
  if (!conditions.attributes_hold || !CouldHoldWhenEmpty(demand, instance)) return Verdict::kNever;
  return instance.active && conditions.constraints_hold ? Verdict::kNotNow : Verdict::kForbidden;
}

bool Fits(const Demand& demand, const Instance& instance, const Rules& rules, int32_t group,
          const TaskGroups& groups) {
  return !FindLack(demand, instance) && !FindUnsatisfied(rules, group, instance, groups);
}

bool HasRoom(const Demand& demand, const Instance& instance) {
  return !FindRoomLack(demand, instance);
}

bool ArePortsFree(const Demand& demand, const Instance& instance) {
  return !FindPortLack(demand, instance);
}

bool HasRequiredAttributes(const Demand& demand, const Instance& instance) {
  return FindMissingAttribute(demand, instance) == nullptr;
}

const std::string* FindMissingAttribute(const Demand& demand, const Instance& instance) {
  for (const std::string& name : demand.required_attributes) {
    if (!HasAttribute(instance, name)) return &name;
  }
  const bool shares = demand.gpu.kind == Kind::kShared;
  return shares && !instance.offers_gpu_sharing ? &GpuSharingCapability() : nullptr;
}

Lack LackOfAttribute(const std::string& missing, const Instance& instance) {
  return {.dimension = Dimension::kAttribute,
          .asked = 1,
          .attribute = &missing,
          .gpu = FindUnknownDevice(missing, instance)};
}

}  // namespace berth::placement

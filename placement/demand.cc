#include "placement/demand.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace berth::placement {
namespace {

using model::ContainerDefinition;
using model::GpuRequirement;
using model::NetworkMode;
using model::TaskSpec;

// Sums stop at the top: what is beyond any machine must not come back as a negative number.
int64_t SaturatingAdd(int64_t a, int64_t b) {
  constexpr int64_t kTop = std::numeric_limits<int64_t>::max();
  return a > kTop - b ? kTop : a + b;
}

int64_t CpuUnits(const TaskSpec& spec) {
  if (spec.cpu_units) return *spec.cpu_units;
  int64_t sum = 0;
  for (const ContainerDefinition& container : spec.containers) {
    sum = SaturatingAdd(sum, container.cpu_units);
  }
  return sum;
}

int64_t MemoryMib(const TaskSpec& spec) {
  if (spec.memory_mib) return *spec.memory_mib;
  int64_t sum = 0;
  for (const ContainerDefinition& container : spec.containers) {
    const auto reserved =
        container.memory_reservation_mib ? container.memory_reservation_mib : container.memory_mib;
    sum = SaturatingAdd(sum, reserved.value_or(0));
  }
  return sum;
}

// The host port that the mapping fixes. In host mode that is the container's own port; in bridge
// mode only one that is given, and 0 means that Docker picks one when the container starts.
std::optional<int64_t> StaticHostPort(const model::PortMapping& mapping, NetworkMode mode) {
  int64_t port = mapping.host_port.value_or(0);
  if (port == 0 && mode == NetworkMode::kHost) port = mapping.container_port.value_or(0);
  if (port == 0) return std::nullopt;
  return port;
}

std::vector<int64_t> StaticHostPorts(const TaskSpec& spec, model::Protocol protocol) {
  const NetworkMode mode = model::EffectiveNetworkMode(spec);
  std::vector<int64_t> ports;
  // In awsvpc mode each task has addresses of its own, so its ports are not the host's.
  if (mode != NetworkMode::kBridge && mode != NetworkMode::kHost) return ports;
  for (const ContainerDefinition& container : spec.containers) {
    for (const model::PortMapping& mapping : container.port_mappings) {
      if (mapping.protocol != protocol) continue;
      if (const auto port = StaticHostPort(mapping, mode)) ports.push_back(*port);
    }
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

GpuDemand GpuDemandOf(const TaskSpec& spec) {
  GpuDemand demand;
  for (const ContainerDefinition& container : spec.containers) {
    const GpuRequirement requirement = model::GpuRequirementOf(container);
    switch (requirement.kind) {
      case GpuRequirement::Kind::kNone:
        break;
      case GpuRequirement::Kind::kDedicated:
        if (demand.kind != GpuDemand::Kind::kAll) demand.kind = GpuDemand::Kind::kDedicated;
        demand.count = SaturatingAdd(demand.count, requirement.count);
        break;
      case GpuRequirement::Kind::kAll:
        demand.kind = GpuDemand::Kind::kAll;
        break;
      case GpuRequirement::Kind::kShared:
        demand.kind = GpuDemand::Kind::kShared;
        demand.memory_mib = SaturatingAdd(demand.memory_mib, requirement.share.memory_mib);
        ++demand.containers;
        break;
    }
  }
  if (demand.kind == GpuDemand::Kind::kAll) demand.count = 0;
  return demand;
}

}  // namespace

Demand DemandOf(const TaskSpec& spec, const std::vector<std::string>& required_attributes,
                model::LaunchType launch_type) {
  Demand demand{.cpu_units = CpuUnits(spec),
                .memory_mib = MemoryMib(spec),
                .tcp_ports = StaticHostPorts(spec, model::Protocol::kTcp),
                .udp_ports = StaticHostPorts(spec, model::Protocol::kUdp),
                .gpu = GpuDemandOf(spec),
                .required_attributes = required_attributes,
                .launch_type = launch_type};
  std::sort(demand.required_attributes.begin(), demand.required_attributes.end());
  return demand;
}

}  // namespace berth::placement

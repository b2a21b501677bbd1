#include "scheduler/reservation.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/task_definition.h"
#include "placement/demand.h"

namespace berth::scheduler {
namespace {

using model::GpuId;
using model::GpuRequirement;
using model::GpuUse;
using placement::GpuDemand;
using placement::Reservation;

GpuUse UseFor(GpuDemand::Kind kind) {
  switch (kind) {
    case GpuDemand::Kind::kNone:
      return GpuUse::kIdle;
    case GpuDemand::Kind::kDedicated:
    case GpuDemand::Kind::kAll:
      return GpuUse::kDedicated;
    case GpuDemand::Kind::kShared:
      return GpuUse::kNvidiaMps;
  }
  BERTH_CHECK(false);
}

// In the order of first appearance, each once: sharing containers all name the same device.
std::vector<GpuId> GpusOf(const model::Task& task) {
  std::vector<GpuId> gpus;
  for (const model::TaskContainer& container : task.containers) {
    for (const GpuId& id : container.gpu_ids) {
      if (std::find(gpus.begin(), gpus.end(), id) == gpus.end()) gpus.push_back(id);
    }
  }
  return gpus;
}

std::optional<std::string> AddPorts(const std::vector<int64_t>& ports, const char* protocol,
                                    absl::btree_set<int64_t>& held) {
  for (const int64_t port : ports) {
    if (!held.insert(port).second) return absl::StrFormat("%s port %d", protocol, port);
  }
  return std::nullopt;
}

}  // namespace

Reservation ReservationOf(const model::Task& task) {
  BERTH_CHECK(task.spec != nullptr);
  placement::Demand demand = placement::DemandOf(*task.spec, {}, task.launch_type);
  Reservation reservation{.cpu_units = demand.cpu_units,
                          .memory_mib = demand.memory_mib,
                          .tcp_ports = std::move(demand.tcp_ports),
                          .udp_ports = std::move(demand.udp_ports),
                          .gpu_use = UseFor(demand.gpu.kind),
                          .gpus = GpusOf(task),
                          .group = task.group};
  if (demand.gpu.kind == GpuDemand::Kind::kShared) {
    reservation.gpu_memory_mib = demand.gpu.memory_mib;
    reservation.gpu_containers = demand.gpu.containers;
  }
  return reservation;
}

void AssignGpus(model::Task& task, const std::vector<GpuId>& gpus) {
  BERTH_CHECK(task.containers.size() == task.spec->containers.size());
  size_t dealt = 0;
  for (size_t i = 0; i < task.containers.size(); ++i) {
    const GpuRequirement requirement = model::GpuRequirementOf(task.spec->containers[i]);
    std::vector<GpuId>& ids = task.containers[i].gpu_ids;
    switch (requirement.kind) {
      case GpuRequirement::Kind::kNone:
        break;
      case GpuRequirement::Kind::kShared:
        BERTH_CHECK(gpus.size() == 1);
        ids = gpus;
        break;
      case GpuRequirement::Kind::kAll:
        ids = gpus;
        break;
      case GpuRequirement::Kind::kDedicated:
        BERTH_CHECK(dealt + static_cast<size_t>(requirement.count) <= gpus.size());
        for (int64_t n = 0; n < requirement.count; ++n) ids.push_back(gpus[dealt++]);
        break;
    }
  }
}

std::optional<std::string> InstanceUse::Add(const Reservation& reservation) {
  cpu_units += reservation.cpu_units;
  memory_mib += reservation.memory_mib;
  if (auto taken = AddPorts(reservation.tcp_ports, "TCP", tcp_ports)) return taken;
  if (auto taken = AddPorts(reservation.udp_ports, "UDP", udp_ports)) return taken;
  for (const GpuId& id : reservation.gpus) {
    Gpu& gpu = gpus[id];
    const bool both_share =
        gpu.use == GpuUse::kNvidiaMps && reservation.gpu_use == GpuUse::kNvidiaMps;
    if (gpu.use != GpuUse::kIdle && !both_share) return absl::StrFormat("GPU %s", id.value);
    gpu.use = reservation.gpu_use;
    gpu.memory_mib += reservation.gpu_memory_mib;
    gpu.containers += gpu.use == GpuUse::kDedicated ? 1 : reservation.gpu_containers;
  }
  return std::nullopt;
}

std::optional<std::string> FindExcess(const InstanceUse& use,
                                      const model::RegisteredResources& resources) {
  if (use.cpu_units > resources.cpu_units) {
    return absl::StrFormat("%d CPU units of %d", use.cpu_units, resources.cpu_units);
  }
  if (use.memory_mib > resources.memory_mib) {
    return absl::StrFormat("%d MiB of memory of %d", use.memory_mib, resources.memory_mib);
  }
  for (const auto& [id, gpu] : use.gpus) {
    const bool there = std::any_of(resources.gpus.begin(), resources.gpus.end(),
                                   [&id = id](const model::Gpu& had) { return had.id == id; });
    if (!there) return absl::StrFormat("GPU %s, which is not registered", id.value);
  }
  return std::nullopt;
}

}  // namespace berth::scheduler

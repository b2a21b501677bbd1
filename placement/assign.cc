#include "placement/assign.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

namespace berth::placement {
namespace {

using model::GpuUse;
using Kind = GpuDemand::Kind;

// The IDLE devices with the lowest ids.
std::vector<model::GpuId> LowestIdleGpus(const Instance& instance, int64_t count) {
  std::vector<const Device*> idle;
  for (const Device& device : instance.devices) {
    if (device.IsIdle()) idle.push_back(&device);
  }
  std::sort(idle.begin(), idle.end(),
            [](const Device* a, const Device* b) { return a->rank < b->rank; });
  std::vector<model::GpuId> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(idle[i]->id);
  return ids;
}

std::vector<model::GpuId> WholeGpus(const Instance& instance, int64_t count, DeviceSet chosen) {
  if (chosen == 0) return LowestIdleGpus(instance, count);
  std::vector<model::GpuId> ids;
  for (; chosen != 0; chosen &= chosen - 1) {
    ids.push_back(instance.devices[std::countr_zero(chosen)].id);
  }
  return ids;
}

model::GpuId GpuOfRank(const Instance& instance, int32_t rank) {
  const auto found = std::find_if(instance.devices.begin(), instance.devices.end(),
                                  [rank](const Device& device) { return device.rank == rank; });
  return found->id;
}

}  // namespace

Placement Assign(const Demand& demand, const Instance& instance, const GpuChoice& gpus) {
  Placement placement{.instance = instance.id,
                      .reservation = {.cpu_units = demand.cpu_units,
                                      .memory_mib = demand.memory_mib,
                                      .tcp_ports = demand.tcp_ports,
                                      .udp_ports = demand.udp_ports}};
  Reservation& reservation = placement.reservation;
  switch (demand.gpu.kind) {
    case Kind::kNone:
      break;
    case Kind::kDedicated:
      reservation.gpu_use = GpuUse::kDedicated;
      reservation.gpus = WholeGpus(instance, demand.gpu.count, gpus.whole);
      break;
    case Kind::kAll:
      reservation.gpu_use = GpuUse::kDedicated;
      reservation.gpus = WholeGpus(instance, IdleGpus(instance), gpus.whole);
      break;
    case Kind::kShared:
      reservation.gpu_use = GpuUse::kNvidiaMps;
      reservation.gpus = {GpuOfRank(instance, gpus.shared)};
      reservation.gpu_memory_mib = demand.gpu.memory_mib;
      reservation.gpu_containers = demand.gpu.containers;
      break;
  }
  return placement;
}

Fit FindFit(const Demand& demand, const Instance& instance) {
  if (demand.cpu_units > instance.remaining_cpu_units()) return {};
  if (demand.memory_mib > instance.remaining_memory_mib()) return {};
  for (const int64_t port : demand.tcp_ports) {
    if (IsPortInUse(instance, model::Protocol::kTcp, port)) return {};
  }
  for (const int64_t port : demand.udp_ports) {
    if (IsPortInUse(instance, model::Protocol::kUdp, port)) return {};
  }
  switch (demand.gpu.kind) {
    case Kind::kNone:
      return {.fits = true};
    case Kind::kDedicated:
      return {.fits = IdleGpus(instance) >= demand.gpu.count};
    case Kind::kAll: {
      const int64_t gpus = RegisteredGpus(instance);
      return {.fits = gpus > 0 && IdleGpus(instance) == gpus};
    }
    case Kind::kShared: {
      const Device* gpu = ChooseSharedGpu(demand.gpu, instance);
      return {.fits = gpu != nullptr, .gpu = gpu};
    }
  }
  return {};
}

const Device* ChooseSharedGpu(const GpuDemand& demand, const Instance& instance) {
  const auto rank = [](const Device& device) {
    return std::tuple(device.IsIdle(), device.remaining_memory_mib(), device.rank);
  };
  const Device* best = nullptr;
  for (const Device& device : instance.devices) {
    if (!device.registered || device.remaining_memory_mib() < demand.memory_mib) continue;
    if (FreeMpsClients(instance, device) < demand.containers) continue;
    if (best == nullptr || rank(device) < rank(*best)) best = &device;
  }
  return best;
}

}  // namespace berth::placement

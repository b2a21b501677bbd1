// What a task holds of its instance. It is never stored: it follows from the task's spec and the
// GPU ids on its containers, so a restart derives the same again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "model/container_instance.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "model/task.h"
#include "placement/inventory.h"

namespace berth::scheduler {

// Requires: the task has its spec.
placement::Reservation ReservationOf(const model::Task& task);

// Hands the chosen devices to the containers that asked: sharing containers all get the one GPU,
// dedicated ones distinct GPUs in the order of the definition, ALL every one.
// Requires: task.containers match task.spec, and gpus is what Place chose for it.
void AssignGpus(model::Task& task, const std::vector<model::GpuId>& gpus);

// The sum of the reservations on one instance, for the times when it is worth adding up: a
// registration with other totals, a restart, an audit.
struct InstanceUse {
  struct Gpu {
    model::GpuUse use = model::GpuUse::kIdle;
    int64_t memory_mib = 0;
    int64_t containers = 0;
  };
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  absl::btree_set<int64_t> tcp_ports = {};
  absl::btree_set<int64_t> udp_ports = {};
  absl::btree_map<model::GpuId, Gpu> gpus = {};

  // Nothing, or what of it is held already by a reservation that does not share.
  std::optional<std::string> Add(const placement::Reservation& reservation);
};

// Nothing, or what these tasks hold that the machine does not have. GPU memory and MPS clients are
// left out: a device may come back smaller while tasks are on it (gpu-sharing.md 1.4).
std::optional<std::string> FindExcess(const InstanceUse& use,
                                      const model::RegisteredResources& resources);

}  // namespace berth::scheduler

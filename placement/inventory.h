// What placement sees of one cluster: every container instance with its remaining resources, behind
// indexes that find the best fit without a scan.
//
// Owned by scheduler::ClusterState and used on the cluster loop's thread only. It keeps no task:
// the scheduler reserves and releases. Nothing can be over-committed: Reserve checks and aborts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/container_instance.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "placement/cluster_gpu_policy.h"
#include "placement/demand.h"

namespace berth::placement {

// What one placed task holds of its instance, until it is STOPPED.
struct Reservation {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::vector<int64_t> tcp_ports = {};
  std::vector<int64_t> udp_ports = {};
  model::GpuUse gpu_use = model::GpuUse::kIdle;  // kIdle: no GPU
  std::vector<model::GpuId> gpus = {};           // one when shared
  int64_t gpu_memory_mib = 0;                    // kNvidiaMps: on gpus[0]
  int64_t gpu_containers = 0;                    // kNvidiaMps
  std::string group = {};                        // the task's
};

// A device as it stands: DescribeContainerInstances' gpuDevices.
struct GpuState {
  model::GpuId id = {};
  model::GpuUse use = model::GpuUse::kIdle;
  int64_t total_memory_mib = 0;
  int64_t remaining_memory_mib = 0;  // 0 when DEDICATED, and never negative
  int64_t containers = 0;            // 1 when DEDICATED
};

// An instance as it stands. Copied out for replies.
// A device that the latest registration left out while tasks still hold it comes last, with no
// memory, until they end.
struct InstanceState {
  int64_t remaining_cpu_units = 0;
  int64_t remaining_memory_mib = 0;
  std::vector<int64_t> tcp_ports_in_use = {};  // the host's own and the tasks'; sorted
  std::vector<int64_t> udp_ports_in_use = {};
  std::vector<GpuState> gpus = {};  // in registered order
};

// What queries and rules know of an instance beyond its record and what is left of it.
struct InstanceFacts {
  bool connected = false;
  int64_t running_tasks = 0;
  std::map<std::string, int64_t> tasks_by_group = {};  // those that hold reservations

  bool operator==(const InstanceFacts&) const = default;
};

class Query;  // query.h

class Inventory {
 public:
  Inventory();
  ~Inventory();
  Inventory(Inventory&&) noexcept;
  Inventory& operator=(Inventory&&) noexcept;

  // Adds the instance, or takes over what it registered anew; reservations stay. Where it now has
  // less than its tasks hold, remaining is 0 until enough of them end. A GPU id given twice counts
  // once.
  void Put(const model::ContainerInstance& instance);
  // Whether it may take tasks: ACTIVE, connected and healthy. A new instance may not.
  void SetEligible(const model::InstanceId& id, bool eligible);
  // For queries alone: whether its agent is connected, and how many of its tasks are RUNNING.
  void SetConnected(const model::InstanceId& id, bool connected);
  void SetRunningTasks(const model::InstanceId& id, int64_t running_tasks);
  // Requires: no reservation is left on it.
  void Remove(const model::InstanceId& id);

  // Requires: the instance is there and what is reserved is free, as Place said.
  void Reserve(const model::InstanceId& id, const Reservation& reservation);
  // Replays, after a restart, what was placed before it. The machine may have registered with less
  // since: then remaining is 0 and a device may be gone, as after Put. False, and nothing changes,
  // when it contradicts what is held already: a port twice, a device both shared and dedicated.
  [[nodiscard]] bool Restore(const model::InstanceId& id, const Reservation& reservation);
  // Requires: it was reserved or restored, and not released yet.
  void Release(const model::InstanceId& id, const Reservation& reservation);

  // How Place orders the instances and chooses GPUs from now on; what the policy before it learned
  // is gone. At first: tightest.
  void SetGpuPolicy(ClusterGpuPolicy policy);
  ClusterGpuPolicy gpu_policy() const;
  // A task came, wherever it will go: for policies that learn what is asked for. Once for each task
  // and before it is placed.
  void NoteArrival(const Demand& demand);

  bool Contains(const model::InstanceId& id) const;
  // All of these require: Contains(id)
  InstanceState Find(const model::InstanceId& id) const;
  InstanceFacts Facts(const model::InstanceId& id) const;
  bool Matches(const model::InstanceId& id, const Query& query) const;
  int64_t size() const;
  int64_t eligible() const;  // how many may take tasks

  // Every broken invariant in words; for tests and the simulation. O(everything).
  std::vector<std::string> FindViolations() const;

  struct Impl;  // inventory_impl.h; shared by place.cc and explanation.cc
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::placement

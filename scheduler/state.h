// All that the control plane knows, in memory: the task definitions, and a ClusterState per cluster
// (cluster_state.h). Owned by the cluster loop and touched by its thread alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/change.h"
#include "placement/cluster_gpu_policy.h"

namespace berth::scheduler {

// How long ended things stay describable, and how many.
struct Retention {
  absl::Duration stopped_tasks = absl::Hours(24);
  int64_t stopped_tasks_max = 1'000'000;  // the oldest go first
  absl::Duration inactive_instances = absl::Hours(1);
  absl::Duration inactive_clusters = absl::Hours(24);
  absl::Duration client_tokens = absl::Hours(24);
  // Why a task group's tasks found no place: after the latest time, and of how many groups of a
  // cluster.
  absl::Duration failed_placements = absl::Hours(24);
  int64_t failed_placement_groups_max = 1'000;
};

class State {
 public:
  // The GPU policy is that of clusters whose tags name none (gpu_policy_tag.h).
  explicit State(Retention retention = {}, placement::ClusterGpuPolicy gpu_policy = {});
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;

  // Takes over what a store kept. Requires: the records are hydrated (model/change.h), and nothing
  // was loaded before. Every agent counts as disconnected until it connects. An error names the
  // record that does not fit the others.
  absl::Status Load(model::Records records);

  // Counts the changes made so far. Changes are numbered 1, 2, ... over the life of the State.
  uint64_t change_number() const;

  // Every broken invariant, in words. O(everything).
  std::vector<std::string> FindViolations() const;

  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::scheduler

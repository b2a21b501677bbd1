// What a State holds: definitions, clusters, the next primary keys, and what waits for its
// retention to pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "model/ids.h"
#include "scheduler/account.h"
#include "scheduler/cluster_state.h"
#include "scheduler/definitions.h"
#include "scheduler/state.h"

namespace berth::scheduler {

struct State::Impl {
  Impl(Retention keep, placement::ClusterGpuPolicy policy) : retention(keep), gpu_policy(policy) {}

  ClusterState* FindCluster(const model::ClusterName& name) const;
  // Null also when it is INACTIVE: to what would add to it, such a cluster is not there.
  ClusterState* FindActiveCluster(const model::ClusterName& name) const;
  ClusterState& AddCluster(model::ClusterRecord record, uint64_t change);
  void ReplaceCluster(ClusterState& cluster, model::ClusterRecord next, uint64_t change);
  // Requires: it holds nothing any more.
  void EraseCluster(const ClusterState& cluster);

  Retention retention;
  placement::ClusterGpuPolicy gpu_policy;  // where a cluster's tags name none
  uint64_t change_number = 0;
  // Of the newest deletion, a cluster's or revision's leaving of ACTIVE included: whoever is told
  // that something is not there waits for it.
  uint64_t newest_deletion = 0;

  Definitions definitions;
  Account account;
  absl::btree_map<model::ClusterName, std::unique_ptr<ClusterState>> clusters;
  absl::btree_set<model::ClusterName> active_clusters;
  uint64_t newest_cluster_change = 0;  // to a cluster's own record

  struct Sequences {
    int64_t cluster = 1;
    int64_t definition = 1;
    int64_t instance = 1;
    int64_t task = 1;
    int64_t access_key = 1;
  };
  Sequences next;

  // Oldest first. The second member makes the order total.
  template <class Key>
  using ByAge = absl::btree_map<std::pair<absl::Time, Key>, ClusterState*>;
  absl::btree_map<std::pair<absl::Time, int64_t>, std::pair<ClusterState*, TaskEntry*>>
      stopped_tasks;                            // key: stopped_at, sequence
  ByAge<model::InstanceId> inactive_instances;  // key: deregistered_at, id
  ByAge<std::string> tokens;                    // key: created_at, cluster/token
  ByAge<model::ClusterName> inactive_clusters;  // key: deleted_at, name

 private:
  // Among the ACTIVE ones, or those that are to be forgotten.
  void List(ClusterState& cluster);
  void Unlist(const ClusterState& cluster);
};

// The key of a token in State::Impl::tokens: unique over clusters, whose names have no slash.
std::string TokenKey(const model::ClientToken& token);

}  // namespace berth::scheduler

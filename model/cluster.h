#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/ids.h"
#include "model/tag.h"
#include "model/task_status.h"

namespace berth::model {

// A cluster: a named group of container instances and the tasks on them.
struct Cluster {
  ClusterName name = {};
  int64_t sequence = 0;  // primary key in the store
  ClusterStatus status = ClusterStatus::kActive;
  // settings, configuration, serviceConnectDefaults, capacityProviders and the default strategy as
  // given, normalised JSON. Opaque to the core; api/ echoes it.
  std::string document = "{}";
  Tags tags = {};
  absl::Time created_at = absl::InfinitePast();
  absl::Time deleted_at = absl::InfinitePast();  // InfinitePast: never
};

using ClusterRecord = std::shared_ptr<const Cluster>;

}  // namespace berth::model

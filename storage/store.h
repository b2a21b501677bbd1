// Where the cluster's records are kept. The core keeps everything in memory; a store only has to
// give it all back after a restart.
//
// Used by one thread at a time: Load once at start, then Commit from the committer's thread.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/change.h"

namespace berth::storage {

class Store {
 public:
  virtual ~Store() = default;

  // Everything that was committed. Records come back as model::Records says: without specs.
  virtual absl::StatusOr<model::Records> Load() = 0;

  // All of the changes or none, durable when it returns OK. After an error the same batch may be
  // committed again: every change is an upsert or a delete by key.
  virtual absl::Status Commit(std::span<const model::Change> changes) = 0;
};

}  // namespace berth::storage

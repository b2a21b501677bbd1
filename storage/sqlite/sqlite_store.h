// The store of a single server: one SQLite file.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/store.h"

namespace berth::storage {

struct SqliteOptions {
  // How long a commit waits for another program that is writing to the file, such as an operator's
  // shell, before it fails.
  absl::Duration busy_wait = absl::Seconds(5);
};

// Opens the data file, makes it when there is none, and upgrades it when an older berth wrote it.
// Its folder must exist. Refused, with an error that names the file: one that another server has
// open, that a newer berth wrote, or that is another program's.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path,
                                                       SqliteOptions options = {});

}  // namespace berth::storage

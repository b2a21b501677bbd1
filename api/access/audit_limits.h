// The limits of the audit log, apart from it because limits.h is included everywhere.
#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace berth::api {

struct AuditLimits {
  size_t queue_max = 64 * 1024;               // entries that wait to be written
  size_t file_bytes_max = 64u * 1024 * 1024;  // then the file is rotated
  size_t files_max = 10;                      // rotated ones that are kept
  size_t resources_max = 20;                  // of one call that are named; the rest is counted
  absl::Duration warning_interval = absl::Seconds(10);  // between log lines about failures
};

}  // namespace berth::api

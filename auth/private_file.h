// Files that only their owner may read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace berth::auth {

// Nothing when there is no such file. An error when it is no plain file, larger than `bytes_max`,
// or when group or others have any right to it: then it may have been read by anybody.
absl::StatusOr<std::optional<std::string>> ReadPrivateFile(const std::string& path,
                                                           size_t bytes_max);

// Makes or replaces the file, whole or not at all, with mode 0600; durable when it returns.
absl::Status WritePrivateFile(const std::string& path, std::string_view text);

}  // namespace berth::auth

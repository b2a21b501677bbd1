// Secrets at rest: sealed with AES-256-GCM under a key that lies in a file of its own, so that a
// copy of the database alone opens nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace berth::auth {

// Immutable; used on any thread.
class SecretBox {
 public:
  static constexpr size_t kKeyBytes = 32;

  // Requires: the key has kKeyBytes bytes.
  explicit SecretBox(std::string key);

  // Text that Open takes back. It opens only for the same `owner`, so that a row's secret cannot be
  // moved to another row.
  std::string Seal(std::string_view secret, std::string_view owner) const;
  // Nothing when it was sealed with another key, for another owner, or was changed since.
  std::optional<std::string> Open(std::string_view sealed, std::string_view owner) const;

 private:
  std::string key_;
};

// The key in the file, which must be a plain file that nobody but its owner can read. A missing
// file is made, with mode 0600, when `may_make`. Errors name the file and say what to do.
absl::StatusOr<SecretBox> LoadSecretBox(const std::string& path, bool may_make);

}  // namespace berth::auth

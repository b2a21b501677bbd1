// With which key the agent signs: from a file in the format of AWS's credentials files, which is
// read again when it changes, so that a key can be replaced while the agent runs; or a fixed one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "auth/sigv4.h"

namespace berth::agent {

// The profile's section of such a file: aws_access_key_id, aws_secret_access_key, and
// aws_session_token where there is one. The error says which line or name is missing.
absl::StatusOr<auth::Credentials> ParseCredentials(std::string_view text,
                                                   const std::string& profile);

class CredentialSource {
 public:
  explicit CredentialSource(auth::Credentials fixed) : current_(std::move(fixed)) {}

  // Reads the file, which must be good at first.
  static absl::StatusOr<std::shared_ptr<CredentialSource>> FromFile(const std::string& path,
                                                                    const std::string& profile);

  // Those of now. A file that has become unreadable leaves the ones before, and is logged once.
  const auth::Credentials& Current();

  // Where they come from, for messages.
  std::string Describe() const;

 private:
  struct Stamp {
    int64_t inode = 0;
    int64_t size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const std::string& path);
  absl::StatusOr<auth::Credentials> Read() const;

  std::string path_ = {};  // empty: fixed
  std::string profile_ = {};
  Stamp read_ = {};
  auth::Credentials current_ = {};
};

}  // namespace berth::agent

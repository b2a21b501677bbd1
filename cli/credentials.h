// Where a command that calls a server finds its access key.
#pragma once

#include <optional>
#include <string>

#include "auth/sigv4.h"

namespace berth::cli {

struct CredentialSources {
  std::string file = {};     // an AWS credentials file; empty: ~/.aws/credentials
  std::string profile = {};  // its section; empty: default
  std::string data = {};     // a server's data folder, for its admin-credentials
};

// The first of: the file or profile that is given; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; the
// file or profile that AWS_SHARED_CREDENTIALS_FILE or AWS_PROFILE names; DATA/admin-credentials.
// Throws std::runtime_error, saying where it looked.
auth::Credentials FindCredentials(const CredentialSources& sources);
// The same, or nothing where there are none at all: a server with --auth none wants none.
std::optional<auth::Credentials> LookForCredentials(const CredentialSources& sources);

}  // namespace berth::cli

// What agents are given that share a folder with the server, as by a volume of Compose: a key of
// role agent and whom to trust, so that a first start needs no step by hand.
//
//   DIR/credentials  0600  an AWS credentials file: the key of user `agent`
//   DIR/ca.pem       0644  the authority of a self-signed server
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "auth/secret_box.h"
#include "model/access_key.h"

namespace berth::api {

// Nothing when DIR/credentials holds a key that the store knows, is of role agent, and was not
// revoked; else a new key, whose credentials are written there first: should the key then not be
// kept, the next start makes another.
absl::StatusOr<std::optional<model::AccessKey>> MakeAgentKey(
    const std::string& folder, const std::vector<model::AccessKeyRecord>& records,
    const auth::SecretBox& box);

// Puts a copy of the authority's certificate there, where the one there is another.
absl::Status ShareAuthority(const std::string& ca_file, const std::string& folder);

}  // namespace berth::api

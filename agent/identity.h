// Who this agent is, over restarts: the content of instance.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace berth::agent {

struct Identity {
  std::string agent_id = {};      // made once; in labels and the ids of simulated GPUs
  std::string cluster = {};       // as configured when the file was made; "default" for none
  std::string instance_arn = {};  // empty: not registered yet
  std::string ec2_instance_id = {};
  int64_t manifest_number = -1;  // the highest timeline acted upon
};

std::string EncodeIdentity(const Identity& identity);
absl::StatusOr<Identity> DecodeIdentity(std::string_view text);

// A new random id, in the form of a UUID.
std::string NewUuid();

}  // namespace berth::agent

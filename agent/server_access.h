// How the server is reached: where it is, whom to trust, with which key to sign.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "agent/agent.h"
#include "agent/connect.h"
#include "agent/credentials.h"
#include "transport/tls.h"

namespace berth::agent {

struct ServerAccess {
  HttpAddress address = {};
  transport::TlsContextPtr tls = nullptr;  // for https
  std::string region = {};
  std::shared_ptr<CredentialSource> credentials = nullptr;  // none: requests are not signed
};

// Reads the files that the settings name. Errors say what is wrong with which.
absl::StatusOr<ServerAccess> MakeServerAccess(const AgentSettings& settings);

}  // namespace berth::agent

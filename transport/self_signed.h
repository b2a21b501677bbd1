// The certificate of a server whose operator has none: an authority of its own and a certificate
// that it signs, in a folder.
//
//   ca.pem          0644  the authority: what clients and agents are given to trust
//   ca-key.pem      0600  its key, with which the server's certificate is renewed
//   server.pem      0644  the server's certificate
//   server-key.pem  0600  its key
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace berth::transport {

struct SelfSignedFiles {
  std::string ca = {};
  std::string ca_key = {};
  std::string certificate = {};
  std::string key = {};
};

SelfSignedFiles SelfSignedFilesIn(const std::string& folder);

// loopback's names, this machine's, and the given ones; each once.
std::vector<std::string> SelfSignedNames(const std::vector<std::string>& more);

// Makes what is missing, and a new server certificate where the present one is near its end, is not
// for all the names, or is not the authority's. True: something was made. The authority is made
// anew only when it is near its own end, in which case clients need its new file. Each file is
// replaced as a whole.
absl::StatusOr<bool> EnsureSelfSigned(const std::string& folder,
                                      const std::vector<std::string>& names, absl::Time now);

}  // namespace berth::transport

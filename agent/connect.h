// Connecting to an address: resolve, connect, and TLS where it is spoken.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/net.h"
#include "transport/stream.h"
#include "transport/tls.h"

namespace berth::agent {

struct HttpAddress {
  std::string socket_path = {};  // of a unix socket; empty: TCP
  bool tls = false;
  std::string host = {};
  std::string port = {};
  std::string path = {};  // what an URL had after the authority, without a final slash
};

// "http://host:port/path" or https. Refuses other schemes and an URL with a query.
absl::StatusOr<HttpAddress> ParseHttpUrl(std::string_view url);
// "host:port", for messages and the Host header.
std::string Authority(const HttpAddress& address);

// `tls`: whom to trust, where the address is one of TLS; none: the system's authorities. Errors:
// kUnavailable, there is no such peer; kDeadlineExceeded, it took too long; kFailedPrecondition,
// its certificate is not good.
net::awaitable<absl::StatusOr<transport::Stream>> ConnectTo(HttpAddress address,
                                                            transport::TlsContextPtr tls,
                                                            absl::Time deadline);

}  // namespace berth::agent

// An HTTP/1.1 client over TCP, TLS or a unix socket: the way to the server's API and to Docker.
//
// Connections are kept and used again; one that the peer closed meanwhile is replaced without the
// caller noticing, so callers send only what may be sent twice. Every exchange has a deadline.
// One thread: the io_context's that the caller's coroutine runs on. It does not follow redirects.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/connect.h"
#include "agent/net.h"

namespace berth::agent {

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

struct HttpResponse {
  int status = 0;
  std::string date = {};  // the header; empty when absent
  std::string body = {};
};

struct ExchangeLimits {
  absl::Duration total = absl::Seconds(42);
  absl::Duration idle = absl::InfiniteDuration();  // between two pieces of the response
  uint64_t body_bytes_max = 16 * 1024 * 1024;
  // Given: gets the body piece by piece when the status is 200, and the response's body stays
  // empty.
  std::function<void(std::string_view)> on_body = {};
};

// Errors: those of ConnectTo; kUnavailable, there is no talking to the peer; kDeadlineExceeded, it
// took too long; kResourceExhausted, the answer is larger than the limit.
class HttpClient {
 public:
  // `tls`: whom to trust, where the address is one of TLS.
  explicit HttpClient(HttpAddress address, transport::TlsContextPtr tls = nullptr);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  net::awaitable<absl::StatusOr<HttpResponse>> Exchange(HttpRequest request, ExchangeLimits limits);

  const HttpAddress& address() const { return address_; }

 private:
  struct Connection;

  net::awaitable<absl::StatusOr<std::unique_ptr<Connection>>> Connect(absl::Time deadline);
  net::awaitable<absl::StatusOr<HttpResponse>> ExchangeOn(Connection& connection,
                                                          const HttpRequest& request,
                                                          const ExchangeLimits& limits,
                                                          absl::Time deadline);

  HttpAddress address_;
  transport::TlsContextPtr tls_;
  std::deque<std::unique_ptr<Connection>> idle_;
};

}  // namespace berth::agent

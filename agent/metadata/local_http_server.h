// A small HTTP server for questions about this agent, on the loopback address.
//
// One thread, the executor's. It reads and answers GET; what is asked is the caller's. Limits on
// connections, sizes and time are its own, so that no client holds the agent up. A request whose
// Host header names anything but this machine is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "absl/status/statusor.h"
#include "agent/net.h"

namespace berth::agent {

struct LocalAnswer {
  unsigned status = 200;
  std::string json = {};
};

class LocalHttpServer : public std::enable_shared_from_this<LocalHttpServer> {
 public:
  // The target of a GET, path and query as they were sent.
  using Answer = std::function<LocalAnswer(std::string_view target)>;

  // Accepts at 127.0.0.1 until the executor's context ends. Port 0: any free one.
  // An error says what is wrong with the port.
  static absl::StatusOr<std::shared_ptr<LocalHttpServer>> Listen(
      const net::any_io_executor& executor, uint16_t port, Answer answer);

  uint16_t port() const { return port_; }

 private:
  LocalHttpServer(const net::any_io_executor& executor, Answer answer);

  net::awaitable<void> Accept();
  net::awaitable<void> Serve(net::ip::tcp::socket socket);

  net::ip::tcp::acceptor acceptor_;
  const Answer answer_;
  uint16_t port_ = 0;
  int connections_ = 0;
};

}  // namespace berth::agent

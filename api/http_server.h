// The HTTP listener: accepts connections up to a limit, gives each a Session on a strand of its
// own, and ends them in order at shutdown.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/http_handler.h"
#include "api/limits.h"
#include "api/net.h"
#include "api/session_totals.h"
#include "transport/stream.h"
#include "transport/tls.h"

namespace berth::api {

class Session;

class HttpServer {
 public:
  // Both outlive it, and it outlives the threads that run the context.
  HttpServer(net::io_context& io, HttpHandler& handler, const HttpLimits& limits);
  ~HttpServer();

  // From now on, what new connections speak TLS with. Before Listen, or when it changes; from any
  // thread. Never told: plain HTTP.
  void UseTls(transport::TlsContextPtr tls);

  // An error names the address and what is wrong with it. Port 0: any free one.
  absl::Status Listen(const std::string& host, uint16_t port);
  uint16_t port() const { return port_; }

  size_t connections() const;

  // Accepts no more, lets each connection finish the request under way, and waits for that until
  // `deadline`. Agents' channels stay, for their owner to end. Not from a thread of the context.
  void Drain(absl::Time deadline);
  // Waits until no connection is left, as after the agents' channels were told to end.
  void AwaitNone(absl::Time deadline);
  // Cuts off what is left, and waits for it to end until `deadline`.
  void Abort(absl::Time deadline);

 private:
  net::awaitable<void> Accept();
  void Start(transport::Stream stream);
  void Ended(const Session* session, std::exception_ptr thrown);

  net::io_context& io_;
  HttpHandler& handler_;
  const HttpLimits limits_;
  SessionTotals totals_;
  net::ip::tcp::acceptor acceptor_;
  uint16_t port_ = 0;

  mutable absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  transport::TlsContextPtr tls_ ABSL_GUARDED_BY(mutex_);
  std::map<const Session*, std::weak_ptr<Session>> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth::api

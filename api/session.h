// One connection of a client: reads requests one after the other, has each answered, writes the
// answers in the same order. Everything that a client can do wrong or leave undone on the level of
// HTTP ends here, by the limits of HttpLimits.
//
// Kept alive by its own coroutine, which runs on the socket's executor, a strand. Drain and Abort
// may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/http_handler.h"
#include "api/limits.h"
#include "api/net.h"
#include "api/session_totals.h"
#include "transport/deadline.h"
#include "transport/stream.h"
#include "transport/tls.h"

namespace berth::api {

class Session : public std::enable_shared_from_this<Session> {
 public:
  // The handler and `totals` outlive it.
  // `tls`: what https is spoken with; none for plain HTTP.
  Session(transport::Stream stream, transport::TlsContextPtr tls, HttpHandler& handler,
          const HttpLimits& limits, SessionTotals& totals);

  // Until the connection ends.
  static net::awaitable<void> Serve(std::shared_ptr<Session> self);
  // Says that there are too many connections, and ends this one.
  static net::awaitable<void> TurnAway(std::shared_ptr<Session> self);

  // Ends the connection once the request under way has been answered, now if there is none.
  void Drain();
  void Abort();

 private:
  struct ReadAhead;  // what was read and not used yet

  // Each returns whether the connection goes on.
  net::awaitable<bool> Handshake();
  net::awaitable<bool> ServeOne(ReadAhead& ahead);
  net::awaitable<bool> RejectForLargeBodies();
  net::awaitable<bool> AwaitFirstByte(ReadAhead& ahead);
  net::awaitable<bool> Write(const HttpResponse& response, const std::string& request_id,
                             bool keep_alive, bool http_1_0 = false, bool head_only = false);

  // Answers a request that is not whole, where that can still be done.
  net::awaitable<bool> Reject(boost::system::error_code error, const char* part);
  net::awaitable<bool> RejectWith(const HttpResponse& response);
  net::awaitable<void> Linger();
  void Close();

  transport::Stream stream_;
  const transport::TlsContextPtr tls_;
  HttpHandler& handler_;
  const HttpLimits limits_;
  SessionTotals& totals_;
  transport::Deadline deadline_;
  std::string peer_;   // the client's numeric address
  bool idle_ = false;  // before the first request, or between two
  bool draining_ = false;
};

}  // namespace berth::api

#include "api/http_server.h"

#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "api/session.h"

namespace berth::api {

namespace {
constexpr auto kNoThrow = net::as_tuple(net::use_awaitable);
}  // namespace

HttpServer::HttpServer(net::io_context& io, HttpHandler& handler, const HttpLimits& limits)
    : io_(io), handler_(handler), limits_(limits), acceptor_(net::make_strand(io)) {}

HttpServer::~HttpServer() = default;

absl::Status HttpServer::Listen(const std::string& host, uint16_t port) {
  const auto fails = [&](const boost::system::error_code& error) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen on %s port %d: %s", host, port, error.message()));
  };
  boost::system::error_code error;
  net::ip::tcp::resolver resolver(io_);
  const auto found = resolver.resolve(
      host, std::to_string(port),
      net::ip::tcp::resolver::numeric_service | net::ip::tcp::resolver::passive, error);
  if (error) return fails(error);
  const net::ip::tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor_.open(endpoint.protocol(), error);
  if (error) return fails(error);
  acceptor_.set_option(net::socket_base::reuse_address(true), error);
  if (error) return fails(error);
  acceptor_.bind(endpoint, error);
  if (error) return fails(error);
  acceptor_.listen(net::socket_base::max_listen_connections, error);
  if (error) return fails(error);
  port_ = acceptor_.local_endpoint(error).port();
  if (error) return fails(error);
  net::co_spawn(acceptor_.get_executor(), Accept(), net::detached);
  return absl::OkStatus();
}

net::awaitable<void> HttpServer::Accept() {
  net::steady_timer pause(acceptor_.get_executor());
  while (acceptor_.is_open()) {
    const net::any_io_executor strand = net::make_strand(io_);
    auto [error, socket] = co_await acceptor_.async_accept(strand, kNoThrow);
    if (!error) {
      transport::Stream stream{transport::Stream::Socket(std::move(socket))};
      Start(std::move(stream));
      continue;
    }
    if (!acceptor_.is_open()) co_return;
    // Out of file descriptors, for instance: what there is goes on, new ones wait in the backlog.
    spdlog::error("cannot accept a connection: {}", error.message());
    pause.expires_after(absl::ToChronoNanoseconds(limits_.accept_pause));
    co_await pause.async_wait(kNoThrow);
  }
}

void HttpServer::UseTls(transport::TlsContextPtr tls) {
  absl::MutexLock lock(&mutex_);
  tls_ = std::move(tls);
}

void HttpServer::Start(transport::Stream stream) {
  const net::any_io_executor strand = stream.get_executor();
  std::shared_ptr<Session> session;
  bool room = false;
  {
    absl::MutexLock lock(&mutex_);
    // Beyond this not even the refusal is worth a file descriptor.
    if (draining_ || sessions_.size() >= limits_.connections_max + limits_.turned_away_max) return;
    room = sessions_.size() < limits_.connections_max;
    session = std::make_shared<Session>(std::move(stream), tls_, handler_, limits_, totals_);
    sessions_.emplace(session.get(), session);
  }
  const Session* key = session.get();
  net::co_spawn(strand,
                room ? Session::Serve(std::move(session)) : Session::TurnAway(std::move(session)),
                [this, key](std::exception_ptr thrown) { Ended(key, thrown); });
}

void HttpServer::Ended(const Session* session, std::exception_ptr thrown) {
  if (thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      spdlog::error("a connection ended with an exception: {}", error.what());
    }
  }
  absl::MutexLock lock(&mutex_);
  sessions_.erase(session);
}

size_t HttpServer::connections() const {
  absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

void HttpServer::Drain(absl::Time deadline) {
  net::post(acceptor_.get_executor(), [this] {
    boost::system::error_code ignored;  // Nothing is accepted after it either way.
    acceptor_.close(ignored);
  });
  std::vector<std::shared_ptr<Session>> sessions;
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    for (const auto& [key, weak] : sessions_) {
      if (auto session = weak.lock()) sessions.push_back(std::move(session));
    }
  }
  for (const auto& session : sessions) session->Drain();
  sessions.clear();
  absl::MutexLock lock(&mutex_);
  const auto only_channels = [this] { return sessions_.size() <= totals_.channels; };
  mutex_.AwaitWithDeadline(absl::Condition(&only_channels), deadline);
}

void HttpServer::AwaitNone(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto none = [this] { return sessions_.empty(); };
  mutex_.AwaitWithDeadline(absl::Condition(&none), deadline);
}

void HttpServer::Abort(absl::Time deadline) {
  std::vector<std::shared_ptr<Session>> sessions;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, weak] : sessions_) {
      if (auto session = weak.lock()) sessions.push_back(std::move(session));
    }
  }
  for (const auto& session : sessions) session->Abort();
  sessions.clear();
  AwaitNone(deadline);
}

}  // namespace berth::api

#include "api/session.h"

#include <array>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>
#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/http_text.h"
#include "api/websocket_handshake.h"

namespace berth::api {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

using Parser = http::request_parser<http::string_body>;

constexpr auto kNoThrow = net::as_tuple(net::use_awaitable);
// Read ahead of what the header limit needs; a pipelining client's next requests.
constexpr size_t kReadAheadMax = 64 * 1024;
constexpr size_t kReadSize = 8 * 1024;
constexpr unsigned char kTlsHandshake = 0x16;  // the first byte of any
constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";

std::string ToString(beast::string_view view) { return {view.data(), view.size()}; }

bool WantsWebsocket(const http::request<http::string_body>& request) {
  return request.method() == http::verb::get && request.version() == 11 &&
         http::token_list(request[http::field::upgrade]).exists("websocket");
}

// For the signature; without one nobody asks for them.
std::vector<std::pair<std::string, std::string>> HeadersOf(
    const http::request<http::string_body>& request) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (request.find(http::field::authorization) == request.end()) return headers;
  for (const auto& field : request) {
    headers.emplace_back(ToString(field.name_string()), ToString(field.value()));
  }
  return headers;
}

HttpRequest Take(http::request<http::string_body>& request, std::string request_id,
                 const std::string& peer) {
  return {.method = ToString(request.method_string()),
          .target = ToString(request.target()),
          .host = ToString(request[http::field::host]),
          .origin = ToString(request[http::field::origin]),
          .amz_target = ToString(request["X-Amz-Target"]),
          .request_id = std::move(request_id),
          .peer = peer,
          .body = std::move(request.body()),
          .headers = HeadersOf(request)};
}

// A large body's share of what all may take together, until its answer is there.
class LargeBodyShare {
 public:
  explicit LargeBodyShare(std::atomic<size_t>& taken) : taken_(taken) {}
  ~LargeBodyShare() { GiveBack(); }
  LargeBodyShare(const LargeBodyShare&) = delete;
  LargeBodyShare& operator=(const LargeBodyShare&) = delete;

  // False, and nothing is taken: there is not so much left.
  bool Take(size_t bytes, size_t max) {
    bytes_ = bytes;
    if ((taken_ += bytes) <= max) return true;
    GiveBack();
    return false;
  }
  void GiveBack() { taken_ -= std::exchange(bytes_, 0); }

 private:
  std::atomic<size_t>& taken_;
  size_t bytes_ = 0;
};

// Chunked ones do not say how large they will be.
size_t BodyBytesMax(const Parser& parser, const HttpLimits& limits) {
  const auto length = parser.content_length();
  return length ? static_cast<size_t>(*length) : limits.body_bytes_max;
}

}  // namespace

struct Session::ReadAhead {
  explicit ReadAhead(size_t bytes_max) : buffer(bytes_max) {}
  beast::flat_buffer buffer;
};

Session::Session(transport::Stream stream, transport::TlsContextPtr tls, HttpHandler& handler,
                 const HttpLimits& limits, SessionTotals& totals)
    : stream_(std::move(stream)),
      tls_(std::move(tls)),
      handler_(handler),
      limits_(limits),
      totals_(totals),
      deadline_(stream_) {}

net::awaitable<void> Session::Serve(std::shared_ptr<Session> self) {
  boost::system::error_code ignored;  // It only makes small answers faster, or has gone already.
  self->stream_.socket().set_option(net::ip::tcp::no_delay(true), ignored);
  self->peer_ = self->stream_.peer();
  if (co_await self->Handshake()) {
    ReadAhead ahead(self->limits_.header_bytes_max + kReadAheadMax);
    while (co_await self->ServeOne(ahead)) {
    }
  }
  self->Close();
}

net::awaitable<void> Session::TurnAway(std::shared_ptr<Session> self) {
  const HttpResponse response =
      ErrorResponse(503, "ServerException",
                    absl::StrFormat("the server has its %d connections already; try again later",
                                    self->limits_.connections_max));
  if (co_await self->Handshake()) co_await self->RejectWith(response);
  self->Close();
}

// TLS, where it is spoken. A client that speaks plain HTTP is told so in its own words.
net::awaitable<bool> Session::Handshake() {
  if (tls_ == nullptr) co_return true;
  if (draining_) co_return false;
  idle_ = true;
  deadline_.Arm(limits_.handshake_max);
  unsigned char first = 0;
  auto [error, bytes] = co_await stream_.socket().async_receive(
      net::buffer(&first, 1), net::socket_base::message_peek, kNoThrow);
  idle_ = false;
  if (error || bytes == 0 || draining_) co_return false;
  if (first != kTlsHandshake) {
    const HttpResponse response = ErrorResponse(
        400, "InvalidParameterException", "this port speaks TLS: use https:// instead of http://");
    co_return co_await RejectWith(response);
  }
  idle_ = true;
  const absl::Status begun = co_await stream_.ServeTls(tls_);
  idle_ = false;
  deadline_.Disarm();
  if (begun.ok()) co_return !draining_;
  spdlog::info("a connection ended before its first request: {}", std::string(begun.message()));
  co_return false;
}

net::awaitable<bool> Session::ServeOne(ReadAhead& ahead) {
  if (!co_await AwaitFirstByte(ahead)) co_return false;

  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes_max));
  parser.body_limit(limits_.body_bytes_max);
  deadline_.Arm(limits_.header_max);
  auto [header_error, header_bytes] =
      co_await http::async_read_header(stream_, ahead.buffer, parser, kNoThrow);
  if (header_error) co_return co_await Reject(header_error, "header");
  // The parser's own limit counts neither the request line nor what came in one piece.
  if (header_bytes > limits_.header_bytes_max) {
    co_return co_await Reject(http::error::header_limit, "header");
  }

  LargeBodyShare share(totals_.large_bodies_bytes);
  if (!parser.is_done()) {
    const size_t body_bytes_max = BodyBytesMax(parser, limits_);
    if (body_bytes_max > limits_.small_body_bytes_max &&
        !share.Take(body_bytes_max, limits_.large_bodies_bytes_max)) {
      co_return co_await RejectForLargeBodies();
    }
    const beast::string_view expect = parser.get()[http::field::expect];
    if (!expect.empty() && parser.get().version() == 11) {
      if (!beast::iequals(expect, "100-continue")) {
        const HttpResponse response =
            ErrorResponse(417, "InvalidParameterException",
                          "the only expectation that can be met is 100-continue");
        co_return co_await RejectWith(response);
      }
      deadline_.Arm(limits_.write_max);
      auto [error, written] = co_await net::async_write(
          stream_, net::buffer(kContinue, sizeof(kContinue) - 1), kNoThrow);
      if (error) co_return false;
    }
    deadline_.Arm(limits_.body_max);
    auto [body_error, body_bytes] =
        co_await http::async_read(stream_, ahead.buffer, parser, kNoThrow);
    if (body_error) co_return co_await Reject(body_error, "body");
  }
  deadline_.Disarm();

  http::request<http::string_body>& message = parser.get();
  const bool keep_alive = message.keep_alive();
  const bool http_1_0 = message.version() == 10;
  const bool head_only = message.method() == http::verb::head;
  const bool upgrade = WantsWebsocket(message);
  const std::string request_id = NewRequestId();
  HttpRequest request = Take(message, request_id, peer_);

  HttpResponse response;
  try {
    if (upgrade) {
      WebsocketHandshake handshake{stream_, message};
      ++totals_.channels;
      auto refusal = co_await handler_.Upgrade(std::move(request), handshake);
      --totals_.channels;
      if (!refusal) co_return false;
      response = *std::move(refusal);
    } else {
      response = co_await handler_.Respond(std::move(request));
    }
  } catch (const std::exception& error) {
    spdlog::error("request {} threw: {}", request_id, error.what());
    response =
        ErrorResponse(500, "ServerException",
                      "internal failure; the server's log has it under request " + request_id);
  }
  share.GiveBack();
  co_return co_await Write(response, request_id, keep_alive, http_1_0, head_only);
}

net::awaitable<bool> Session::AwaitFirstByte(ReadAhead& ahead) {
  if (draining_) co_return false;
  if (ahead.buffer.size() > 0) co_return true;
  idle_ = true;
  deadline_.Arm(limits_.idle_max);
  auto [error, bytes] = co_await stream_.async_read_some(ahead.buffer.prepare(kReadSize), kNoThrow);
  idle_ = false;
  if (error) co_return false;
  ahead.buffer.commit(bytes);
  co_return true;
}

net::awaitable<bool> Session::Write(const HttpResponse& response, const std::string& request_id,
                                    bool keep_alive, bool http_1_0, bool head_only) {
  keep_alive = keep_alive && !draining_;
  const std::string head = FormatResponseHead(response, {.request_id = request_id,
                                                         .keep_alive = keep_alive,
                                                         .http_1_0 = http_1_0,
                                                         .date = absl::Now()});
  const std::array<net::const_buffer, 2> text = {
      net::buffer(head), head_only ? net::const_buffer() : net::buffer(response.body)};
  deadline_.Arm(limits_.write_max);
  auto [error, bytes] = co_await net::async_write(stream_, text, kNoThrow);
  deadline_.Disarm();
  if (error) co_return false;
  if (!keep_alive) co_await Linger();
  co_return keep_alive;
}

net::awaitable<bool> Session::Reject(boost::system::error_code error, const char* part) {
  HttpResponse response;
  if (deadline_.expired()) {
    const absl::Duration limit = part[0] == 'h' ? limits_.header_max : limits_.body_max;
    response = ErrorResponse(408, "RequestTimeoutException",
                             absl::StrFormat("the request's %s did not arrive within %s", part,
                                             absl::FormatDuration(limit)));
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    response = ErrorResponse(
        431, "InvalidParameterException",
        absl::StrFormat("the request's header is larger than %d bytes", limits_.header_bytes_max));
  } else if (error == http::error::body_limit) {
    response = ErrorResponse(
        413, "InvalidParameterException",
        absl::StrFormat("the request's body is larger than %d bytes", limits_.body_bytes_max));
  } else if (error == http::error::partial_message) {
    response = ErrorResponse(400, "SerializationException",
                             absl::StrFormat("the connection ended within the request's %s", part));
  } else if (error != http::error::end_of_stream &&
             error.category() == http::make_error_code(http::error::bad_method).category()) {
    response = ErrorResponse(400, "SerializationException", "malformed HTTP: " + error.message());
  } else {
    co_return false;  // The client is gone.
  }
  co_return co_await RejectWith(response);
}

net::awaitable<bool> Session::RejectForLargeBodies() {
  const HttpResponse response = ErrorResponse(
      503, "ServerException",
      absl::StrFormat("the large requests that are under way take %d bytes together, which is all "
                      "they may; try again, or send a body of at most %d bytes",
                      limits_.large_bodies_bytes_max, limits_.small_body_bytes_max));
  co_return co_await RejectWith(response);
}

net::awaitable<bool> Session::RejectWith(const HttpResponse& response) {
  const std::string request_id = NewRequestId();
  spdlog::info("{} - {} {}", request_id, response.status, response.body);
  co_return co_await Write(response, request_id, false);
}

// Closing with unread bytes makes the peer's system throw the answer away.
net::awaitable<void> Session::Linger() {
  deadline_.Arm(limits_.linger_max);
  co_await stream_.EndWriting();
  co_await stream_.ReadOut(limits_.linger_bytes_max);
}

void Session::Drain() {
  net::post(stream_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    if (self->idle_) self->Close();
  });
}

void Session::Abort() {
  net::post(stream_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    self->Close();
  });
}

void Session::Close() { stream_.Close(); }

}  // namespace berth::api

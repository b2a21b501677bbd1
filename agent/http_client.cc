#include "agent/http_client.h"

#include <optional>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "transport/deadline.h"

namespace berth::agent {

namespace beast = boost::beast;
namespace http = beast::http;
using beast::error_code;

namespace {

constexpr size_t kIdleConnectionsMax = 64;
constexpr size_t kReadPieceBytes = 16 * 1024;
constexpr uint32_t kHeaderBytesMax = 64 * 1024;

absl::Status ToStatus(std::string_view what, const error_code& error, bool expired) {
  if (expired) return absl::DeadlineExceededError(absl::StrFormat("%s: it took too long", what));
  const std::string message = absl::StrFormat("%s: %s", what, error.message());
  if (error == http::error::body_limit) return absl::ResourceExhaustedError(message);
  return absl::UnavailableError(message);
}

std::string Describe(const HttpAddress& address) {
  return address.socket_path.empty() ? Authority(address) : address.socket_path;
}

}  // namespace

struct HttpClient::Connection {
  explicit Connection(transport::Stream connected)
      : stream(std::move(connected)), deadline(stream) {}

  transport::Stream stream;
  transport::Deadline deadline;
  beast::flat_buffer buffer = {};
  bool used = false;            // has carried an exchange before
  bool response_begun = false;  // of the exchange now on it
};

HttpClient::HttpClient(HttpAddress address, transport::TlsContextPtr tls)
    : address_(std::move(address)), tls_(std::move(tls)) {}
HttpClient::~HttpClient() = default;

net::awaitable<absl::StatusOr<std::unique_ptr<HttpClient::Connection>>> HttpClient::Connect(
    absl::Time deadline) {
  absl::StatusOr<transport::Stream> stream = co_await ConnectTo(address_, tls_, deadline);
  if (!stream.ok()) co_return stream.status();
  co_return std::make_unique<Connection>(*std::move(stream));
}

net::awaitable<absl::StatusOr<HttpResponse>> HttpClient::ExchangeOn(Connection& connection,
                                                                    const HttpRequest& request,
                                                                    const ExchangeLimits& limits,
                                                                    absl::Time deadline) {
  auto& stream = connection.stream;
  const auto arm = [&connection, &limits, deadline] {
    connection.deadline.Arm(std::min(deadline - absl::Now(), limits.idle));
  };
  const auto fails = [&connection](std::string_view what, const error_code& error) {
    return ToStatus(what, error, connection.deadline.expired());
  };
  const std::string peer = Describe(address_);
  connection.response_begun = false;

  http::request<http::string_body> message;
  message.version(11);
  message.method_string(request.method);
  message.target(address_.path + request.target);
  message.set(http::field::host, Authority(address_));
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.body() = request.body;
  message.prepare_payload();

  error_code error;
  arm();
  co_await http::async_write(stream, message, net::redirect_error(net::use_awaitable, error));
  if (error) co_return fails(absl::StrFormat("cannot send to %s", peer), error);

  http::response_parser<http::buffer_body> parser;
  parser.header_limit(kHeaderBytesMax);
  parser.body_limit(limits.on_body ? boost::none
                                   : boost::optional<uint64_t>(limits.body_bytes_max));
  arm();
  co_await http::async_read_header(stream, connection.buffer, parser,
                                   net::redirect_error(net::use_awaitable, error));
  if (error) co_return fails(absl::StrFormat("no answer from %s", peer), error);
  connection.response_begun = true;

  HttpResponse response;
  response.status = static_cast<int>(parser.get().result_int());
  response.date = std::string(parser.get()[http::field::date]);
  const bool streams = limits.on_body && response.status == 200;
  std::vector<char> piece(kReadPieceBytes);
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    arm();
    co_await http::async_read(stream, connection.buffer, parser,
                              net::redirect_error(net::use_awaitable, error));
    if (error && error != http::error::need_buffer) {
      co_return fails(absl::StrFormat("the answer of %s broke off", peer), error);
    }
    const std::string_view text(piece.data(), piece.size() - parser.get().body().size);
    if (streams) {
      limits.on_body(text);
    } else {
      response.body.append(text);
      if (response.body.size() > limits.body_bytes_max) {
        co_return absl::ResourceExhaustedError(
            absl::StrFormat("%s answered with more than %d bytes", peer, limits.body_bytes_max));
      }
    }
  }
  connection.used = parser.get().keep_alive();
  co_return response;
}

net::awaitable<absl::StatusOr<HttpResponse>> HttpClient::Exchange(HttpRequest request,
                                                                  ExchangeLimits limits) {
  const absl::Time deadline = absl::Now() + limits.total;
  while (true) {
    std::unique_ptr<Connection> connection;
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    } else {
      absl::StatusOr<std::unique_ptr<Connection>> fresh = co_await Connect(deadline);
      if (!fresh.ok()) co_return fresh.status();
      connection = *std::move(fresh);
    }
    const bool was_used = connection->used;
    connection->used = false;
    absl::StatusOr<HttpResponse> response =
        co_await ExchangeOn(*connection, request, limits, deadline);
    if (response.ok()) {
      if (connection->used && idle_.size() < kIdleConnectionsMax) {
        connection->deadline.Disarm();
        idle_.push_back(std::move(connection));
      }
      co_return response;
    }
    // A kept connection that the peer had closed meanwhile says nothing about the peer: the same
    // request goes over another one. Each attempt uses up an idle connection, so this ends.
    const bool stale = was_used && !connection->response_begun &&
                       response.status().code() == absl::StatusCode::kUnavailable;
    if (!stale) co_return response;
  }
}

}  // namespace berth::agent

#include "agent/http_client.h"

#include <array>
#include <optional>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/parse.hpp>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace berth::agent {

namespace beast = boost::beast;
namespace http = beast::http;
using beast::error_code;
using net::generic::stream_protocol;

namespace {

constexpr size_t kIdleConnectionsMax = 64;
constexpr size_t kReadPieceBytes = 16 * 1024;
constexpr uint32_t kHeaderBytesMax = 64 * 1024;

absl::Status ToStatus(std::string_view what, const error_code& error) {
  const std::string message = absl::StrFormat("%s: %s", what, error.message());
  if (error == beast::error::timeout) return absl::DeadlineExceededError(message);
  if (error == http::error::body_limit) return absl::ResourceExhaustedError(message);
  return absl::UnavailableError(message);
}

std::string Describe(const HttpAddress& address) {
  return address.socket_path.empty() ? Authority(address) : address.socket_path;
}

}  // namespace

struct HttpClient::Connection {
  explicit Connection(const net::any_io_executor& executor) : stream(executor) {}

  beast::basic_stream<stream_protocol> stream;
  beast::flat_buffer buffer = {};
  bool used = false;            // has carried an exchange before
  bool response_begun = false;  // of the exchange now on it
};

absl::StatusOr<HttpAddress> ParseHttpUrl(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed) {
    return absl::InvalidArgumentError(
        absl::StrFormat("\"%s\" is not a URL; it should look like http://127.0.0.1:8080", url));
  }
  if (parsed->scheme() == "https") {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: this version speaks plain http to the server, not https", url));
  }
  if (parsed->scheme() != "http" || parsed->host().empty() || parsed->has_query()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" is not an http URL; it should look like http://127.0.0.1:8080", url));
  }
  HttpAddress address;
  address.host = parsed->host_address();
  address.port = parsed->has_port() && !parsed->port().empty() ? std::string(parsed->port()) : "80";
  address.path = parsed->path();
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

std::string Authority(const HttpAddress& address) {
  if (!address.socket_path.empty()) return "docker";
  if (address.host.find(':') != std::string::npos) {
    return absl::StrFormat("[%s]:%s", address.host, address.port);
  }
  return absl::StrFormat("%s:%s", address.host, address.port);
}

HttpClient::HttpClient(HttpAddress address) : address_(std::move(address)) {}
HttpClient::~HttpClient() = default;

net::awaitable<absl::StatusOr<std::unique_ptr<HttpClient::Connection>>> HttpClient::Connect(
    absl::Time deadline) {
  const net::any_io_executor executor = co_await net::this_coro::executor;
  auto connection = std::make_unique<Connection>(executor);
  const absl::Duration left = deadline - absl::Now();
  connection->stream.expires_after(
      std::chrono::duration_cast<std::chrono::milliseconds>(absl::ToChronoNanoseconds(left)));
  const std::string what = absl::StrFormat("cannot connect to %s", Describe(address_));

  error_code error;
  if (!address_.socket_path.empty()) {
    // Longer than the kernel's sockaddr_un holds; the endpoint's constructor would throw.
    if (address_.socket_path.size() >= 108) {
      co_return absl::InvalidArgumentError(
          absl::StrFormat("the socket path %s is longer than 107 bytes", address_.socket_path));
    }
    const stream_protocol::endpoint endpoint(
        net::local::stream_protocol::endpoint(address_.socket_path));
    co_await connection->stream.async_connect(endpoint,
                                              net::redirect_error(net::use_awaitable, error));
    if (error) co_return ToStatus(what, error);
    co_return connection;
  }

  net::ip::tcp::resolver resolver(executor);
  const auto endpoints = co_await resolver.async_resolve(
      address_.host, address_.port, net::redirect_error(net::use_awaitable, error));
  if (error) co_return ToStatus(what, error);
  for (const auto& entry : endpoints) {
    const stream_protocol::endpoint endpoint(entry.endpoint());
    connection->stream.socket().close(error);
    co_await connection->stream.async_connect(endpoint,
                                              net::redirect_error(net::use_awaitable, error));
    if (!error) {
      error_code ignored;  // Only latency is lost.
      connection->stream.socket().set_option(net::ip::tcp::no_delay(true), ignored);
      co_return connection;
    }
  }
  co_return ToStatus(what, error);
}

net::awaitable<absl::StatusOr<HttpResponse>> HttpClient::ExchangeOn(Connection& connection,
                                                                    const HttpRequest& request,
                                                                    const ExchangeLimits& limits,
                                                                    absl::Time deadline) {
  auto& stream = connection.stream;
  const auto arm = [&stream, &limits, deadline] {
    const absl::Duration left = std::min(deadline - absl::Now(), limits.idle);
    stream.expires_after(
        std::chrono::duration_cast<std::chrono::milliseconds>(absl::ToChronoNanoseconds(left)));
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
  if (error) co_return ToStatus(absl::StrFormat("cannot send to %s", peer), error);

  http::response_parser<http::buffer_body> parser;
  parser.header_limit(kHeaderBytesMax);
  parser.body_limit(limits.on_body ? boost::none
                                   : boost::optional<uint64_t>(limits.body_bytes_max));
  arm();
  co_await http::async_read_header(stream, connection.buffer, parser,
                                   net::redirect_error(net::use_awaitable, error));
  if (error) co_return ToStatus(absl::StrFormat("no answer from %s", peer), error);
  connection.response_begun = true;

  HttpResponse response;
  response.status = static_cast<int>(parser.get().result_int());
  const bool streams = limits.on_body && response.status == 200;
  std::vector<char> piece(kReadPieceBytes);
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    arm();
    co_await http::async_read(stream, connection.buffer, parser,
                              net::redirect_error(net::use_awaitable, error));
    if (error && error != http::error::need_buffer) {
      co_return ToStatus(absl::StrFormat("the answer of %s broke off", peer), error);
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
        connection->stream.expires_never();
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

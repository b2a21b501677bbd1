#include "agent/connect.h"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/url/parse.hpp>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "transport/deadline.h"

namespace berth::agent {

using boost::system::error_code;
using net::generic::stream_protocol;

namespace {

// The kernel's sockaddr_un holds no longer ones; the endpoint's constructor would throw.
constexpr size_t kSocketPathMax = 107;

constexpr char kExample[] = "it should look like https://berth.example:8443";

std::string Describe(const HttpAddress& address) {
  return address.socket_path.empty() ? Authority(address) : address.socket_path;
}

}  // namespace

absl::StatusOr<HttpAddress> ParseHttpUrl(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed) {
    return absl::InvalidArgumentError(absl::StrFormat("\"%s\" is not a URL; %s", url, kExample));
  }
  const bool tls = parsed->scheme() == "https";
  if ((parsed->scheme() != "http" && !tls) || parsed->host().empty() || parsed->has_query()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("\"%s\" is no http or https URL; %s", url, kExample));
  }
  HttpAddress address;
  address.tls = tls;
  address.host = parsed->host_address();
  address.port = parsed->has_port() && !parsed->port().empty() ? std::string(parsed->port())
                 : tls                                         ? "443"
                                                               : "80";
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

net::awaitable<absl::StatusOr<transport::Stream>> ConnectTo(HttpAddress address,
                                                            transport::TlsContextPtr tls,
                                                            absl::Time deadline) {
  const net::any_io_executor executor = co_await net::this_coro::executor;
  transport::Stream stream(executor);
  transport::Deadline limit(stream);
  limit.Arm(deadline - absl::Now());
  const std::string what = absl::StrFormat("cannot connect to %s", Describe(address));
  const auto fails = [&](const error_code& error) -> absl::Status {
    if (limit.expired()) return absl::DeadlineExceededError(what + ": it took too long");
    return absl::UnavailableError(absl::StrFormat("%s: %s", what, error.message()));
  };

  error_code error;
  if (!address.socket_path.empty()) {
    if (address.socket_path.size() > kSocketPathMax) {
      co_return absl::InvalidArgumentError(absl::StrFormat(
          "the socket path %s is longer than %d bytes", address.socket_path, kSocketPathMax));
    }
    const stream_protocol::endpoint endpoint(
        net::local::stream_protocol::endpoint(address.socket_path));
    co_await stream.socket().async_connect(endpoint,
                                           net::redirect_error(net::use_awaitable, error));
    if (error) co_return fails(error);
    limit.Disarm();
    co_return stream;
  }

  net::ip::tcp::resolver resolver(executor);
  const auto endpoints = co_await resolver.async_resolve(
      address.host, address.port, net::redirect_error(net::use_awaitable, error));
  if (error) co_return fails(error);
  for (const auto& entry : endpoints) {
    const stream_protocol::endpoint endpoint(entry.endpoint());
    stream.Close();
    co_await stream.socket().async_connect(endpoint,
                                           net::redirect_error(net::use_awaitable, error));
    if (!error || limit.expired()) break;
  }
  if (error) co_return fails(error);
  error_code ignored;  // Only latency is lost.
  stream.socket().set_option(net::ip::tcp::no_delay(true), ignored);
  if (address.tls) {
    if (tls == nullptr) {
      absl::StatusOr<transport::TlsContextPtr> usual = transport::MakeClientTls("");
      if (!usual.ok()) co_return usual.status();
      tls = *std::move(usual);
    }
    const absl::Status begun = co_await stream.BeginTls(std::move(tls), address.host);
    if (!begun.ok()) {
      stream.Close();
      co_return absl::Status(begun.code(),
                             absl::StrFormat("%s: %s", what, std::string(begun.message())));
    }
  }
  limit.Disarm();
  co_return stream;
}

}  // namespace berth::agent

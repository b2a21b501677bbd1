#include "transport/stream.h"

#include <array>
#include <cstring>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <openssl/x509_vfy.h>

#include "absl/strings/str_format.h"
#include "transport/tls_context.h"

namespace berth::transport {
namespace {

constexpr auto kNoThrow = net::as_tuple(net::use_awaitable);
constexpr size_t kDropSize = 8 * 1024;

bool IsAddress(const std::string& host) {
  const std::unique_ptr<ASN1_OCTET_STRING, decltype(&ASN1_OCTET_STRING_free)> address(
      a2i_IPADDRESS(host.c_str()), &ASN1_OCTET_STRING_free);
  return address != nullptr;
}

}  // namespace

struct Stream::Tls {
  Tls(Socket& socket, TlsContextPtr with)
      : context(std::move(with)), stream(socket, context->ssl) {}

  TlsContextPtr context;
  net::ssl::stream<Socket&> stream;
  std::vector<char> record = {};  // what is being written, when it was gathered
  std::string host = {};          // that a client expects
};

Stream::State::State(Socket connected) : socket(std::move(connected)) {}
Stream::State::~State() = default;

Stream::Stream(const executor_type& executor) : state_(std::make_shared<State>(Socket(executor))) {}
Stream::Stream(Socket socket) : state_(std::make_shared<State>(std::move(socket))) {}

std::string Stream::peer() const {
  Error error;
  const auto end = state_->socket.remote_endpoint(error);
  net::ip::tcp::endpoint address;
  const int family = end.protocol().family();
  if (error || (family != AF_INET && family != AF_INET6)) return "";
  std::memcpy(address.data(), end.data(), end.size());
  return address.address().to_string();
}

net::awaitable<absl::Status> Stream::ServeTls(TlsContextPtr context) {
  state_->tls = std::make_unique<Tls>(state_->socket, std::move(context));
  co_return co_await Handshake(true);
}

net::awaitable<absl::Status> Stream::BeginTls(TlsContextPtr context, std::string host) {
  state_->tls = std::make_unique<Tls>(state_->socket, std::move(context));
  SSL* const ssl = state_->tls->stream.native_handle();
  X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl);
  bool taken;
  if (IsAddress(host)) {
    taken = X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1;
  } else {
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    taken = X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size()) == 1 &&
            SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
  }
  if (!taken) {
    co_return absl::InvalidArgumentError(
        absl::StrFormat("\"%s\" is no name that a certificate could be for", host));
  }
  state_->tls->host = std::move(host);
  co_return co_await Handshake(false);
}

std::optional<absl::Time> Stream::PeerCertificateUntil() const {
  if (state_->tls == nullptr) return std::nullopt;
  const X509* const peer = SSL_get0_peer_certificate(state_->tls->stream.native_handle());
  if (peer == nullptr) return std::nullopt;
  return EndOf(X509_get0_notAfter(peer));
}

net::awaitable<absl::Status> Stream::Handshake(bool as_server) {
  if (state_->expired) co_return absl::DeadlineExceededError("the TLS handshake took too long");
  const Stream self = *this;
  Tls& tls = *state_->tls;
  auto [error] = co_await tls.stream.async_handshake(
      as_server ? net::ssl::stream_base::server : net::ssl::stream_base::client, kNoThrow);
  if (!error) co_return absl::OkStatus();
  if (state_->expired) co_return absl::DeadlineExceededError("the TLS handshake took too long");
  const long verified = SSL_get_verify_result(tls.stream.native_handle());
  if (as_server || verified == X509_V_OK) {
    co_return absl::UnavailableError(
        absl::StrFormat("the TLS handshake failed: %s", error.message()));
  }
  const std::string why = X509_verify_cert_error_string(verified);
  if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    co_return absl::FailedPreconditionError(
        absl::StrFormat("its certificate is not for %s (%s)", tls.host, why));
  }
  co_return absl::FailedPreconditionError(absl::StrFormat(
      "its certificate is not to be trusted: %s (trusted are the system's authorities%s)", why,
      tls.context->ca_file.empty() ? "" : " and those in " + tls.context->ca_file));
}

net::mutable_buffer Stream::Record() {
  std::vector<char>& record = state_->tls->record;
  record.resize(kRecordMax);
  return net::buffer(record);
}

void Stream::ReadSome(net::mutable_buffer into, Handler handler) {
  if (state_->expired) {
    net::post(get_executor(), [handler = std::move(handler)]() mutable {
      handler(net::error::operation_aborted, 0);
    });
    return;
  }
  // The handle keeps the stream alive for as long as OpenSSL uses it.
  state_->tls->stream.async_read_some(
      into, [self = *this, handler = std::move(handler)](Error error, size_t bytes) mutable {
        // Without a farewell or with one, it is the end.
        if (error == net::ssl::error::stream_truncated) error = net::error::eof;
        handler(error, bytes);
      });
}

void Stream::WriteSome(net::const_buffer from, Handler handler) {
  if (state_->expired) {
    net::post(get_executor(), [handler = std::move(handler)]() mutable {
      handler(net::error::operation_aborted, 0);
    });
    return;
  }
  state_->tls->stream.async_write_some(
      from, [self = *this, handler = std::move(handler)](Error error, size_t bytes) mutable {
        handler(error, bytes);
      });
}

net::awaitable<void> Stream::EndWriting() {
  const Stream self = *this;
  if (state_->tls != nullptr && !state_->expired) {
    // Says farewell, then waits for the peer's; what else the peer sends ends the wait.
    co_await state_->tls->stream.async_shutdown(kNoThrow);
  }
  Error ignored;  // It is over either way.
  state_->socket.shutdown(Socket::shutdown_send, ignored);
}

net::awaitable<void> Stream::ReadOut(size_t bytes_max) {
  const Stream self = *this;
  std::array<char, kDropSize> dropped;
  size_t total = 0;
  while (total < bytes_max && !state_->expired) {
    auto [error, bytes] = co_await state_->socket.async_read_some(net::buffer(dropped), kNoThrow);
    if (error) co_return;
    total += bytes;
  }
}

void Stream::Expire() {
  state_->expired = true;
  Error ignored;  // Nothing waits then.
  state_->socket.cancel(ignored);
}

void Stream::Close() {
  Error ignored;  // It is over either way.
  state_->socket.close(ignored);
}

void Stream::TearDown(boost::beast::role_type role, absl::AnyInvocable<void(Error)> handler) {
  if (is_plain()) {
    boost::beast::websocket::async_teardown(
        role, state_->socket,
        [self = *this, handler = std::move(handler)](Error error) mutable { handler(error); });
    return;
  }
  state_->tls->stream.async_shutdown(
      [self = *this, handler = std::move(handler)](Error error) mutable {
        self.Close();
        handler(error == net::ssl::error::stream_truncated ? Error() : error);
      });
}

}  // namespace berth::transport

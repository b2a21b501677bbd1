// The bytes of one connection, over TCP or a unix socket, plain or within TLS: what HTTP and
// websockets are read from and written to, at both ends.
//
// A handle: copies are the same connection, which lives as long as the last of them. Everything
// happens on the socket's executor, which is a strand or a single thread. Handlers run there too,
// whatever executor they name themselves.
//
// Satisfies Beast's AsyncStream. Which of the two it is, is decided while it runs, and what TLS
// needs is compiled once, behind a handler whose type is erased: as a template parameter it would
// double what every reader and writer of HTTP takes to compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "transport/net.h"
#include "transport/tls.h"

namespace boost::beast {
enum class role_type;
}

namespace berth::transport {

class Stream {
 public:
  using Error = boost::system::error_code;
  using Socket = net::generic::stream_protocol::socket;
  using executor_type = net::any_io_executor;

  // Not connected yet.
  explicit Stream(const executor_type& executor);
  // Of an accepted connection.
  explicit Stream(Socket socket);

  executor_type get_executor() const { return state_->socket.get_executor(); }
  Socket& socket() { return state_->socket; }
  bool is_tls() const { return state_->tls != nullptr; }
  // The peer's numeric address without the port; empty when it has gone, or has none.
  std::string peer() const;

  // Once, before anything else is read or written, and after the connection is there. The error
  // says what the peer did, or what is wrong with its certificate.
  net::awaitable<absl::Status> ServeTls(TlsContextPtr context);
  // Checks the peer's certificate, and that it is for `host`, a name or a numeric address.
  net::awaitable<absl::Status> BeginTls(TlsContextPtr context, std::string host);

  // When the peer's certificate ends; nothing where there is none.
  std::optional<absl::Time> PeerCertificateUntil() const;

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return net::async_initiate<Token, void(Error, size_t)>(
        [](auto handler, Stream self, const Buffers& into) {
          if (self.is_plain()) {
            self.socket().async_read_some(into, std::move(handler));
          } else {
            self.ReadSome(First<net::mutable_buffer>(into), std::move(handler));
          }
        },
        token, *this, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return net::async_initiate<Token, void(Error, size_t)>(
        [](auto handler, Stream self, const Buffers& from) {
          if (self.is_plain()) {
            self.socket().async_write_some(from, std::move(handler));
          } else {
            self.WriteSome(self.Gather(from), std::move(handler));
          }
        },
        token, *this, buffers);
  }

  // Tells the peer that nothing more comes. Within TLS it waits for the peer to answer that, or to
  // send something else, or for Expire.
  net::awaitable<void> EndWriting();
  // Reads and drops what still comes, below TLS, until the peer ends, `bytes_max` came, or Expire.
  net::awaitable<void> ReadOut(size_t bytes_max);

  // Ends what waits on the connection with operation_aborted, and what is begun until Restore: a
  // composed operation may be between two of its steps.
  void Expire();
  void Restore() { state_->expired = false; }

  void Close();

  // Beast's hooks: the end of a websocket.
  friend void beast_close_socket(Stream& stream) { stream.Close(); }
  template <class Handler>
  friend void async_teardown(boost::beast::role_type role, Stream& stream, Handler&& handler) {
    stream.TearDown(role, std::forward<Handler>(handler));
  }

 private:
  using Handler = absl::AnyInvocable<void(Error, size_t)>;
  struct Tls;
  struct State {
    explicit State(Socket connected);
    ~State();
    Socket socket;
    std::unique_ptr<Tls> tls;
    bool expired = false;
  };

  // Buffers are copied into one record up to this size, as OpenSSL takes one buffer at a time.
  static constexpr size_t kRecordMax = 16 * 1024;

  bool is_plain() const { return state_->tls == nullptr && !state_->expired; }

  template <class Buffer, class Buffers>
  static Buffer First(const Buffers& buffers) {
    const auto end = net::buffer_sequence_end(buffers);
    for (auto next = net::buffer_sequence_begin(buffers); next != end; ++next) {
      const Buffer buffer(*next);
      if (buffer.size() > 0) return buffer;
    }
    return {};
  }
  // The first buffer, or what several small ones hold; valid until the next call.
  template <class Buffers>
  net::const_buffer Gather(const Buffers& buffers) {
    const net::const_buffer first = First<net::const_buffer>(buffers);
    const size_t total = net::buffer_size(buffers);
    if (total == first.size() || first.size() >= kRecordMax) return first;
    const net::mutable_buffer record = Record();
    return {record.data(), net::buffer_copy(record, buffers)};
  }
  net::mutable_buffer Record();

  void ReadSome(net::mutable_buffer into, Handler handler);
  void WriteSome(net::const_buffer from, Handler handler);
  void TearDown(boost::beast::role_type role, absl::AnyInvocable<void(Error)> handler);
  net::awaitable<absl::Status> Handshake(bool as_server);

  std::shared_ptr<State> state_;
};

}  // namespace berth::transport

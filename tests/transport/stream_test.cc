// Both ends of a connection, plain and within TLS: bytes arrive, certificates are checked, ends are
// told from cuts.
#include "transport/stream.h"

#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "tests/transport/temp_folder.h"
#include "transport/certificates.h"
#include "transport/deadline.h"

namespace berth::transport {
namespace {

using net::ip::tcp;
constexpr auto kNoThrow = net::as_tuple(net::use_awaitable);

// Two streams that are connected with each other on loopback, and a loop that runs until a
// coroutine of the test's is done.
class Pair {
 public:
  Pair() : a(loop_.get_executor()), b(loop_.get_executor()) {
    tcp::acceptor acceptor(loop_, tcp::endpoint(net::ip::make_address("127.0.0.1"), 0));
    tcp::socket client(loop_);
    client.connect(acceptor.local_endpoint());
    tcp::socket server = acceptor.accept();
    a = Stream(Stream::Socket(std::move(client)));
    b = Stream(Stream::Socket(std::move(server)));
  }

  // Both at once, to their ends.
  template <class F, class G>
  void Run(F on_a, G on_b) {
    auto first = net::co_spawn(loop_, std::move(on_a), net::use_future);
    auto second = net::co_spawn(loop_, std::move(on_b), net::use_future);
    loop_.restart();
    loop_.run_for(std::chrono::seconds(20));
    REQUIRE(first.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    REQUIRE(second.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    first.get();
    second.get();
  }

 private:
  net::io_context loop_;

 public:
  Stream a;
  Stream b;
};

struct Terms {
  std::vector<std::string> names = {"localhost", "127.0.0.1"};
  absl::Time until = absl::Now() + absl::Hours(24);
};

struct Contexts {
  TlsContextPtr server;
  TlsContextPtr client;           // trusts the server's authority
  TlsContextPtr client_of_other;  // trusts another
};

Contexts MakeContexts(const TempFolder& folder, const Terms& terms = {}) {
  const Validity validity{.from = absl::Now() - absl::Hours(48), .until = terms.until};
  const Validity long_validity{.from = validity.from, .until = absl::Now() + absl::Hours(24)};
  const auto authority = MakeAuthority("authority", long_validity);
  const auto other = MakeAuthority("another", long_validity);
  REQUIRE(authority.ok());
  REQUIRE(other.ok());
  const auto server = MakeServerCertificate(*authority, terms.names, validity);
  REQUIRE(server.ok());
  const auto server_tls = MakeServerTls(folder.Write("server.pem", server->certificate),
                                        folder.Write("server-key.pem", server->key));
  const auto client_tls = MakeClientTls(folder.Write("ca.pem", authority->certificate));
  const auto other_tls = MakeClientTls(folder.Write("other.pem", other->certificate));
  REQUIRE(server_tls.ok());
  REQUIRE(client_tls.ok());
  REQUIRE(other_tls.ok());
  return {*server_tls, *client_tls, *other_tls};
}

// How a client that trusts `trusted` and expects `host` gets on with the server.
absl::Status BeginWith(const Contexts& contexts, const TlsContextPtr& trusted,
                       const std::string& host) {
  Pair pair;
  absl::Status begun;
  pair.Run(
      [&]() -> net::awaitable<void> {
        begun = co_await pair.a.BeginTls(trusted, host);
        pair.a.Close();
      },
      [&]() -> net::awaitable<void> {
        (void)co_await pair.b.ServeTls(contexts.server);  // Its own view is not what is tested.
        pair.b.Close();
      });
  return begun;
}

TEST_CASE("bytes go both ways through TLS, in pieces and in one", "[stream]") {
  const TempFolder folder;
  const Contexts contexts = MakeContexts(folder);
  const size_t size = GENERATE(as<size_t>{}, 1, 1000, 16 * 1024, 16 * 1024 + 1, 3'000'000);
  INFO(size << " bytes");
  std::string sent(size, 'x');
  for (size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 31 % 251);
  std::string received(size, '\0'), echoed(size, '\0');
  Pair pair;

  pair.Run(
      [&]() -> net::awaitable<void> {
        const absl::Status begun = co_await pair.a.BeginTls(contexts.client, "localhost");
        REQUIRE(begun == absl::OkStatus());
        // In two buffers, as a header and a body are.
        const std::array<net::const_buffer, 2> pieces = {net::buffer(sent, size / 3),
                                                         net::buffer(sent) + size / 3};
        co_await net::async_write(pair.a, pieces, kNoThrow);
        co_await net::async_read(pair.a, net::buffer(echoed), kNoThrow);
      },
      [&]() -> net::awaitable<void> {
        const absl::Status begun = co_await pair.b.ServeTls(contexts.server);
        REQUIRE(begun == absl::OkStatus());
        co_await net::async_read(pair.b, net::buffer(received), kNoThrow);
        co_await net::async_write(pair.b, net::buffer(received), kNoThrow);
      });

  CHECK(received == sent);
  CHECK(echoed == sent);
}

TEST_CASE("a client takes a server whose certificate its authority signed for that name",
          "[stream]") {
  const TempFolder folder;
  const Contexts contexts = MakeContexts(folder);

  CHECK(BeginWith(contexts, contexts.client, "localhost") == absl::OkStatus());
  CHECK(BeginWith(contexts, contexts.client, "127.0.0.1") == absl::OkStatus());
}

TEST_CASE("a client refuses a server that cannot prove who it is, and says why", "[stream]") {
  struct Case {
    std::string why;
    bool expired;
    bool trusts_it;
    std::string host;
    std::string text;
  };
  const auto c = GENERATE(values<Case>({
      {"another authority", false, false, "localhost",
       "its certificate is not to be trusted: unable to get local issuer certificate"},
      {"another name", false, true, "berth.example",
       "its certificate is not for berth.example (hostname mismatch)"},
      {"another address", false, true, "127.0.0.2",
       "its certificate is not for 127.0.0.2 (IP address mismatch)"},
      {"its time is over", true, true, "localhost",
       "its certificate is not to be trusted: certificate has expired"},
  }));
  INFO(c.why);
  const TempFolder folder;
  const absl::Duration left = c.expired ? -absl::Hours(1) : absl::Hours(1);
  const Contexts contexts = MakeContexts(folder, {.until = absl::Now() + left});

  const absl::Status begun =
      BeginWith(contexts, c.trusts_it ? contexts.client : contexts.client_of_other, c.host);

  INFO(begun);
  CHECK(begun.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(begun.message()).find(c.text) == 0);
}

TEST_CASE("what waits on a stream ends at its deadline, and the stream can then still be used",
          "[stream]") {
  const bool tls = GENERATE(false, true);
  INFO((tls ? "TLS" : "plain"));
  const TempFolder folder;
  const Contexts contexts = MakeContexts(folder);
  Pair pair;
  Stream::Error waited, next;
  std::string received(2, '\0');

  pair.Run(
      [&]() -> net::awaitable<void> {
        if (tls) {
          const absl::Status begun = co_await pair.a.BeginTls(contexts.client, "localhost");
          REQUIRE(begun == absl::OkStatus());
        }
        Deadline deadline(pair.a);
        deadline.Arm(absl::Milliseconds(20));
        char byte;
        auto [error, bytes] = co_await pair.a.async_read_some(net::buffer(&byte, 1), kNoThrow);
        waited = error;
        // A composed operation that was between two of its steps goes no further.
        auto [again, none] = co_await pair.a.async_read_some(net::buffer(&byte, 1), kNoThrow);
        next = again;
        deadline.Disarm();
        co_await net::async_write(pair.a, net::buffer("ok", 2), kNoThrow);
      },
      [&]() -> net::awaitable<void> {
        if (tls) {
          const absl::Status begun = co_await pair.b.ServeTls(contexts.server);
          REQUIRE(begun == absl::OkStatus());
        }
        co_await net::async_read(pair.b, net::buffer(received), kNoThrow);
      });

  CHECK(waited == net::error::operation_aborted);
  CHECK(next == net::error::operation_aborted);
  CHECK(received == "ok");
}

TEST_CASE("the end of a TLS stream is read as one, with a farewell and without", "[stream]") {
  const bool farewell = GENERATE(false, true);
  INFO((farewell ? "with" : "without"));
  const TempFolder folder;
  const Contexts contexts = MakeContexts(folder);
  Pair pair;
  Stream::Error end;

  pair.Run(
      [&]() -> net::awaitable<void> {
        const absl::Status begun = co_await pair.a.BeginTls(contexts.client, "localhost");
        REQUIRE(begun == absl::OkStatus());
        char byte;
        auto [error, bytes] = co_await pair.a.async_read_some(net::buffer(&byte, 1), kNoThrow);
        end = error;
        pair.a.Close();
      },
      [&]() -> net::awaitable<void> {
        const absl::Status begun = co_await pair.b.ServeTls(contexts.server);
        REQUIRE(begun == absl::OkStatus());
        if (farewell) {
          co_await pair.b.EndWriting();
        }
        pair.b.Close();
      });

  CHECK(end == net::error::eof);
}

TEST_CASE("a peer that speaks no TLS is an error that says so, at either end", "[stream]") {
  const TempFolder folder;
  const Contexts contexts = MakeContexts(folder);
  Pair pair;
  absl::Status begun;

  pair.Run(
      [&]() -> net::awaitable<void> {
        begun = co_await pair.a.BeginTls(contexts.client, "localhost");
      },
      [&]() -> net::awaitable<void> {
        const std::string text = "HTTP/1.1 400 Bad Request\r\n\r\n";
        co_await net::async_write(pair.b, net::buffer(text), kNoThrow);
      });

  INFO(begun);
  CHECK(begun.code() == absl::StatusCode::kUnavailable);
  CHECK(std::string(begun.message()).find("the TLS handshake failed") == 0);
}

TEST_CASE("a stream knows its peer's address", "[stream]") {
  const Pair pair;

  CHECK(pair.b.peer() == "127.0.0.1");
}

}  // namespace
}  // namespace berth::transport

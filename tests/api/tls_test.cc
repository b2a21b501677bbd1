// HTTP within TLS: what is different from plain, and what must not be.
#include <atomic>
#include <filesystem>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "absl/synchronization/notification.h"
#include "api/certificate_watch.h"
#include "api/http_server.h"
#include "tests/api/server_fixture.h"
#include "transport/certificates.h"
#include "transport/self_signed.h"

namespace berth::api {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "berth-api-tls-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

TlsSettings SelfSigned(const std::string& folder) {
  const auto files = transport::SelfSignedFilesIn(folder);
  return {.certificate_file = files.certificate,
          .key_file = files.key,
          .self_signed_folder = folder,
          .names = {"localhost", "127.0.0.1"}};
}

// Answers with "METHOD TARGET BODY", with a body's size where it is long, or `answer` if set.
class EchoHandler : public HttpHandler {
 public:
  net::awaitable<HttpResponse> Respond(HttpRequest request) override {
    if (!answer.empty()) co_return HttpResponse{.body = answer};
    std::string body = request.method + " " + request.target + " ";
    body += request.body.size() < 100 ? request.body : std::to_string(request.body.size());
    co_return HttpResponse{.body = std::move(body)};
  }
  net::awaitable<std::optional<HttpResponse>> Upgrade(HttpRequest, WebsocketHandshake&) override {
    co_return ErrorResponse(404, "ResourceNotFoundException", "no websockets here");
  }

  std::string answer;
};

class Fixture {
 public:
  explicit Fixture(HttpLimits limits = {}) : server(io_, handler, limits) {
    const TlsSettings settings = SelfSigned(folder_.path);
    CertificateWatch watch(settings, server, limits);
    REQUIRE(watch.Load() == absl::OkStatus());
    ca = transport::SelfSignedFilesIn(folder_.path).ca;
    REQUIRE(server.Listen("127.0.0.1", 0) == absl::OkStatus());
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  ~Fixture() {
    server.Drain(absl::Now());
    server.Abort(absl::Now() + absl::Seconds(5));
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  uint16_t port() const { return server.port(); }

  EchoHandler handler;
  std::string ca;

 private:
  Folder folder_;
  net::io_context io_;
  std::vector<std::thread> threads_;

 public:
  HttpServer server;
};

TEST_CASE("requests are answered within TLS, many on one connection", "[tls]") {
  Fixture fixture;
  RawClient client(fixture.port(), fixture.ca);

  for (int i = 0; i < 20; ++i) {
    const RawResponse response = client.Ask(Post(std::to_string(i)));
    REQUIRE(response.status == 200);
    CHECK(response.body == "POST / " + std::to_string(i));
  }
  CHECK(client.TlsVersion() == "TLSv1.3");
}

TEST_CASE("requests that come at once within TLS are answered in their order", "[tls]") {
  Fixture fixture;
  RawClient client(fixture.port(), fixture.ca);

  client.Send(Post("a") + Post("b") + Post("c"));

  CHECK(client.Receive().body == "POST / a");
  CHECK(client.Receive().body == "POST / b");
  CHECK(client.Receive().body == "POST / c");
}

TEST_CASE("large bodies go both ways within TLS", "[tls]") {
  Fixture fixture;
  fixture.handler.answer = std::string(5'000'000, 'y');
  RawClient client(fixture.port(), fixture.ca);

  const RawResponse response = client.Ask(Post(std::string(1'000'000, 'x')));

  CHECK(response.status == 200);
  CHECK(response.body == fixture.handler.answer);
}

TEST_CASE("a body beyond the limit is refused within TLS, in words that arrive", "[tls]") {
  HttpLimits limits;
  limits.body_bytes_max = 100'000;
  Fixture fixture(limits);
  RawClient client(fixture.port(), fixture.ca);

  const RawResponse response = client.Ask(Post(std::string(1'000'000, 'x')));

  CHECK(response.status == 413);
  CHECK(client.IsClosedByPeer());
}

TEST_CASE("plain HTTP on a TLS port is told to use https", "[tls]") {
  Fixture fixture;
  RawClient client(fixture.port());

  const RawResponse response = client.Ask(Get("/"));

  CHECK(response.status == 400);
  CHECK(response.body.find("this port speaks TLS: use https:// instead of http://") !=
        std::string::npos);
  CHECK(client.IsClosedByPeer());
}

TEST_CASE("a handshake has to be whole in time", "[tls]") {
  const std::string begun = GENERATE("", "\x16", "\x16\x03\x01\x02");
  INFO(begun.size() << " bytes of it");
  HttpLimits limits;
  limits.handshake_max = absl::Milliseconds(100);
  Fixture fixture(limits);
  RawClient client(fixture.port());

  client.Send(begun);

  CHECK(client.IsClosedByPeer());
  RawClient next(fixture.port(), fixture.ca);
  CHECK(next.Ask(Get("/")).status == 200);
}

TEST_CASE("a handshake that is none ends the connection and nothing else", "[tls]") {
  Fixture fixture;
  RawClient client(fixture.port());

  client.Send("\x16\x03\x01 this is no ClientHello, and long enough to be seen as none");
  client.EndSending();

  client.Receive();
  RawClient next(fixture.port(), fixture.ca);
  CHECK(next.Ask(Get("/")).status == 200);
}

TEST_CASE("one connection too many is told so within TLS", "[tls]") {
  HttpLimits limits;
  limits.connections_max = 1;
  Fixture fixture(limits);
  RawClient first(fixture.port(), fixture.ca);
  REQUIRE(first.Ask(Get("/")).status == 200);

  RawClient second(fixture.port(), fixture.ca);

  CHECK(second.Ask(Get("/")).status == 503);
}

TEST_CASE("an idle TLS connection is closed at shutdown, also one that has not begun its handshake",
          "[tls]") {
  Fixture fixture;
  RawClient idle(fixture.port(), fixture.ca);
  REQUIRE(idle.Ask(Get("/")).status == 200);
  RawClient silent(fixture.port());
  REQUIRE(Eventually([&] { return fixture.server.connections() == 2; }));

  const absl::Time begin = absl::Now();
  fixture.server.Drain(begin + absl::Seconds(9));

  CHECK(fixture.server.connections() == 0);
  CHECK(absl::Now() - begin < absl::Seconds(5));
  CHECK(idle.IsClosedByPeer());
  CHECK(silent.IsClosedByPeer());
}

// A whole server with a certificate of its own, and short looks at it.
struct TlsServer {
  TlsServer() {
    ServerLimits limits;
    limits.http.certificate_interval = absl::Milliseconds(20);
    ServerSettings settings;
    settings.listen_port = 0;
    settings.tls = SelfSigned(folder.path);
    auto started = Server::Start(settings, store, limits);
    INFO(started.status());
    REQUIRE(started.ok());
    server = *std::move(started);
    ca = transport::SelfSignedFilesIn(folder.path).ca;
  }
  Folder folder;
  storage::MemoryStore store;
  std::unique_ptr<Server> server;
  std::string ca;
};

bool IsTrusted(uint16_t port, const std::string& ca) {
  try {
    RawClient client(port, ca);
    return client.Ask(Get("/healthz")).status == 200;
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST_CASE("agents are told an https endpoint where the server speaks TLS", "[tls]") {
  TlsServer tls;
  RawClient client(tls.server->port(), tls.ca);

  const RawResponse response = client.Ask(Call("DiscoverPollEndpoint", "{}"));

  CHECK(tls.server->endpoint() == "https://127.0.0.1:" + std::to_string(tls.server->port()));
  CHECK(response.body == "{\"endpoint\":\"" + tls.server->endpoint() + "/acs\"}");
}

TEST_CASE("new connections get the certificate that the files have now", "[tls]") {
  TlsServer tls;
  Folder other;
  REQUIRE(transport::EnsureSelfSigned(other.path, {"localhost"}, absl::Now()).ok());
  const auto from = transport::SelfSignedFilesIn(other.path);
  const auto to = transport::SelfSignedFilesIn(tls.folder.path);
  RawClient before(tls.server->port(), tls.ca);
  REQUIRE(before.Ask(Get("/healthz")).status == 200);

  const auto overwrite = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(from.key, to.key, overwrite);
  // Half of the change: the certificate before stays in use.
  absl::SleepFor(absl::Milliseconds(200));
  CHECK(IsTrusted(tls.server->port(), tls.ca));
  std::filesystem::copy_file(from.certificate, to.certificate, overwrite);

  CHECK(Eventually([&] { return IsTrusted(tls.server->port(), from.ca); }));
  CHECK_FALSE(IsTrusted(tls.server->port(), tls.ca));
  CHECK(before.Ask(Get("/healthz")).status == 200);
}

TEST_CASE("a server does not start on keys of its own that others may read", "[tls]") {
  const std::string name = GENERATE("ca-key.pem", "server-key.pem");
  Folder folder;
  REQUIRE(transport::EnsureSelfSigned(folder.path, {"localhost"}, absl::Now()).ok());
  std::filesystem::permissions(folder.path + "/" + name, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_port = 0;
  settings.tls = SelfSigned(folder.path);

  const auto started = Server::Start(settings, store);

  CHECK_THAT(std::string(started.status().message()),
             Catch::Contains(name + " has mode 0604") && Catch::Contains("chmod 600"));
}

TEST_CASE("a server does not start with a certificate that it cannot use", "[tls]") {
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_port = 0;
  settings.tls = TlsSettings{.certificate_file = "/absent.pem", .key_file = "/absent-key.pem"};

  const auto started = Server::Start(settings, store);

  CHECK(std::string(started.status().message())
            .find("cannot read /absent.pem: No such file or directory") == 0);
}

}  // namespace
}  // namespace berth::api

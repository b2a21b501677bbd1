// The server as one object: start, paths, readiness, shutdown.
#include <thread>

#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "tests/api/scripted_store.h"
#include "tests/api/server_fixture.h"

namespace berth::api {
namespace {

// Commits go to memory; Load gives them back, so that a scripted store survives a restart of the
// server only when nothing has to.
ServerLimits QuickRetries() {
  ServerLimits limits;
  limits.loop.store_retry_first = absl::Milliseconds(1);
  limits.loop.store_retry_max = absl::Milliseconds(5);
  return limits;
}

}  // namespace

TEST_CASE("a server without authentication listens on loopback alone", "[server]") {
  const auto host = GENERATE(values<std::string>(
      {"0.0.0.0", "::", "192.168.1.7", "10.0.0.1", "example.com", "localhost.example.com", ""}));
  INFO(host);
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_host = host;
  settings.listen_port = 0;

  const auto started = Server::Start(settings, store);

  REQUIRE_FALSE(started.ok());
  CHECK(std::string(started.status().message()).find("authentication") != std::string::npos);
}

TEST_CASE("every spelling of loopback will do", "[server]") {
  const auto host = GENERATE(values<std::string>({"127.0.0.1", "127.1.2.3", "localhost"}));
  INFO(host);
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_host = host;
  settings.listen_port = 0;

  const auto started = Server::Start(settings, store);

  REQUIRE(started.ok());
  CHECK((*started)->port() != 0);
  CHECK((*started)->endpoint() == "http://" + host + ":" + std::to_string((*started)->port()));
}

TEST_CASE("a taken port is named", "[server]") {
  ServerFixture f;
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_port = f.port();

  const auto started = Server::Start(settings, store);

  REQUIRE_FALSE(started.ok());
  CHECK(std::string(started.status().message()).find(std::to_string(f.port())) !=
        std::string::npos);
}

TEST_CASE("the default cluster is there from the first start on, once", "[server]") {
  ServerFixture f;
  CHECK(f.Ask("ListClusters", "{}")["clusterArns"].Size() == 1);

  f.Ask("CreateCluster", R"({"clusterName":"other"})");
  f.Restart();

  CHECK(f.Ask("ListClusters", "{}")["clusterArns"].Size() == 2);
}

TEST_CASE("each path has its answer, always well-formed", "[server]") {
  struct Case {
    std::string why;
    std::string request;
    int status;
    std::string error_type;  // empty: none
  };
  const auto c = GENERATE(values<Case>({
      {"alive", Get("/healthz"), 200, ""},
      {"ready", Get("/readyz"), 200, ""},
      {"metrics", Get("/metrics"), 200, ""},
      {"a hint for browsers", Get("/"), 200, ""},
      {"a query changes no path", Get("/healthz?x=/y"), 200, ""},
      {"nothing there", Get("/nothing"), 404, "ResourceNotFoundException"},
      {"a channel without an upgrade", Get("/acs/ws"), 426, "InvalidParameterException"},
      {"a websocket elsewhere", Get("/ws", "Upgrade: websocket\r\nConnection: Upgrade\r\n"), 404,
       "ResourceNotFoundException"},
      {"a wrong method", Post("{}", "", "/healthz"), 405, "InvalidParameterException"},
      {"a method of its own", "BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405,
       "InvalidParameterException"},
      {"a CORS preflight", "OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405,
       "InvalidParameterException"},
      {"an action elsewhere", Post("{}", "", "/v1"), 400, "UnknownOperationException"},
      {"no action", Post("{}"), 400, "UnknownOperationException"},
      {"an action", Call("ListClusters", "{}"), 200, ""},
      {"an action of no body", Call("ListClusters", ""), 200, ""},
      {"an action in the absolute form",
       "POST http://localhost:1/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
       "x-amz-target: AmazonEC2ContainerServiceV20141113.ListClusters\r\n\r\n",
       200, ""},
      {"another machine's name", "GET /healthz HTTP/1.1\r\nHost: rebound.example.com:8080\r\n\r\n",
       403, "AccessDeniedException"},
      {"an IPv6 loopback name", "GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200, ""},
      {"no name at all", "GET /healthz HTTP/1.0\r\n\r\n", 200, ""},
  }));
  INFO(c.why);
  ServerFixture f;
  RawClient client(f.port());

  const RawResponse response = client.Ask(c.request);

  INFO(response.body);
  CHECK(response.status == c.status);
  if (c.error_type.empty()) {
    CHECK(response.headers.count("x-amzn-errortype") == 0);
  } else {
    CHECK(response.headers.at("x-amzn-errortype") == c.error_type);
    CHECK(response.body.find("\"__type\":\"" + c.error_type + "\"") != std::string::npos);
  }
}

TEST_CASE("metrics count calls by action and error", "[server]") {
  ServerFixture f;
  f.Ask("ListClusters", "{}");
  f.Ask("ListClusters", "{}");
  RawClient client(f.port());
  client.Ask(Call("ListClusters", "[]"));
  client.Ask(Post("{}", "X-Amz-Target: AmazonEC2ContainerServiceV20141113.Made\"Up\r\n"));

  const std::string text = client.Ask(Get("/metrics")).body;

  INFO(text);
  CHECK(text.find("berth_requests_total{action=\"ListClusters\",code=\"OK\"} 2\n") !=
        std::string::npos);
  CHECK(text.find("berth_requests_total{action=\"ListClusters\",code=\"SerializationException\"} "
                  "1\n") != std::string::npos);
  CHECK(text.find("berth_requests_total{action=\"-\",code=\"UnknownOperationException\"} 1\n") !=
        std::string::npos);
  CHECK(text.find("berth_request_seconds_count 4\n") != std::string::npos);
  CHECK(text.find("berth_commit_changes_count 1\n") != std::string::npos);
  CHECK(text.find("berth_tasks{cluster=\"default\",status=\"RUNNING\"} 0\n") != std::string::npos);
  CHECK(text.find("berth_store_works 1\n") != std::string::npos);
}

TEST_CASE("while the store fails the server says so, serves reads, and recovers by itself",
          "[server]") {
  ScriptedStore store;
  ServerFixture f(QuickRetries());
  f.Start(store);
  RawClient client(f.port());
  store.FailWith("database or disk is full");
  RawClient caught(f.port());
  caught.Send(Call("CreateCluster", R"({"clusterName":"caught"})"));
  store.AwaitAttempts(3);

  const RawResponse readiness = client.Ask(Get("/readyz"));
  CHECK(readiness.status == 503);
  CHECK(readiness.body.find("database or disk is full") != std::string::npos);
  CHECK(client.Ask(Get("/healthz")).status == 200);
  const RawResponse refused = client.Ask(Call("CreateCluster", R"({"clusterName":"refused"})"));
  CHECK(refused.status >= 500);
  CHECK(refused.headers.at("x-amzn-errortype") == "ServerException");
  CHECK(refused.body.find("database or disk is full") != std::string::npos);
  CHECK(client.Ask(Call("DescribeClusters", "{}")).status == 200);

  store.FailWith("");
  CHECK(caught.Receive().status == 200);
  CHECK(client.Ask(Get("/readyz")).status == 200);
  CHECK(client.Ask(Call("CreateCluster", R"({"clusterName":"after"})")).status == 200);
  f.server.reset();
}

TEST_CASE("stopping lets a call finish whose change is being committed", "[server]") {
  ScriptedStore store;
  ServerFixture f;
  f.Start(store);
  store.Hold();
  RawClient idle(f.port());
  REQUIRE(idle.Ask(Get("/healthz")).status == 200);
  RawClient busy(f.port());
  busy.Send(Call("CreateCluster", R"({"clusterName":"a"})"));
  store.AwaitCommit();

  std::thread stop([&] { f.server->Stop(absl::Seconds(20)); });
  CHECK(idle.IsClosedByPeer());
  store.Release();
  const RawResponse answer = busy.Receive();
  stop.join();

  CHECK(answer.status == 200);
  CHECK(busy.IsClosedByPeer());
  CHECK(store.batch_sizes() == std::vector<size_t>{1, 1});  // default, and a
  f.server.reset();
}

TEST_CASE("when the grace is over a call is answered as its commit ends", "[server]") {
  ScriptedStore store;
  ServerFixture f;
  f.Start(store);
  store.Hold();
  RawClient busy(f.port());
  busy.Send(Call("CreateCluster", R"({"clusterName":"a"})"));
  store.AwaitCommit();

  std::thread stop([&] { f.server->Stop(absl::ZeroDuration()); });
  store.Release();
  const RawResponse answer = busy.Receive();
  stop.join();

  CHECK(answer.status == 200);
  f.server.reset();
}

TEST_CASE("stopping twice, or not at all before the end, is fine", "[server]") {
  ServerFixture f;
  f.server->Stop(absl::Seconds(1));
  f.server->Stop(absl::Seconds(1));
  f.Restart();
  CHECK(f.Ask("ListClusters", "{}")["clusterArns"].Size() == 1);
}

}  // namespace berth::api

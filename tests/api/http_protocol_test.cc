// HTTP itself: framing, limits, deadlines, shutdown. The handler here knows nothing of ECS.
#include <atomic>
#include <optional>
#include <regex>
#include <stdexcept>
#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "absl/synchronization/notification.h"
#include "api/http_server.h"
#include "tests/api/raw_client.h"

namespace berth::api {
namespace {

// Answers with what was asked: "METHOD TARGET BODY". /wait answers once it is told to; /throw
// throws.
class EchoHandler : public HttpHandler {
 public:
  net::awaitable<HttpResponse> Respond(HttpRequest request) override {
    if (request.target == "/throw") throw std::runtime_error("as asked");
    if (request.target == "/wait") {
      waiting.Notify();
      const auto executor = co_await net::this_coro::executor;
      net::steady_timer timer(executor);
      while (!go_on) {
        timer.expires_after(std::chrono::milliseconds(1));
        co_await timer.async_wait(net::as_tuple(net::use_awaitable));
      }
    }
    std::string body = request.method + " " + request.target + " ";
    body += request.body.size() < 100 ? request.body : std::to_string(request.body.size());
    co_return HttpResponse{.body = std::move(body)};
  }
  net::awaitable<std::optional<HttpResponse>> Upgrade(HttpRequest, WebsocketHandshake&) override {
    co_return ErrorResponse(404, "ResourceNotFoundException", "no websockets here");
  }

  absl::Notification waiting;
  std::atomic<bool> go_on = false;
};

class Fixture {
 public:
  explicit Fixture(HttpLimits limits = {}) : server(io_, handler, limits) {
    REQUIRE(server.Listen("127.0.0.1", 0) == absl::OkStatus());
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  ~Fixture() {
    handler.go_on = true;
    server.Drain(absl::Now());
    server.Abort(absl::Now() + absl::Seconds(5));
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  uint16_t port() const { return server.port(); }

  EchoHandler handler;

 private:
  net::io_context io_;
  std::vector<std::thread> threads_;

 public:
  HttpServer server;
};

// A JSON error of that type, after which the connection ends.
void CheckRefused(RawClient& client, const RawResponse& response, int status,
                  const std::string& type) {
  INFO(response.body);
  CHECK(response.status == status);
  if (response.status == 0) return;
  CHECK(response.headers.at("x-amzn-errortype") == type);
  CHECK(response.headers.at("connection") == "close");
  rapidjson::Document document;
  document.Parse(response.body.c_str());
  REQUIRE_FALSE(document.HasParseError());
  CHECK(document["__type"].GetString() == type);
  CHECK(document["message"].GetStringLength() > 0);
  CHECK(client.IsClosedByPeer());
}

std::string HeaderOf(size_t bytes) {
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\nX: ";
  return start + std::string(bytes - start.size() - 4, 'x') + "\r\n\r\n";
}

}  // namespace

TEST_CASE("large bodies share what they may take together, and give it back", "[http]") {
  HttpLimits limits;
  limits.small_body_bytes_max = 1000;
  limits.large_bodies_bytes_max = 5000;
  Fixture f(limits);
  const auto unfinished = [](size_t bytes) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(bytes) +
           "\r\n\r\n";
  };
  RawClient first(f.port());
  first.Send(unfinished(3000));
  // Until the first has been counted.
  const auto answers = [&](size_t bytes) {
    RawClient client(f.port());
    return client.Ask(Post(std::string(bytes, 'x')));
  };
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  while (answers(3000).status != 503 && absl::Now() < deadline)
    absl::SleepFor(absl::Milliseconds(1));

  RawClient second(f.port());
  const RawResponse refused = second.Ask(Post(std::string(3000, 'x')));
  CheckRefused(second, refused, 503, "ServerException");
  CHECK(answers(1000).status == 200);
  CHECK(answers(2000).status == 200);

  first.Send(std::string(3000, 'x'));
  CHECK(first.Receive().status == 200);
  CHECK(answers(3000).status == 200);
}

TEST_CASE("a connection serves one request after the other", "[http]") {
  Fixture f;
  RawClient client(f.port());

  for (int i = 0; i < 3; ++i) {
    const RawResponse response = client.Ask(Post("n" + std::to_string(i)));
    CHECK(response.status == 200);
    CHECK(response.body == "POST / n" + std::to_string(i));
    CHECK(response.headers.count("connection") == 0);
  }
}

TEST_CASE("requests sent ahead are answered in the order in which they were sent", "[http]") {
  Fixture f;
  RawClient client(f.port());

  client.Send(Get("/wait") + Post("two") + Get("/three") + Get("/four", "Connection: close\r\n"));
  f.handler.waiting.WaitForNotification();
  f.handler.go_on = true;

  CHECK(client.Receive().body == "GET /wait ");
  CHECK(client.Receive().body == "POST / two");
  CHECK(client.Receive().body == "GET /three ");
  CHECK(client.Receive().body == "GET /four ");
  CHECK(client.IsClosedByPeer());
}

TEST_CASE("an answer carries the headers that SDKs rely on", "[http]") {
  Fixture f;
  RawClient client(f.port());

  const RawResponse first = client.Ask(Post("{}"));
  const RawResponse second = client.Ask(Post("{}"));

  CHECK(first.headers.at("content-type") == "application/x-amz-json-1.1");
  CHECK(first.headers.at("content-length") == std::to_string(first.body.size()));
  CHECK(first.headers.count("x-amzn-errortype") == 0);
  const std::string& id = first.headers.at("x-amzn-requestid");
  CHECK(std::regex_match(id, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                        "[0-9a-f]{12}")));
  CHECK(second.headers.at("x-amzn-requestid") != id);
  absl::Time date;
  std::string error;
  REQUIRE(absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", first.headers.at("date"), &date, &error));
  CHECK(absl::AbsDuration(absl::Now() - date) < absl::Seconds(10));
}

TEST_CASE("HTTP/1.0 ends the connection unless it asks to keep it", "[http]") {
  Fixture f;
  RawClient client(f.port());

  const RawResponse kept = client.Ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(kept.status == 200);
  CHECK(kept.headers.at("connection") == "keep-alive");
  const RawResponse last = client.Ask("GET /b HTTP/1.0\r\n\r\n");
  CHECK(last.body == "GET /b ");
  CHECK(client.IsClosedByPeer());
}

TEST_CASE("HEAD is answered with the header alone", "[http]") {
  Fixture f;
  RawClient client(f.port());
  client.Send("HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n" + Get("/y"));

  const RawResponse head = client.Receive(true);
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == std::to_string(std::string("HEAD /x ").size()));
  CHECK(client.Receive().body == "GET /y ");
}

TEST_CASE("a body may come in chunks", "[http]") {
  Fixture f;
  RawClient client(f.port());

  const RawResponse response = client.Ask(
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n");

  CHECK(response.body == "POST / abcdefg");
  CHECK(client.Ask(Get("/next")).status == 200);
}

TEST_CASE("a client that expects 100-continue is told to go on", "[http]") {
  Fixture f;
  RawClient client(f.port());

  client.Send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
      "Expect: 100-Continue\r\n\r\n");
  CHECK(client.Receive().status == 100);
  CHECK(client.Ask("body").body == "POST / body");

  const RawResponse other = client.Ask(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: wonders\r\n\r\n");
  CheckRefused(client, other, 417, "InvalidParameterException");
}

TEST_CASE("a body may be as large as the limit and no larger", "[http]") {
  HttpLimits limits;
  limits.body_bytes_max = 100'000;
  Fixture f(limits);
  const auto chunked = [](size_t bytes) {
    char size[32];
    std::snprintf(size, sizeof(size), "%zx", bytes);
    return "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
           std::string(size) + "\r\n" + std::string(bytes, 'x') + "\r\n0\r\n\r\n";
  };

  for (const size_t bytes : {size_t{99'999}, size_t{100'000}}) {
    RawClient client(f.port());
    CHECK(client.Ask(Post(std::string(bytes, 'x'))).body == "POST / " + std::to_string(bytes));
    CHECK(client.Ask(chunked(bytes)).body == "POST / " + std::to_string(bytes));
  }
  {
    RawClient client(f.port());
    CheckRefused(client, client.Ask(Post(std::string(100'001, 'x'))), 413,
                 "InvalidParameterException");
  }
  {
    RawClient client(f.port());
    CheckRefused(client, client.Ask(chunked(100'001)), 413, "InvalidParameterException");
  }
  {
    // Not asked to go on, and told before a single byte of the body.
    RawClient client(f.port());
    const RawResponse early = client.Ask(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\nExpect: "
        "100-continue\r\n\r\n");
    CHECK(early.status == 413);
  }
}

TEST_CASE("a header may be as large as the limit and no larger", "[http]") {
  HttpLimits limits;
  limits.header_bytes_max = 4096;
  Fixture f(limits);

  for (const size_t bytes : {size_t{4095}, size_t{4096}}) {
    RawClient client(f.port());
    CHECK(client.Ask(HeaderOf(bytes)).status == 200);
  }
  for (const size_t bytes : {size_t{4097}, size_t{300'000}}) {
    RawClient client(f.port());
    CheckRefused(client, client.Ask(HeaderOf(bytes)), 431, "InvalidParameterException");
  }
}

TEST_CASE("what is not HTTP is refused in JSON and does not disturb others", "[http]") {
  const auto bytes = GENERATE(values<std::pair<std::string, std::string>>({
      {"no request line", "\r\n\r\n\r\n"},
      {"garbage", std::string("\x16\x03\x01\x02\x00\x01\xfc", 7) + "\r\n\r\n"},
      {"no version", "GET /\r\n\r\n"},
      {"a version of the future", "GET / HTTP/3.7\r\nHost: localhost\r\n\r\n"},
      {"no target", "POST  HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a header without a colon", "GET / HTTP/1.1\r\nHost localhost\r\n\r\n"},
      {"a length that is no number", "POST / HTTP/1.1\r\nContent-Length: ten\r\n\r\n"},
      {"a negative length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
      {"a length and chunks",
       "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"a chunk size that is no number",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n"},
  }));
  INFO(bytes.first);
  Fixture f;
  RawClient other(f.port());
  RawClient client(f.port());

  const RawResponse response = client.Ask(bytes.second);

  CheckRefused(client, response, 400, "SerializationException");
  CHECK(other.Ask(Get("/")).status == 200);
}

TEST_CASE("a request that stops half-way is cut off with the part that is missing", "[http]") {
  HttpLimits limits;
  limits.header_max = absl::Milliseconds(50);
  limits.body_max = absl::Milliseconds(50);
  Fixture f(limits);

  const auto half = GENERATE(values<std::pair<std::string, std::string>>({
      {"header", "POST / HTTP/1.1\r\nHost: loc"},
      {"body", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc"},
      {"body", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"},
  }));
  INFO(half.second);
  RawClient client(f.port());
  const RawResponse response = client.Ask(half.second);
  CHECK(response.body.find("the request's " + half.first + " did not arrive") != std::string::npos);
  CheckRefused(client, response, 408, "RequestTimeoutException");
}

TEST_CASE("a client that sends byte after byte does not hold a connection open", "[http]") {
  HttpLimits limits;
  limits.header_max = absl::Milliseconds(100);
  Fixture f(limits);
  RawClient client(f.port());
  std::atomic<bool> done = false;
  std::thread dribble([&] {
    client.Send("GET / HTTP/1.1\r\nX: ");
    while (!done && client.Send("x")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });

  const RawResponse response = client.Receive();
  done = true;
  dribble.join();

  CHECK(response.status == 408);
}

TEST_CASE("a client that ends within a request is told so", "[http]") {
  Fixture f;
  RawClient client(f.port());
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  client.EndSending();

  CheckRefused(client, client.Receive(), 400, "SerializationException");
}

TEST_CASE("an idle connection is closed after its time, without a word", "[http]") {
  HttpLimits limits;
  limits.idle_max = absl::Milliseconds(50);
  Fixture f(limits);
  RawClient client(f.port());
  CHECK(client.Ask(Get("/")).status == 200);

  CHECK(client.IsClosedByPeer());
}

TEST_CASE("a client that reads nothing is cut off", "[http]") {
  HttpLimits limits;
  limits.write_max = absl::Milliseconds(50);
  limits.body_bytes_max = 1'000'000;
  Fixture f(limits);
  RawClient client(f.port());
  // Answers pile up unread until writing one takes too long.
  const std::string request = "GET /" + std::string(10'000, 'x') + " HTTP/1.1\r\n\r\n";
  bool sent = true;
  for (int i = 0; i < 5000 && sent; ++i) sent = client.Send(request);

  CHECK_FALSE(sent);
}

TEST_CASE("what a handler throws becomes a ServerException", "[http]") {
  Fixture f;
  RawClient client(f.port());

  const RawResponse response = client.Ask(Get("/throw"));
  CHECK(response.status == 500);
  CHECK(response.headers.at("x-amzn-errortype") == "ServerException");
  CHECK(response.body.find(response.headers.at("x-amzn-requestid")) != std::string::npos);
  CHECK(response.body.find("as asked") == std::string::npos);
  CHECK(client.Ask(Get("/next")).status == 200);
}

TEST_CASE("one connection more than the limit is turned away in JSON", "[http]") {
  HttpLimits limits;
  limits.connections_max = 2;
  Fixture f(limits);
  RawClient first(f.port());
  RawClient second(f.port());
  REQUIRE(first.Ask(Get("/")).status == 200);
  REQUIRE(second.Ask(Get("/")).status == 200);

  {
    RawClient third(f.port());
    CheckRefused(third, third.Receive(), 503, "ServerException");
  }
  CHECK(first.Ask(Get("/")).status == 200);

  second.Close();
  while (f.server.connections() > 1) std::this_thread::yield();
  RawClient fourth(f.port());
  CHECK(fourth.Ask(Get("/")).status == 200);
}

TEST_CASE("draining finishes the request under way and closes idle connections", "[http]") {
  Fixture f;
  RawClient idle(f.port());
  REQUIRE(idle.Ask(Get("/")).status == 200);
  RawClient busy(f.port());
  busy.Send(Get("/wait") + Get("/behind"));
  f.handler.waiting.WaitForNotification();

  std::thread drain([&] { f.server.Drain(absl::Now() + absl::Seconds(10)); });
  CHECK(idle.IsClosedByPeer());
  f.handler.go_on = true;
  const RawResponse last = busy.Receive();
  drain.join();

  CHECK(last.body == "GET /wait ");
  CHECK(last.headers.at("connection") == "close");
  CHECK(busy.IsClosedByPeer());
  CHECK(f.server.connections() == 0);
  CHECK_THROWS(RawClient(f.port()));
}

TEST_CASE("draining gives up at its deadline, and aborting ends the rest", "[http]") {
  Fixture f;
  RawClient half(f.port());
  half.Send("POST / HTTP/1.1\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n");
  REQUIRE(half.Receive().status == 100);  // so that the server is in the middle of it
  half.Send("abc");

  f.server.Drain(absl::Now() + absl::Milliseconds(20));
  CHECK(f.server.connections() == 1);
  f.server.Abort(absl::Now() + absl::Seconds(10));

  CHECK(f.server.connections() == 0);
  CHECK(half.IsClosedByPeer());
}

}  // namespace berth::api

// What the agent answers to questions about its instance and its tasks.
#include <array>
#include <string>
#include <thread>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

#include "agent/json.h"
#include "agent/metadata/introspection.h"
#include "tests/agent/agent_under_test.h"

namespace berth::agent {
namespace {

using net::ip::tcp;
using testing::AgentUnderTest;
using testing::FakeServer;
using testing::OneContainer;
using testing::Payload;
using testing::TaskArn;

constexpr char kDockerId[] = "189a8ff4b5f04affe40e5160a5ffadca395136eb5faf4950c57963c06f82c76d";

// Two tasks: t1 runs one of its two containers, t2 has the same beginning of an id.
struct TwoTasks {
  TwoTasks() {
    for (const char* id : {"t1", "t2"}) {
      TaskPayload task = {.arn = TaskArn(id), .id = id, .family = "f", .version = "3"};
      task.containers = {{.name = "web"}, {.name = "side"}};
      payloads.push_back(task);
      TaskState state;
      state.status = model::TaskStatus::kRunning;
      state.containers.resize(2);
      states.push_back(state);
    }
    states[0].containers[0].runtime_id = kDockerId;
    states[1].containers[0].runtime_id = std::string(kDockerId).substr(0, 20) + "0";
    states[1].desired = model::DesiredStatus::kStopped;
  }
  InstanceView View() const {
    return {.cluster = "default",
            .instance_arn = testing::kInstanceArn,
            .version = "1.2.3",
            .tasks = {{&payloads[0], &states[0]}, {&payloads[1], &states[1]}}};
  }

  std::vector<TaskPayload> payloads;
  std::vector<TaskState> states;
};

std::string TaskText(const std::string& id, const std::string& desired,
                     const std::string& docker_id) {
  return "{\"Arn\":\"" + TaskArn(id) + "\",\"DesiredStatus\":\"" + desired +
         "\",\"KnownStatus\":\"RUNNING\",\"Family\":\"f\",\"Version\":\"3\",\"Containers\":[{"
         "\"DockerId\":\"" +
         docker_id + "\",\"Name\":\"web\"},{\"Name\":\"side\"}]}";
}

// All that comes for these bytes until the server closes the connection, and how it does.
struct Reply {
  std::string text;
  boost::system::error_code end;
};

Reply Ask(uint16_t port, const std::string& bytes) {
  net::io_context loop;
  tcp::socket socket(loop);
  Reply reply;
  socket.connect({net::ip::address_v4::loopback(), port}, reply.end);
  if (!reply.end) net::write(socket, net::buffer(bytes), reply.end);
  if (!reply.end) net::read(socket, net::dynamic_buffer(reply.text), reply.end);
  return reply;
}

std::string Get(uint16_t port, const std::string& target) {
  return Ask(port, "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      .text;
}

uint16_t FreePort() {
  net::io_context loop;
  return tcp::acceptor(loop, {net::ip::address_v4::loopback(), 0}).local_endpoint().port();
}

// Listens for as long as it lives.
class Listening {
 public:
  explicit Listening(LocalHttpServer::Answer answer) {
    server = LocalHttpServer::Listen(loop.get_executor(), 0, std::move(answer)).value();
    thread = std::thread([this] { loop.run(); });
  }
  ~Listening() {
    loop.stop();
    thread.join();
  }
  uint16_t port() const { return server->port(); }

  net::io_context loop;
  std::shared_ptr<LocalHttpServer> server;
  std::thread thread;
};

LocalAnswer Echo(std::string_view target) { return {.json = std::string(target)}; }

TEST_CASE("introspection tells of the instance as ECS does", "[agent]") {
  const TwoTasks two;

  const LocalAnswer answer = AnswerIntrospection("/v1/metadata", two.View());

  CHECK(answer.status == 200);
  CHECK(answer.json == std::string("{\"Cluster\":\"default\",\"ContainerInstanceArn\":\"") +
                           testing::kInstanceArn + "\",\"Version\":\"Berth Agent - v1.2.3\"}");
}

TEST_CASE("introspection lists all tasks, and no DockerId before there is one", "[agent]") {
  const TwoTasks two;

  const LocalAnswer answer = AnswerIntrospection("/v1/tasks", two.View());

  CHECK(answer.status == 200);
  const std::string second = two.states[1].containers[0].runtime_id;
  CHECK(answer.json == "{\"Tasks\":[" + TaskText("t1", "RUNNING", kDockerId) + "," +
                           TaskText("t2", "STOPPED", second) + "]}");
}

TEST_CASE("introspection finds the one task that is asked for, or says why not", "[agent]") {
  struct Case {
    std::string why;
    std::string query;
    unsigned status;
    std::string holds;
  };
  const std::string id = kDockerId;
  const auto c = GENERATE_COPY(values<Case>({
      {"its ARN", "taskarn=" + TaskArn("t2"), 200, TaskArn("t2")},
      {"its ARN, escaped",
       "taskarn=arn%3Aaws%3Aecs%3Aus-east-1%3A000000000000%3Atask%2Fdefault%2Ft1", 200,
       TaskArn("t1")},
      {"a container's id", "dockerid=" + id, 200, TaskArn("t1")},
      {"the beginning of an id", "dockerid=" + id.substr(0, 21), 200, TaskArn("t1")},
      {"a beginning that two have", "dockerid=" + id.substr(0, 12), 400, "more than one"},
      {"a beginning too short", "dockerid=" + id.substr(0, 11), 404, "{}"},
      {"no such task", "taskarn=" + TaskArn("t3"), 404, "{}"},
      {"both", "taskarn=" + TaskArn("t1") + "&dockerid=" + id, 400, "one of taskarn"},
      {"neither", "family=f", 400, "one of taskarn"},
      {"no value", "taskarn=", 400, "taskarn is empty"},
      {"no equals sign", "dockerid", 400, "one of taskarn"},
      {"half an escape", "dockerid=ab%2", 400, "badly escaped"},
      {"no escape", "dockerid=%zz", 400, "badly escaped"},
  }));
  INFO(c.why);
  const TwoTasks two;

  const LocalAnswer answer = AnswerIntrospection("/v1/tasks?" + c.query, two.View());

  CHECK(answer.status == c.status);
  CHECK_THAT(answer.json, Catch::Contains(c.holds));
}

TEST_CASE("introspection names its paths to who asks for another", "[agent]") {
  const auto path = GENERATE(as<std::string>(), "/", "/v1", "/v1/tasks/", "/v1/metadataX");
  const TwoTasks two;

  CHECK(AnswerIntrospection(path, two.View()).json ==
        "{\"AvailableCommands\":[\"/v1/metadata\",\"/v1/tasks\"]}");
}

TEST_CASE("the local server answers GET alone, and small requests alone", "[agent]") {
  struct Case {
    std::string why;
    std::string request;
    std::string starts;
  };
  const auto c = GENERATE(values<Case>({
      {"a GET", "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 "},
      {"another method",
       "POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
       "HTTP/1.1 405 "},
      {"a body", "GET /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
       "HTTP/1.1 413 "},
      {"a body in chunks",
       "GET /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
       "chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
       "HTTP/1.1 413 "},
      {"a long header",
       "GET /x HTTP/1.1\r\nHost: localhost\r\nA: " + std::string(9000, 'a') + "\r\n\r\n",
       "HTTP/1.1 431 "},
      {"no HTTP", "hello there\r\n\r\n", "HTTP/1.1 400 "},
  }));
  INFO(c.why);
  const Listening listening(Echo);

  CHECK_THAT(Ask(listening.port(), c.request).text, Catch::StartsWith(c.starts));
}

TEST_CASE("the local server does not reset who has sent more than it reads", "[agent]") {
  struct Case {
    std::string why;
    std::string request;
    std::string starts;
  };
  const std::string much(100'000, 'a');
  const auto c = GENERATE_COPY(values<Case>({
      {"a body", "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + much,
       "HTTP/1.1 413 "},
      {"a header", "GET /x HTTP/1.1\r\nHost: localhost\r\nA: " + much + "\r\n\r\n",
       "HTTP/1.1 431 "},
      {"no HTTP", "hello there\r\n\r\n" + much, "HTTP/1.1 400 "},
  }));
  INFO(c.why);
  const Listening listening(Echo);

  const Reply reply = Ask(listening.port(), c.request);

  CHECK_THAT(reply.text, Catch::StartsWith(c.starts));
  CHECK(reply.end == net::error::eof);
}

TEST_CASE("the local server answers under this machine's own names alone", "[agent]") {
  struct Case {
    std::string hosts;  // header lines
    std::string starts;
  };
  const auto c = GENERATE(values<Case>({
      {"Host: 127.0.0.1\r\n", "HTTP/1.1 200 "},
      {"Host: 127.0.0.1:51678\r\n", "HTTP/1.1 200 "},
      {"Host: LocalHost:51678\r\n", "HTTP/1.1 200 "},
      {"host: [::1]:51678\r\n", "HTTP/1.1 200 "},
      {"Host: rebound.example\r\n", "HTTP/1.1 403 "},
      {"Host: rebound.example:51678\r\n", "HTTP/1.1 403 "},
      {"Host: localhost.rebound.example\r\n", "HTTP/1.1 403 "},
      {"Host: 127.0.0.1.rebound.example\r\n", "HTTP/1.1 403 "},
      {"Host: 192.0.2.1\r\n", "HTTP/1.1 403 "},
      {"Host:\r\n", "HTTP/1.1 403 "},
      {"", "HTTP/1.1 403 "},
      {"Host: localhost\r\nHost: rebound.example\r\n", "HTTP/1.1 403 "},
  }));
  INFO(c.hosts);
  const Listening listening(Echo);

  CHECK_THAT(
      Ask(listening.port(), "GET /x HTTP/1.1\r\n" + c.hosts + "Connection: close\r\n\r\n").text,
      Catch::StartsWith(c.starts));
}

TEST_CASE("the local server answers HEAD without a body", "[agent]") {
  const Listening listening(Echo);

  const std::string answer =
      Ask(listening.port(), "HEAD /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
          .text;

  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 405 ") && Catch::EndsWith("\r\n\r\n"));
}

TEST_CASE("the local server answers several requests on one connection, in order", "[agent]") {
  const Listening listening(Echo);

  const std::string answers =
      Ask(listening.port(),
          "GET /one HTTP/1.1\r\nHost: localhost\r\n\r\n"
          "GET /two HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
          .text;

  const size_t one = answers.find("/one");
  REQUIRE(one != std::string::npos);
  REQUIRE(answers.find("/two") != std::string::npos);
  CHECK(answers.find("/two") > one);
}

TEST_CASE("a port that is taken is named", "[agent]") {
  const Listening listening([](std::string_view) -> LocalAnswer { return {}; });
  net::io_context loop;

  const auto second = LocalHttpServer::Listen(loop.get_executor(), listening.port(),
                                              [](std::string_view) -> LocalAnswer { return {}; });

  REQUIRE(!second.ok());
  CHECK_THAT(std::string(second.status().message()),
             Catch::Contains("127.0.0.1:" + std::to_string(listening.port())));
}

TEST_CASE("an agent that was registered answers introspection with its tasks", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.introspection_port = FreePort();
  agent.Start();
  REQUIRE(server.Eventually([&] { return !server.Handshakes().empty(); }));

  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));

  const uint16_t port = agent.settings.introspection_port;
  CHECK_THAT(Get(port, "/v1/metadata"), Catch::Contains(testing::kInstanceArn));
  CHECK(server.Eventually([&] {
    const std::string answer = Get(port, "/v1/tasks?taskarn=" + TaskArn("t1"));
    return answer.find("\"KnownStatus\":\"RUNNING\"") != std::string::npos &&
           answer.find("\"DockerId\":\"simulated-") != std::string::npos;
  }));
}

TEST_CASE("an agent whose introspection port is taken runs its tasks all the same", "[agent]") {
  const Listening other([](std::string_view) -> LocalAnswer { return {}; });
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.introspection_port = other.port();

  agent.Start();

  CHECK(server.Eventually([&] { return !server.Handshakes().empty(); }));
}

TEST_CASE("introspection is refused where a process has several instances", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.instances = 2;
  agent.settings.introspection_port = 1;

  CHECK(!CreateWithTiming(agent.settings, agent.timing).ok());
}

}  // namespace
}  // namespace berth::agent

// How the agent keeps its channel: agent-protocol.md 2.1 to 2.6, checklist 14 to 21, 55.
#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "agent/json.h"
#include "tests/agent/agent_under_test.h"

namespace berth::agent {
namespace {

using testing::AgentUnderTest;
using testing::FakeServer;

// Connected once; further handshakes count from here.
void Connect(FakeServer& server, AgentUnderTest& agent) {
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
}

bool AnswersHeartbeat(FakeServer& server, const std::string& id) {
  server.Send("HeartbeatMessage", "{\"messageId\":\"" + id + "\",\"healthy\":true}");
  return server.Eventually([&] {
    for (const std::string& body : server.Messages("HeartbeatAckRequest")) {
      if (body == "{\"messageId\":\"" + id + "\"}") return true;
    }
    return false;
  });
}

TEST_CASE("a heartbeat is acknowledged by its id", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  CHECK(AnswersHeartbeat(server, "h1"));
}

TEST_CASE("silence ends a connection, and the next says so", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.channel.silence_max = absl::Milliseconds(200);
  Connect(server, agent);

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() >= 2; }));
  CHECK_THAT(server.Handshakes()[1], Catch::Contains("sendCredentials=false"));
}

TEST_CASE("messages that are understood keep a connection alive, garbage does not", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.channel.silence_max = absl::Milliseconds(800);
  Connect(server, agent);

  SECTION("heartbeats") {
    for (int i = 0; i < 12; ++i) REQUIRE(AnswersHeartbeat(server, std::to_string(i)));
    absl::SleepFor(absl::Milliseconds(100));
    CHECK(server.Handshakes().size() == 1);
  }
  SECTION("garbage") {
    CHECK(server.Eventually([&] {
      server.SendText("{\"type\":\"Nonsense\",\"message\":{}}");
      return server.Handshakes().size() == 2;
    }));
  }
}

TEST_CASE("the agent comes back after every end of a connection", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  SECTION("closed normally") { server.Close(1000, ""); }
  SECTION("closed with an error") { server.Close(1008, "heartbeat"); }
  SECTION("dropped") { server.Drop(); }

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 2; }));
  CHECK(AnswersHeartbeat(server, "after"));
  // The endpoint is kept: it was asked for once.
  CHECK(server.Calls("DiscoverPollEndpoint").size() == 1);
}

TEST_CASE("a refused handshake is tried again", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  server.RefuseNextHandshake(503, "{\"type\":\"ServerException\",\"message\":{\"message\":\"m\"}}");
  server.RefuseNextHandshake(503, "");

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 3; }));
  CHECK(AnswersHeartbeat(server, "h"));
  // No connection of this process had succeeded before.
  CHECK_THAT(server.Handshakes()[2], Catch::Contains("sendCredentials=true"));
}

TEST_CASE("a deregistered instance waits long, whichever way it learns of it", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.channel.pace.inactive_wait = absl::Seconds(2);
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));

  SECTION("by the close") { server.Close(1008, "InactiveInstanceException: gone"); }
  SECTION("by the handshake") {
    server.RefuseNextHandshake(400, "{\"InactiveInstanceException\":\"gone\"}");
    server.Close(1000, "");
    REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 2; }));
  }

  const size_t before = server.Handshakes().size();
  CHECK_FALSE(server.Eventually([&] { return server.Handshakes().size() > before; },
                                absl::Milliseconds(1000)));
  CHECK(server.Eventually([&] { return server.Handshakes().size() > before; }));
}

TEST_CASE("nothing that comes in band ends a connection", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.SendText("not JSON");
  server.SendText("[]");
  server.SendText("{\"type\":\"HeartbeatMessage\"}");
  server.Send("CloseMessage", "{\"message\":\"m\"}");
  server.Send("InactiveInstanceException", "{\"message\":\"m\"}");
  server.Send("NobodyKnows", "{}");
  server.Send("PayloadMessage", "{\"tasks\":3}");
  server.Send("TaskManifestMessage", "{}");
  server.Send("TaskStopVerificationAck", "{\"messageId\":\"\"}");

  CHECK(AnswersHeartbeat(server, "still here"));
  CHECK(server.Handshakes().size() == 1);
}

TEST_CASE("a ping gets a pong", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  REQUIRE(AnswersHeartbeat(server, "open"));

  server.Ping();

  CHECK(server.Eventually([&] { return server.pongs() == 1; }));
}

TEST_CASE("an old connection is replaced by the agent", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.channel.life = absl::Milliseconds(300);
  agent.timing.channel.life_jitter = absl::ZeroDuration();

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() >= 3; }));
}

TEST_CASE("an update is declined", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("PerformUpdateMessage",
              "{\"messageId\":\"u\",\"clusterArn\":\"c\",\"containerInstanceArn\":\"i\"}");

  REQUIRE(server.Eventually([&] { return server.Messages("NackRequest").size() == 1; }));
  CHECK_THAT(server.Messages("NackRequest")[0], Catch::Contains("\"messageId\":\"u\""));
}

}  // namespace
}  // namespace berth::agent

// The agent and a server that speaks TLS: whom it trusts, and what it says where it does not.
#include <catch2/catch.hpp>

#include "agent/credentials.h"
#include "tests/agent/agent_under_test.h"
#include "tests/agent/tls_files.h"

namespace berth::agent {
namespace {

using testing::AgentUnderTest;
using testing::FakeServer;
using testing::TlsFiles;
using testing::TlsTerms;

TEST_CASE("with the server's CA the agent registers and holds its channel over TLS",
          "[agent][tls]") {
  const TlsFiles files;
  FakeServer server(files.server);
  AgentUnderTest agent(server);
  agent.settings.ca_file = files.ca;

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  server.Send("HeartbeatMessage", "{\"messageId\":\"h1\",\"healthy\":true}");
  CHECK(server.Eventually([&] { return !server.Messages("HeartbeatAckRequest").empty(); }));
}

TEST_CASE("a task runs to its end over TLS", "[agent][tls]") {
  const TlsFiles files;
  FakeServer server(files.server);
  AgentUnderTest agent(server);
  agent.settings.ca_file = files.ca;
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  const std::string id = "0123456789abcdef0123456789abcdef";

  server.Send("PayloadMessage", testing::Payload("m1", id, "RUNNING", testing::OneContainer()));

  CHECK(server.Eventually([&] {
    for (const auto& call : server.Calls("SubmitTaskStateChange")) {
      if (call.body.find("\"RUNNING\"") != std::string::npos) return true;
    }
    return false;
  }));
}

TEST_CASE("a channel over TLS that breaks off is opened again", "[agent][tls]") {
  const TlsFiles files;
  FakeServer server(files.server);
  AgentUnderTest agent(server);
  agent.settings.ca_file = files.ca;
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));

  SECTION("cut") { server.Drop(); }
  SECTION("closed in good order") { server.Close(1001, "going away"); }

  CHECK(server.Eventually([&] { return server.Handshakes().size() == 2; }));
}

TEST_CASE("a server that cannot prove who it is ends the registration, and the flag is named",
          "[agent][tls]") {
  struct Case {
    std::string why;
    TlsTerms terms;
    bool right_ca;
    std::string text;
  };
  const auto c = GENERATE(values<Case>({
      {"no CA file", {}, false, "not to be trusted: unable to get local issuer certificate"},
      {"another name", {.names = {"berth.example"}}, true, "is not for 127.0.0.1"},
      {"its time is over", {.left = -absl::Hours(1)}, true, "certificate has expired"},
  }));
  INFO(c.why);
  const TlsFiles files(c.terms);
  FakeServer server(files.server);
  AgentUnderTest agent(server);
  agent.settings.ca_file = c.right_ca ? files.ca : files.other_ca;

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  INFO(exit.reason);
  CHECK(exit.code == 1);
  CHECK_THAT(exit.reason, Catch::Contains(c.text));
  CHECK_THAT(exit.reason, Catch::Contains("--ca-file"));
  CHECK(server.Calls("").empty());
}

TEST_CASE("an agent that was told https does not follow to plain http", "[agent][tls]") {
  const TlsFiles files;
  FakeServer plain;
  FakeServer server(files.server);
  server.AnswerNext("DiscoverPollEndpoint", 200, "{\"endpoint\":\"" + plain.url() + "/acs\"}");
  AgentUnderTest agent(server);
  agent.settings.ca_file = files.ca;

  agent.Start();

  // It asks again, and is then told rightly.
  CHECK(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  CHECK(plain.Handshakes().empty());
}

}  // namespace
}  // namespace berth::agent

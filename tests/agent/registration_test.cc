// How the agent joins: agent-protocol.md 1.3 to 1.5, checklist 1 to 8, 10, 11.
#include <fstream>

#include <catch2/catch.hpp>

#include "agent/json.h"
#include "tests/agent/agent_under_test.h"

namespace berth::agent {
namespace {

using testing::AgentUnderTest;
using testing::FakeServer;

std::string Error(const std::string& type, const std::string& message = "m") {
  return "{\"__type\":\"" + type + "\",\"message\":\"" + message + "\"}";
}

std::optional<std::string> AttributeOf(const std::string& body, const std::string& name) {
  json::Document document;
  json::Parse(body, document);
  const json::Value* attributes = json::FindArray(document, "attributes");
  if (attributes == nullptr) return std::nullopt;
  for (const json::Value& attribute : attributes->GetArray()) {
    if (json::StringOr(attribute, "name") == name) return json::StringOr(attribute, "value");
  }
  return std::nullopt;
}

TEST_CASE("once registered, the agent asks for its endpoint by its ARN and connects to it",
          "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  CHECK(server.Calls("")[0].action == "RegisterContainerInstance");
  CHECK(server.Calls("")[1].action == "DiscoverPollEndpoint");
  CHECK_THAT(server.Calls("")[1].body, Catch::Contains(testing::kInstanceArn));
  const std::string target = server.Handshakes()[0];
  CHECK_THAT(target, Catch::StartsWith("/acs/ws?"));
  for (const char* part :
       {"agentHash=", "agentVersion=", "clusterArn=default", "containerInstanceArn=arn%3Aaws%3Aecs",
        "dockerVersion=DockerVersion%3A%20", "protocolVersion=2", "sendCredentials=true",
        "seqNum=1"}) {
    CHECK_THAT(target, Catch::Contains(part));
  }
}

TEST_CASE("the registration says what the machine has", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.cpu_units = 4096;
  agent.settings.memory_mib = 8000;
  agent.settings.gpus = {.kind = GpuOption::Kind::kSimulated, .count = 2, .memory_mib = 22587};
  agent.settings.instance_attributes = {{"rack", "r1"}};
  agent.settings.availability_zone = "rack-1a";
  agent.settings.instance_tags = {{.key = "k", .value = "v"}};

  agent.Start();

  REQUIRE(server.Eventually([&] { return !server.Calls("RegisterContainerInstance").empty(); }));
  const std::string body = server.Calls("RegisterContainerInstance")[0].body;
  json::Document document;
  REQUIRE(json::Parse(body, document));
  const json::Value& totals = document["totalResources"];
  CHECK(totals[0]["integerValue"].GetInt64() == 4096);
  CHECK(totals[1]["integerValue"].GetInt64() == 8000);
  CHECK(json::StringOr(totals[2]["stringSetValue"][0], "") == "");
  CHECK(std::string(totals[2]["stringSetValue"][0].GetString()) == "22");
  REQUIRE(document["platformDevices"].Size() == 2);
  const json::Value& gpu = document["platformDevices"][1];
  CHECK_THAT(json::StringOr(gpu, "id"),
             Catch::StartsWith("GPU-simulated-") && Catch::EndsWith("-1"));
  CHECK(gpu["gpuInfo"]["memoryInMiB"].GetInt64() == 22587);
  CHECK(AttributeOf(body, "ecs.capability.gpu-sharing-mps") == "");
  CHECK(AttributeOf(body, "berth.mps-clients-max") == "48");
  CHECK(AttributeOf(body, "ecs.capability.full-sync") == "");
  CHECK(AttributeOf(body, "rack") == "r1");
  CHECK(AttributeOf(body, "ecs.availability-zone") == "rack-1a");
  CHECK(AttributeOf(body, "ecs.instance-type") == "berth.simulated");
  CHECK(json::StringOr(document["tags"][0], "key") == "k");
}

TEST_CASE("a reservation that leaves no memory for tasks is refused", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.reserved_memory_mib = 1'000'000'000;

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 5);
  CHECK_THAT(exit.reason, Catch::Contains("1000000000 MiB are reserved"));
  CHECK(server.Calls("").empty());
}

TEST_CASE("an instance without GPUs offers no sharing", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);

  agent.Start();

  REQUIRE(server.Eventually([&] { return !server.Calls("RegisterContainerInstance").empty(); }));
  const std::string body = server.Calls("RegisterContainerInstance")[0].body;
  CHECK_FALSE(AttributeOf(body, "ecs.capability.gpu-sharing-mps").has_value());
  CHECK_FALSE(AttributeOf(body, "berth.mps-clients-max").has_value());
  CHECK_THAT(body, !Catch::Contains("platformDevices"));
}

struct ExitCase {
  std::string why;
  int status;
  std::string body;
  int code;
  size_t calls;
};

TEST_CASE("some refusals are final, and some may pass", "[agent]") {
  const auto c = GENERATE(values<ExitCase>({
      {"a bad argument", 400, Error("InvalidParameterException"), 5, 1},
      {"the client's fault", 400, Error("com.amazonaws.ecs#ClientException"), 5, 1},
      {"another machine under an old ARN", 400,
       Error("OtherException", "Container instance type changes are not supported."), 5, 1},
      {"no access", 400, Error("AccessDeniedException"), 1, 1},
      {"an error nobody knows", 400, Error("StrangeException"), 1, 1},
      {"an answer without an ARN", 200, "{}", 1, 1},
  }));
  INFO(c.why);
  FakeServer server;
  AgentUnderTest agent(server);
  server.AnswerNext("RegisterContainerInstance", c.status, c.body);

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  INFO(exit.reason);
  CHECK(exit.code == c.code);
  CHECK(server.Calls("").size() == c.calls);
}

TEST_CASE("an attribute with a value that the server drops is final", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.instance_attributes = {{"rack", "r1"}};
  server.LeaveOutAttribute("rack");

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 5);
  CHECK_THAT(exit.reason, Catch::Contains("rack=r1"));
}

TEST_CASE("a name-only attribute that the server drops does not matter", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  server.LeaveOutAttribute("ecs.capability.full-sync");

  agent.Start();

  CHECK(server.Eventually([&] { return server.Handshakes().size() == 1; }));
}

TEST_CASE("a server that is not there is given up after a few tries, restartably", "[agent]") {
  AgentUnderTest agent(std::string("http://127.0.0.1:1"));

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 1);
  CHECK_THAT(exit.reason, Catch::Contains("127.0.0.1:1"));
}

TEST_CASE("throttling and the server's own errors are waited out, under one client token",
          "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  server.AnswerNext("RegisterContainerInstance", 400, Error("ThrottlingException"));
  server.AnswerNext("RegisterContainerInstance", 500, Error("ServerException"));
  server.AnswerNext("RegisterContainerInstance", 500, Error("ServerException"));
  server.AnswerNext("RegisterContainerInstance", 503, "not JSON");
  server.AnswerNext("RegisterContainerInstance", 400, Error("LimitExceededException"));

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  const auto calls = server.Calls("RegisterContainerInstance");
  CHECK(calls.size() == 6);
  for (const auto& call : calls) CHECK(call.body == calls[0].body);
}

TEST_CASE("the default cluster is created when it is missing and none was configured", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  server.AnswerNext("RegisterContainerInstance", 400,
                    Error("ClusterNotFoundException", "Cluster not found."));

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  REQUIRE(server.Calls("CreateCluster").size() == 1);
  CHECK_THAT(server.Calls("CreateCluster")[0].body, Catch::Contains("\"default\""));
}

TEST_CASE("a configured cluster that is missing ends the agent", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.cluster = "gpu";
  server.AnswerNext("RegisterContainerInstance", 400,
                    Error("ClusterNotFoundException", "Cluster not found."));

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 1);
  CHECK(server.Calls("CreateCluster").empty());
  CHECK_THAT(exit.reason, Catch::Contains("gpu"));
}

TEST_CASE("a restarted agent registers again as itself, without custom attributes", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.instance_attributes = {{"rack", "r1"}};
  agent.settings.gpus = {.kind = GpuOption::Kind::kSimulated, .count = 1, .memory_mib = 1000};
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  agent.Stop();

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 2; }));
  const auto calls = server.Calls("RegisterContainerInstance");
  json::Document first;
  json::Document second;
  REQUIRE(json::Parse(calls[0].body, first));
  REQUIRE(json::Parse(calls[1].body, second));
  CHECK(json::StringOr(first, "containerInstanceArn").empty());
  CHECK(json::StringOr(second, "containerInstanceArn") == testing::kInstanceArn);
  CHECK(json::StringOr(first, "clientToken") != json::StringOr(second, "clientToken"));
  CHECK(AttributeOf(calls[0].body, "rack") == "r1");
  CHECK_FALSE(AttributeOf(calls[1].body, "rack").has_value());
  CHECK(json::StringOr(first["platformDevices"][0], "id") ==
        json::StringOr(second["platformDevices"][0], "id"));
}

TEST_CASE("a data directory belongs to one cluster", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  agent.Stop();
  agent.settings.cluster = "other";

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 5);
  CHECK_THAT(exit.reason, Catch::Contains("default") && Catch::Contains("other"));
}

TEST_CASE("a state file that is damaged is set aside, and the agent registers afresh", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  std::filesystem::create_directories(agent.directory.path());
  std::ofstream(agent.directory.path() + "/instance.json") << "{\"format\":1,";

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  CHECK(std::filesystem::exists(agent.directory.path() + "/instance.json.corrupt"));
}

TEST_CASE("settings that cannot work are refused in words", "[agent]") {
  struct Case {
    std::string why;
    std::function<void(AgentSettings&)> spoil;
    std::string has;
  };
  const std::vector<Case> cases = {
      {"no data directory", [](AgentSettings& s) { s.data_dir = ""; }, "data directory"},
      {"not a URL", [](AgentSettings& s) { s.server = "localhost"; }, "https://berth.example:8443"},
      {"another scheme", [](AgentSettings& s) { s.server = "ftp://a"; }, "no http or https URL"},
      {"no CA file",
       [](AgentSettings& s) {
         s.server = "https://a";
         s.ca_file = "/absent/ca.pem";
       },
       "cannot read /absent/ca.pem: No such file or directory"},
      {"no credentials", [](AgentSettings& s) { s.credentials_file = "/absent"; },
       "cannot read the credentials in /absent"},
      {"no instance", [](AgentSettings& s) { s.instances = 0; }, "instances is 0"},
      {"a fleet on Docker",
       [](AgentSettings& s) {
         s.instances = 2;
         s.runtime = RuntimeKind::kDocker;
       },
       "simulated"},
      {"no stop timeout", [](AgentSettings& s) { s.stop_timeout = absl::ZeroDuration(); }, "1 s"},
      {"no range", [](AgentSettings& s) { s.awsvpc_range = "10.0.0.0"; }, "10.213.0.0/16"},
      {"a range too small", [](AgentSettings& s) { s.awsvpc_range = "10.0.0.0/29"; }, "/28"},
  };
  for (const Case& c : cases) {
    INFO(c.why);
    AgentSettings settings;
    settings.server = "http://127.0.0.1:1";
    settings.data_dir = "/tmp/x";
    settings.runtime = RuntimeKind::kSimulated;
    c.spoil(settings);

    const auto agent = Agent::Create(settings);

    REQUIRE_FALSE(agent.ok());
    CHECK_THAT(std::string(agent.status().message()), Catch::Contains(c.has));
  }
}

TEST_CASE("the GPU option reads its three forms and nothing else", "[agent]") {
  CHECK(ParseGpuOption("auto")->kind == GpuOption::Kind::kAuto);
  CHECK(ParseGpuOption("none")->kind == GpuOption::Kind::kNone);
  const absl::StatusOr<GpuOption> simulated = ParseGpuOption("simulated:8x81920");
  REQUIRE(simulated.ok());
  CHECK(simulated->count == 8);
  CHECK(simulated->memory_mib == 81920);
  for (const char* text :
       {"", "all", "simulated", "simulated:", "simulated:2", "simulated:x1", "simulated:0x1",
        "simulated:1x0", "simulated:65x1", "simulated:1x1x1", "simulated:-1x5"}) {
    INFO(text);
    CHECK_FALSE(ParseGpuOption(text).ok());
  }
}

}  // namespace
}  // namespace berth::agent

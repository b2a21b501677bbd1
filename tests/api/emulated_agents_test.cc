// --emulate-agents: instances without an agent of their own, whose tasks run and stop all the same.
#include <string>

#include <catch2/catch.hpp>

#include "tests/api/agent_peer.h"
#include "tests/api/server_fixture.h"

namespace berth::api {
namespace {

struct Emulating : ServerFixture {
  explicit Emulating(ServerLimits limits = {}) : ServerFixture(limits, true) {
    RegisterDefinition("f", R"(,"portMappings":[{"containerPort":80}])");
    instance = RegisterInstance();
  }
  int64_t RunningTasks() {
    return Ask("DescribeClusters",
               R"({"clusters":["default"]})")["clusters"][0]["runningTasksCount"]
        .GetInt64();
  }
  std::string instance;
};

}  // namespace

TEST_CASE("a task on an emulated instance reaches RUNNING, and says that it is not real",
          "[emulated]") {
  Emulating f;
  CHECK(f.AgentConnected(f.instance));

  const std::string task = f.RunTasks("f", 1)[0];
  REQUIRE(Eventually([&] { return f.LastStatus(task) == "RUNNING"; }));

  const auto answer = f.Ask("DescribeTasks", "{\"tasks\":[\"" + task + "\"]}");
  const auto& described = answer["tasks"][0];
  CHECK(described["connectivity"].GetString() == std::string("CONNECTED"));
  const auto& container = described["containers"][0];
  CHECK(container["lastStatus"].GetString() == std::string("RUNNING"));
  CHECK(std::string(container["runtimeId"].GetString()).rfind("emulated-", 0) == 0);
  CHECK(container["networkBindings"][0]["containerPort"].GetInt() == 80);
  CHECK(container["networkBindings"][0]["hostPort"].GetInt() >= 32768);
}

TEST_CASE("an emulated task stops as a process does on SIGTERM", "[emulated]") {
  Emulating f;
  const std::string task = f.RunTasks("f", 1)[0];
  REQUIRE(Eventually([&] { return f.LastStatus(task) == "RUNNING"; }));

  f.Ask("StopTask", "{\"task\":\"" + task + "\",\"reason\":\"enough\"}");
  REQUIRE(Eventually([&] { return f.LastStatus(task) == "STOPPED"; }));

  const auto answer = f.Ask("DescribeTasks", "{\"tasks\":[\"" + task + "\"]}");
  CHECK(answer["tasks"][0]["stopCode"].GetString() == std::string("UserInitiated"));
  CHECK(answer["tasks"][0]["containers"][0]["exitCode"].GetInt() == 143);
}

TEST_CASE("without the flag an instance that has no agent takes no tasks", "[emulated]") {
  ServerFixture f;
  f.RegisterDefinition("f");
  f.RegisterInstance();

  const auto answer = f.Ask("RunTask", R"({"taskDefinition":"f"})");

  CHECK(answer["tasks"].Empty());
  CHECK(answer["failures"][0]["reason"].GetString() == std::string("AGENT"));
}

TEST_CASE("emulated tasks go on after a restart", "[emulated]") {
  Emulating f;
  const auto tasks = f.RunTasks("f", 3);
  REQUIRE(Eventually([&] { return f.RunningTasks() == 3; }));

  f.Restart();

  CHECK(f.RunningTasks() == 3);
  f.Ask("StopTask", "{\"task\":\"" + tasks[0] + "\"}");
  REQUIRE(Eventually([&] { return f.LastStatus(tasks[0]) == "STOPPED"; }));
  const auto answer = f.Ask("DescribeTasks", "{\"tasks\":[\"" + tasks[0] + "\"]}");
  CHECK(answer["tasks"][0]["containers"][0]["exitCode"].GetInt() == 143);
  const std::string more = f.RunTasks("f", 1)[0];
  CHECK(Eventually([&] { return f.LastStatus(more) == "RUNNING"; }));
}

TEST_CASE("restarted without emulation, an emulated instance takes no tasks", "[emulated]") {
  Emulating f;
  f.server.reset();
  ServerSettings settings;
  settings.listen_port = 0;
  auto plain = Server::Start(settings, f.store);
  REQUIRE(plain.ok());
  f.server = *std::move(plain);

  CHECK_FALSE(f.AgentConnected(f.instance));
  CHECK(f.Ask("RunTask", R"({"taskDefinition":"f"})")["tasks"].Empty());
}

TEST_CASE("an agent cannot speak for an instance that is emulated", "[emulated]") {
  Emulating f;
  AgentPeer agent;

  CHECK(agent.Connect(f.port(), "containerInstanceArn=" + f.instance) == 400);
  CHECK(agent.refusal().find("InvalidInstanceException") != std::string::npos);
  const std::string task = f.RunTasks("f", 1)[0];
  CHECK(Eventually([&] { return f.LastStatus(task) == "RUNNING"; }));
}

TEST_CASE("many tasks at once all reach RUNNING, a few reports at a time", "[emulated]") {
  ServerLimits limits;
  limits.pump.in_flight_max = 3;
  limits.pump.retry_delay = absl::Milliseconds(2);
  Emulating f(limits);

  for (int round = 0; round < 20; ++round) f.RunTasks("f", 10);
  CHECK(Eventually([&] { return f.RunningTasks() == 200; }));
}

TEST_CASE("a deregistered emulated instance is forgotten", "[emulated]") {
  Emulating f;
  const std::string task = f.RunTasks("f", 1)[0];
  REQUIRE(Eventually([&] { return f.LastStatus(task) == "RUNNING"; }));

  f.Ask("DeregisterContainerInstance",
        "{\"containerInstance\":\"" + f.instance + "\",\"force\":true}");

  RawClient client(f.port());
  CHECK(client.Ask(Call("RunTask", R"({"taskDefinition":"f"})"))
            .body.find("No Container Instances were found") != std::string::npos);
}

}  // namespace berth::api

// Tasks as real containers: every case runs on the Docker engine of this machine, and is skipped,
// in words, where there is none.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "agent/docker/docker_client.h"
#include "agent/json.h"
#include "tests/agent/agent_under_test.h"
#include "tests/support/busybox_image.h"

namespace berth::agent {
namespace {

using berth::testing::OutputOf;
using testing::AgentUnderTest;
using testing::FakeServer;
using testing::Payload;
using testing::TaskArn;

constexpr char kImage[] = "berth-agent-test:1";
constexpr char kFamily[] = "berth-agent-test";

// A server, an agent on Docker, and the means to look at both.
class Host {
 public:
  Host() : agent(server) {
    RemoveAll();
    agent.settings.runtime = RuntimeKind::kDocker;
    agent.settings.stop_timeout = absl::Seconds(1);
    // Away from the default, so that an agent in use on this machine is left alone.
    agent.settings.awsvpc_range = "10.214.0.0/24";
  }
  ~Host() {
    agent.Stop();
    RemoveAll();
  }

  void Start() {
    const size_t before = server.Handshakes().size();
    agent.Start();
    REQUIRE(server.Eventually([&] { return server.Handshakes().size() > before; }));
  }

  void Run(const std::string& id, const std::string& containers, const std::string& more = "") {
    server.Send("PayloadMessage",
                Payload("m-" + id, id, "RUNNING",
                        "\"family\":\"" + std::string(kFamily) +
                            "\",\"version\":\"1\",\"containers\":[" + containers + "]" + more));
  }
  void StopTask(const std::string& id) {
    server.Send("PayloadMessage", Payload("s-" + id, id, "STOPPED"));
  }

  std::vector<std::string> Reports(const std::string& id) const {
    std::vector<std::string> bodies;
    for (const testing::ApiRequest& call : server.Calls("SubmitTaskStateChange")) {
      if (call.body.find(TaskArn(id) + "\"") != std::string::npos) bodies.push_back(call.body);
    }
    return bodies;
  }
  bool Reaches(const std::string& id, const std::string& status) const {
    return server.Eventually(
        [&] {
          const auto reports = Reports(id);
          json::Document body;
          return !reports.empty() && json::Parse(reports.back(), body) &&
                 json::StringOr(body, "status") == status;
        },
        absl::Seconds(60));
  }

  // A member of that container as the reports said it last; empty: never.
  std::string Told(const std::string& id, const std::string& container, const char* member) const {
    std::string told;
    for (const std::string& report : Reports(id)) {
      json::Document body;
      json::Parse(report, body);
      for (const json::Value& entry : body["containers"].GetArray()) {
        const json::Value* value = json::Find(entry, member);
        if (json::StringOr(entry, "containerName") != container || value == nullptr) continue;
        told = value->IsString() ? value->GetString() : json::ToText(*value);
      }
    }
    return told;
  }
  std::string TaskReason(const std::string& id) const {
    const auto reports = Reports(id);
    json::Document body;
    if (reports.empty() || !json::Parse(reports.back(), body)) return {};
    return json::StringOr(body, "reason");
  }

  FakeServer server;
  AgentUnderTest agent;

 private:
  static void RemoveAll() {
    const std::string filter =
        " --filter label=com.amazonaws.ecs.task-definition-family=" + std::string(kFamily);
    OutputOf("docker ps -aq" + filter + " | xargs -r docker rm -f 2>/dev/null");
    OutputOf("docker network ls -q" + filter + " | xargs -r docker network rm 2>/dev/null");
    OutputOf("docker volume ls -q" + filter + " | xargs -r docker volume rm 2>/dev/null");
  }
};

// A container that runs `script` in busybox's shell.
std::string Sh(const std::string& name, const std::string& script, const std::string& more = "") {
  return "{\"name\":\"" + name + "\",\"image\":\"" + kImage +
         "\",\"command\":[\"/bin/busybox\",\"sh\",\"-c\",\"" + script + "\"]" + more + "}";
}

// False: skipped, as there is no Docker engine. Where one was promised (`./dev test`), or the image
// cannot be made, that is a failure.
bool Ready() {
  static const bool answers = berth::testing::DockerAnswers();
  if (!answers) {
    if (std::getenv("BERTH_NEED_DOCKER") != nullptr) FAIL("no Docker engine answers here");
    WARN("skipped: no Docker engine answers here");
    return false;
  }
  static const bool has_image = berth::testing::MakeBusyboxImage(kImage);
  INFO("the test image cannot be made; it takes busybox-static");
  REQUIRE(has_image);
  return true;
}

TEST_CASE("a container runs, with its environment and labels, until it ends with its exit code",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1", Sh("a", "test \\\"$K\\\" = V && sleep 1; exit 7",
                    ",\"environment\":{\"K\":\"V\"},\"memory\":32,\"cpu\":128"));

  REQUIRE(host.Reaches("t1", "RUNNING"));
  const std::string id = host.Told("t1", "a", "runtimeId");
  CHECK(OutputOf("docker inspect -f '{{.HostConfig.Memory}} {{.HostConfig.CpuShares}}' " + id) ==
        "33554432 128");
  CHECK_THAT(OutputOf("docker inspect -f '{{.Name}}' " + id),
             Catch::StartsWith("/ecs-berth-agent-test-1-a-"));
  CHECK(OutputOf("docker inspect -f '{{index .Config.Labels \"com.amazonaws.ecs.task-arn\"}}' " +
                 id) == TaskArn("t1"));
  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "7");
  CHECK(host.TaskReason("t1").empty());
}

TEST_CASE("a stop is SIGTERM first, and SIGKILL after the stop timeout", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  host.Run("t1", Sh("a", "trap 'exit 3' TERM; while true; do sleep 0.1; done"));
  host.Run("t2", Sh("a", "trap '' TERM; while true; do sleep 0.1; done", ",\"stopTimeout\":1"));
  REQUIRE(host.Reaches("t1", "RUNNING"));
  REQUIRE(host.Reaches("t2", "RUNNING"));

  host.StopTask("t2");
  host.StopTask("t1");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  REQUIRE(host.Reaches("t2", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "3");
  CHECK(host.Told("t2", "a", "exitCode") == "137");
}

TEST_CASE("a container that takes more memory than its limit is named as such", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1",
           Sh("a", "sleep 0.5; x=0123456789abcdef; while true; do x=$x$x; done", ",\"memory\":16"));

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "137");
  CHECK(host.Told("t1", "a", "reason") == "OutOfMemoryError: Container killed due to memory usage");
}

TEST_CASE("a container killed by someone else is not said to be out of memory", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  host.Run("t1", Sh("a", "sleep 60", ",\"memory\":16"));
  REQUIRE(host.Reaches("t1", "RUNNING"));

  OutputOf("docker kill " + host.Told("t1", "a", "runtimeId"));

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "137");
  CHECK(host.Told("t1", "a", "reason").empty());
}

// Docker may say that a container was killed before it says for what.
TEST_CASE("Docker's events tell of a container that ran out of memory", "[agent][docker]") {
  if (!Ready()) return;
  const auto saw_out_of_memory = [](const std::string& script) {
    const absl::Time began = absl::Now();
    const std::string id =
        OutputOf("docker run -d -m 16m --label com.amazonaws.ecs.task-definition-family=" +
                 std::string(kFamily) + " " + kImage + " /bin/busybox sh -c '" + script + "'");
    OutputOf("docker wait " + id);
    net::io_context io;
    DockerClient docker("/var/run/docker.sock");
    absl::StatusOr<bool> saw = false;
    net::co_spawn(
        io,
        [&]() -> net::awaitable<void> {
          saw = co_await docker.SawOutOfMemory(id, began, absl::Milliseconds(500));
        },
        net::detached);
    io.run();
    OutputOf("docker rm -f " + id);
    REQUIRE(saw.ok());
    return *saw;
  };

  CHECK(saw_out_of_memory("x=0123456789abcdef; while true; do x=$x$x; done"));
  CHECK_FALSE(saw_out_of_memory("kill -9 $$"));
}

TEST_CASE("an image that is nowhere stops the task with Docker's reason", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1", "{\"name\":\"a\",\"image\":\"127.0.0.1:1/berth/none:1\"}");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK_THAT(host.Told("t1", "a", "reason"),
             Catch::StartsWith("CannotPullContainerError: 127.0.0.1:1/berth/none:1: "));
  CHECK(host.Told("t1", "a", "exitCode").empty());
  CHECK(host.Reports("t1").size() == 1);
}

TEST_CASE("an image that was made here is used without waiting for its registry",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.agent.settings.pull_policy =
      GENERATE(PullPolicy::kDefault, PullPolicy::kOnce, PullPolicy::kPreferCached);
  host.Start();
  const absl::Time begun = absl::Now();

  host.Run("t1", Sh("a", "sleep 100"));

  REQUIRE(host.Reaches("t1", "RUNNING"));
  CHECK(absl::Now() - begun < absl::Seconds(20));
}

TEST_CASE("with the policy `always` a local image does not do", "[agent][docker]") {
  if (!Ready()) return;
  OutputOf("docker tag " + std::string(kImage) + " 127.0.0.1:1/berth/here:1");
  Host host;
  host.agent.settings.pull_policy = PullPolicy::kAlways;
  host.Start();

  host.Run("t1", "{\"name\":\"a\",\"image\":\"127.0.0.1:1/berth/here:1\"}");

  CHECK(host.Reaches("t1", "STOPPED"));
  CHECK_THAT(host.Told("t1", "a", "reason"), Catch::StartsWith("CannotPullContainerError: "));
  OutputOf("docker rmi 127.0.0.1:1/berth/here:1");
}

TEST_CASE("a command that does not exist stops the task with Docker's reason", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1",
           "{\"name\":\"a\",\"image\":\"" + std::string(kImage) + "\",\"command\":[\"/none\"]}");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK_THAT(host.Told("t1", "a", "reason"),
             Catch::StartsWith("CannotStartContainerError: ") && Catch::Contains("/none"));
}

TEST_CASE("an image without a command stops the task with Docker's reason", "[agent][docker]") {
  if (!Ready()) return;
  OutputOf("tar -c -T /dev/null | docker import - berth-agent-test:empty");
  Host host;
  host.Start();

  host.Run("t1", "{\"name\":\"a\",\"image\":\"berth-agent-test:empty\"}");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK_THAT(host.Told("t1", "a", "reason"), Catch::StartsWith("CannotCreateContainerError: "));
  OutputOf("docker rmi -f berth-agent-test:empty");
}

TEST_CASE("a dynamic host port is reported; one that is taken stops the task in words",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  host.Run("t1", Sh("a", "sleep 100", ",\"portMappings\":[{\"containerPort\":80,\"hostPort\":0}]"));
  REQUIRE(host.Reaches("t1", "RUNNING"));
  json::Document bindings;
  REQUIRE(json::Parse(host.Told("t1", "a", "networkBindings"), bindings));
  REQUIRE(bindings.Size() == 1);
  CHECK(json::StringOr(bindings[0], "bindIP") == "0.0.0.0");
  CHECK(json::FindInt(bindings[0], "containerPort") == 80);
  const int64_t port = *json::FindInt(bindings[0], "hostPort");
  REQUIRE(port > 0);

  host.Run(
      "t2",
      Sh("a", "sleep 100",
         ",\"portMappings\":[{\"containerPort\":80,\"hostPort\":" + std::to_string(port) + "}]"));

  REQUIRE(host.Reaches("t2", "STOPPED"));
  CHECK_THAT(host.Told("t2", "a", "reason"),
             Catch::StartsWith("CannotStartContainerError: a host port that it asks for is already "
                               "in use on this machine: ") &&
                 Catch::Contains(std::to_string(port)));
}

TEST_CASE("containers start in order of dependency, a health check included", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run(
      "t1",
      Sh("last", "sleep 100",
         ",\"dependsOn\":[{\"containerName\":\"init\",\"condition\":\"SUCCESS\"},"
         "{\"containerName\":\"db\",\"condition\":\"HEALTHY\"}]") +
          "," + Sh("init", "exit 0", ",\"essential\":false") + "," +
          Sh("db", "sleep 1; touch /tmp/up; sleep 100",
             ",\"healthCheckType\":\"docker\",\"dockerConfig\":{\"config\":\"{\\\"Healthcheck\\\":"
             "{\\\"Test\\\":[\\\"CMD\\\",\\\"/bin/busybox\\\",\\\"test\\\",\\\"-e\\\","
             "\\\"/tmp/up\\\"],\\\"Interval\\\":500000000,\\\"Retries\\\":20}}\"}"));

  REQUIRE(host.Reaches("t1", "RUNNING"));
  CHECK(host.Told("t1", "init", "exitCode") == "0");
  const auto started = [&](const char* name) {
    return OutputOf("docker inspect -f '{{.State.StartedAt}}' " +
                    host.Told("t1", name, "runtimeId"));
  };
  CHECK(started("init") < started("last"));
  CHECK(started("db") < started("last"));
}

TEST_CASE("the end of an essential container ends the others", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1", Sh("a", "sleep 1; exit 5") + "," +
                     Sh("b", "trap 'exit 9' TERM; while true; do sleep 0.1; done",
                        ",\"essential\":false"));

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "5");
  CHECK(host.Told("t1", "b", "exitCode") == "9");
}

TEST_CASE("containers of an awsvpc task share localhost, whichever of them ends first",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run(
      "t1",
      Sh("early", "exit 0", ",\"essential\":false") + "," +
          Sh("server", "while true; do echo hello | busybox nc -l -p 8080; done",
             ",\"essential\":false,\"portMappings\":[{\"containerPort\":8080,\"hostPort\":8080}]") +
          "," +
          Sh("client",
             "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; test \\\"$(busybox nc -w 1 127.0.0.1 "
             "8080)\\\" = hello && exit 42; done; exit 1",
             ",\"dependsOn\":[{\"containerName\":\"early\",\"condition\":\"COMPLETE\"}]"),
      ",\"networkMode\":\"awsvpc\"");

  REQUIRE(host.Reaches("t1", "RUNNING"));
  // Nothing is published on the host.
  CHECK(OutputOf("docker ps --filter label=com.amazonaws.ecs.task-arn=" + TaskArn("t1") +
                 " --format '{{.Ports}}' | tr -d '\\n'")
            .empty());
  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "client", "exitCode") == "42");
  // The network and its holder go with the task.
  const std::string of_task = " --filter label=com.amazonaws.ecs.task-arn=" + TaskArn("t1");
  CHECK(OutputOf("docker network ls -q" + of_task).empty());
  CHECK(OutputOf("docker ps -aq --filter label=berth.role=pause" + of_task).empty());
}

TEST_CASE("when the range of task networks is used up, the next task says so", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.agent.settings.awsvpc_range = "10.215.0.0/28";
  host.Start();
  host.Run("t1", Sh("a", "sleep 100"), ",\"networkMode\":\"awsvpc\"");
  REQUIRE(host.Reaches("t1", "RUNNING"));

  host.Run("t2", Sh("a", "sleep 100"), ",\"networkMode\":\"awsvpc\"");

  REQUIRE(host.Reaches("t2", "STOPPED"));
  CHECK_THAT(host.TaskReason("t2"),
             Catch::StartsWith("ContainerNetworkingError: no subnet is left") &&
                 Catch::Contains("10.215.0.0/28"));

  host.StopTask("t1");
  REQUIRE(host.Reaches("t1", "STOPPED"));
  host.Run("t3", Sh("a", "sleep 100"), ",\"networkMode\":\"awsvpc\"");
  CHECK(host.Reaches("t3", "RUNNING"));
}

TEST_CASE("a network that has the name of a task already does not keep it from running",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  // Such as one that Docker was still making when the agent was killed.
  OutputOf(
      "docker network create --subnet 10.215.0.0/28 --label "
      "com.amazonaws.ecs.task-definition-family=" +
      std::string(kFamily) + " berth-t1");

  host.Run("t1", Sh("a", "sleep 100"), ",\"networkMode\":\"awsvpc\"");

  CHECK(host.Reaches("t1", "RUNNING"));
}

TEST_CASE("a task's network that cannot be removed at first goes later", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  host.Run("t1", Sh("a", "sleep 100"), ",\"networkMode\":\"awsvpc\"");
  REQUIRE(host.Reaches("t1", "RUNNING"));
  const std::string network =
      OutputOf("docker network ls -q --filter label=com.amazonaws.ecs.task-arn=" + TaskArn("t1"));
  REQUIRE_FALSE(network.empty());
  const std::string guest = OutputOf(
      "docker run -d --label com.amazonaws.ecs.task-definition-family=" + std::string(kFamily) +
      " --network " + network + " " + kImage + " /bin/busybox sleep 100");

  host.StopTask("t1");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(OutputOf("docker network ls -q --filter id=" + network) == network);
  OutputOf("docker rm -f " + guest);
  CHECK(host.server.Eventually(
      [&] { return OutputOf("docker network ls -q --filter id=" + network).empty(); }));
}

TEST_CASE("tasks in network mode host and none run", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1", Sh("a", "sleep 100"), ",\"networkMode\":\"host\"");
  host.Run("t2", Sh("a", "sleep 100"), ",\"networkMode\":\"none\"");

  CHECK(host.Reaches("t1", "RUNNING"));
  CHECK(host.Reaches("t2", "RUNNING"));
}

TEST_CASE("a sharing container sees the reserved variables and no others", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run(
      "t1",
      Sh("a", "env; sleep 100",
         ",\"environment\":{\"CUDA_VISIBLE_DEVICES\":\"7\"},\"resourceRequirements\":[{\"type\":"
         "\"GPU\",\"sharingStrategy\":{\"nvidiaMps\":{\"memory\":4000}}}]"),
      ",\"associations\":[{\"type\":\"gpu\",\"name\":\"GPU-simulated-x-0\",\"containers\":[\"a\"]}"
      "]");

  REQUIRE(host.Reaches("t1", "RUNNING"));
  absl::SleepFor(absl::Seconds(1));
  const std::string env = OutputOf("docker logs " + host.Told("t1", "a", "runtimeId") +
                                   " | grep -E 'CUDA|NVIDIA' | sort");
  CHECK(env ==
        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=4000M\nCUDA_MPS_PIPE_DIRECTORY=/run/berth-mps\n"
        "NVIDIA_VISIBLE_DEVICES=GPU-simulated-x-0");
}

TEST_CASE("an agent that comes back finds its containers, and reports what ended meanwhile",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  host.Run("t1", Sh("a", "trap 'exit 4' TERM; while true; do sleep 0.1; done"),
           ",\"networkMode\":\"awsvpc\"");
  host.Run("t2", Sh("a", "sleep 2; exit 6"));
  host.Run("t3", Sh("a", "sleep 100"));
  for (const char* id : {"t1", "t2", "t3"}) REQUIRE(host.Reaches(id, "RUNNING"));
  const std::string running = host.Told("t1", "a", "runtimeId");
  host.agent.Stop();
  absl::SleepFor(absl::Seconds(3));
  // Somebody takes a container away, and loses a task's record.
  OutputOf("docker rm -f " + host.Told("t3", "a", "runtimeId"));

  host.Start();

  REQUIRE(host.Reaches("t2", "STOPPED"));
  CHECK(host.Told("t2", "a", "exitCode") == "6");
  REQUIRE(host.Reaches("t3", "STOPPED"));
  CHECK_THAT(host.Told("t3", "a", "reason"), Catch::Contains("was removed"));
  CHECK(OutputOf("docker inspect -f '{{.State.Running}}' " + running) == "true");
  host.StopTask("t1");
  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "4");
  CHECK(host.Told("t1", "a", "runtimeId") == running);
}

TEST_CASE("containers of a task whose record is lost are removed, and its end is reported",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();
  host.Run("t1", Sh("a", "sleep 100"), ",\"networkMode\":\"awsvpc\"");
  REQUIRE(host.Reaches("t1", "RUNNING"));
  host.agent.Stop();
  std::ofstream(host.agent.directory.path() + "/tasks/t1.json") << "{";

  host.Start();

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK_THAT(host.TaskReason("t1"), Catch::Contains("lost its record"));
  const std::string of_task = " --filter label=com.amazonaws.ecs.task-arn=" + TaskArn("t1");
  CHECK(host.server.Eventually([&] {
    return OutputOf("docker ps -aq" + of_task).empty() &&
           OutputOf("docker network ls -q" + of_task).empty();
  }));
}

TEST_CASE("ended containers stay for a while, and then go", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.agent.settings.cleanup_wait = absl::Seconds(2);
  host.Start();
  host.Run("t1", Sh("a", "exit 0"));
  REQUIRE(host.Reaches("t1", "STOPPED"));
  const std::string of_task =
      "docker ps -aq --filter label=com.amazonaws.ecs.task-arn=" + TaskArn("t1");
  CHECK_FALSE(OutputOf(of_task).empty());

  CHECK(host.server.Eventually([&] { return OutputOf(of_task).empty(); }));
}

TEST_CASE("without Docker the agent ends with the reason, restartably", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.runtime = RuntimeKind::kDocker;
  agent.settings.docker_socket = agent.directory.path() + "/none.sock";
  agent.settings.docker_patience = absl::ZeroDuration();

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 1);
  CHECK_THAT(exit.reason, Catch::Contains("/none.sock"));
  CHECK(server.Calls("").empty());
}

TEST_CASE("volumes hold what containers write; a task's own go with it, shared ones stay",
          "[agent][docker]") {
  if (!Ready()) return;
  OutputOf("docker volume rm -f berth-agent-test-common 2>/dev/null");
  Host host;
  host.agent.settings.cleanup_wait = absl::ZeroDuration();
  host.Start();
  const auto mount = [](const std::string& volume, const std::string& more = "") {
    return "{\"sourceVolume\":\"" + volume + "\",\"containerPath\":\"/" + volume + "\"" + more +
           "}";
  };

  host.Run("t1",
           Sh("writer",
              "echo own > /own/f; echo common > /berth-agent-test-common/f; trap 'exit 0' TERM; "
              "while true; do sleep 0.1; done",
              ",\"mountPoints\":[" + mount("own") + "," + mount("berth-agent-test-common") + "]") +
               "," +
               Sh("reader",
                  "while ! test -s /berth-agent-test-common/f; do sleep 0.1; done; cat /own/f; "
                  "touch /own/g || exit 9; exit 3",
                  ",\"essential\":false,\"volumesFrom\":[{\"sourceContainer\":\"writer\","
                  "\"readOnly\":true}]"),
           ",\"volumes\":[{\"name\":\"own\",\"host\":{}},{\"name\":\"berth-agent-test-common\","
           "\"type\":\"docker\","
           "\"dockerVolumeConfiguration\":{\"scope\":\"shared\",\"autoprovision\":true,"
           "\"labels\":{\"l\":\"v\"}}}]");
  REQUIRE(host.Reaches("t1", "RUNNING"));
  CHECK(OutputOf("docker volume ls -q | grep ecs-berth-agent-test-1-own-t1") ==
        "ecs-berth-agent-test-1-own-t1");
  CHECK(OutputOf("docker volume inspect -f '{{.Labels.l}}' berth-agent-test-common") == "v");
  const std::string reader = host.Told("t1", "reader", "runtimeId");
  REQUIRE(host.server.Eventually(
      [&] { return OutputOf("docker inspect -f '{{.State.Status}}' " + reader) == "exited"; }));
  CHECK(OutputOf("docker logs " + reader + " 2>/dev/null") == "own");
  CHECK(OutputOf("docker inspect -f '{{.State.ExitCode}}' " + reader) == "9");  // read-only

  host.StopTask("t1");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.server.Eventually(
      [] { return OutputOf("docker volume ls -q | grep ecs-berth-agent-test-1-own").empty(); },
      absl::Seconds(30)));
  CHECK(OutputOf("docker volume ls -q | grep -x berth-agent-test-common") ==
        "berth-agent-test-common");
  OutputOf("docker volume rm berth-agent-test-common");
}

TEST_CASE("a shared volume that is not there fails the task by its name", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1", Sh("a", "sleep 60"),
           ",\"volumes\":[{\"name\":\"berth-agent-test-none\",\"type\":\"docker\","
           "\"dockerVolumeConfiguration\":{\"scope\":\"shared\"}}]");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK_THAT(host.TaskReason("t1"),
             Catch::StartsWith("ResourceInitializationError: shared volume berth-agent-test-none"));
}

TEST_CASE("a link names another container of the task", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1", Sh("db", "while true; do sleep 0.1; done", ",\"essential\":false") + "," +
                     Sh("web", "grep -q store /etc/hosts && exit 5", ",\"links\":[\"db:store\"]"));

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "web", "exitCode") == "5");
}

TEST_CASE("containers of a task can share processes and IPC", "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  host.Run("t1",
           Sh("a", "echo x > /dev/shm/f; exec sleep 4242", ",\"essential\":false") + "," +
               Sh("b",
                  "while ! test -s /dev/shm/f; do sleep 0.1; done; "
                  "cat /proc/[0-9]*/cmdline | grep -q 4242 && exit 6",
                  ",\"dependsOn\":[{\"containerName\":\"a\",\"condition\":\"START\"}]"),
           ",\"pidMode\":\"task\",\"ipcMode\":\"task\"");

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "b", "exitCode") == "6");
  CHECK(OutputOf("docker ps -q --filter label=com.amazonaws.ecs.task-definition-family=" +
                 std::string(kFamily)) == "");
}

TEST_CASE("a container with a restart policy starts again in place, but not with an ignored code",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  host.Start();

  // The second run finds what the first one left.
  host.Run("t1", Sh("a", "test -f /ran && exit 8; touch /ran; sleep 1.2; exit 1",
                    ",\"restartPolicy\":{\"enabled\":true,\"restartAttemptPeriod\":1,"
                    "\"ignoredExitCodes\":[8]}"));

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "8");
}

TEST_CASE("a secret is its file's value, and one that is nowhere stops the task by its name",
          "[agent][docker]") {
  if (!Ready()) return;
  Host host;
  const std::string folder = host.agent.settings.data_dir + "/secrets";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/pin") << "4711\n";
  host.Start();
  const auto secret = [](const std::string& name, const std::string& more) {
    return ",\"secrets\":[{\"name\":\"" + name + "\",\"valueFrom\":\"/" + name + "\"" + more + "}]";
  };

  host.Run("t1", Sh("a", "test $pin = 4711 && exit 5", secret("pin", "")));
  host.Run("t2", Sh("a", "sleep 60", secret("gone", "")));

  REQUIRE(host.Reaches("t1", "STOPPED"));
  CHECK(host.Told("t1", "a", "exitCode") == "5");
  REQUIRE(host.Reaches("t2", "STOPPED"));
  CHECK_THAT(host.TaskReason("t2"),
             Catch::StartsWith("ResourceInitializationError: secret /gone: "));
}

}  // namespace
}  // namespace berth::agent

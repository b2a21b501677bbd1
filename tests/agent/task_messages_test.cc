// What the agent does with tasks it is sent, without containers: agent-protocol.md 2.5 to 2.9,
// checklist 22 to 33, 38 to 41.
#include <filesystem>
#include <fstream>
#include <set>

#include <catch2/catch.hpp>

#include "agent/json.h"
#include "tests/agent/agent_under_test.h"

namespace berth::agent {
namespace {

using testing::AgentUnderTest;
using testing::Containers;
using testing::FakeServer;
using testing::OneContainer;
using testing::Payload;
using testing::TaskArn;

struct Report {
  std::string status = {};
  std::string reason = {};
  std::string body = {};
};

std::vector<Report> ReportsOf(const FakeServer& server, const std::string& task_id) {
  std::vector<Report> reports;
  for (const testing::ApiRequest& call : server.Calls("SubmitTaskStateChange")) {
    json::Document body;
    json::Parse(call.body, body);
    if (json::StringOr(body, "task") != TaskArn(task_id)) continue;
    reports.push_back({json::StringOr(body, "status"), json::StringOr(body, "reason"), call.body});
  }
  return reports;
}

std::vector<std::string> StatusesOf(const FakeServer& server, const std::string& task_id) {
  std::vector<std::string> statuses;
  for (const Report& report : ReportsOf(server, task_id)) statuses.push_back(report.status);
  return statuses;
}

bool Reaches(const FakeServer& server, const std::string& task_id, const std::string& status) {
  return server.Eventually([&] {
    const auto statuses = StatusesOf(server, task_id);
    return !statuses.empty() && statuses.back() == status;
  });
}

size_t AcksOf(const FakeServer& server, const std::string& message_id) {
  size_t count = 0;
  for (const std::string& body : server.Messages("AckRequest")) {
    json::Document document;
    json::Parse(body, document);
    if (json::StringOr(document, "messageId") == message_id) ++count;
  }
  return count;
}

// True when a heartbeat sent now has been answered: all before it has been dealt with.
bool Settled(FakeServer& server) {
  const size_t before = server.Messages("HeartbeatAckRequest").size();
  server.Send("HeartbeatMessage", "{\"messageId\":\"settle\"}");
  return server.Eventually([&] { return server.Messages("HeartbeatAckRequest").size() > before; });
}

void Connect(FakeServer& server, AgentUnderTest& agent) {
  const size_t before = server.Handshakes().size();
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() > before; }));
}

TEST_CASE("a task is acknowledged, and reported RUNNING with its containers", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));

  REQUIRE(Reaches(server, "t1", "RUNNING"));
  CHECK(server.Eventually([&] { return AcksOf(server, "m1") == 1; }));
  CHECK_THAT(server.Messages("AckRequest")[0],
             Catch::Contains(testing::kClusterArn) && Catch::Contains(testing::kInstanceArn));
  json::Document body;
  json::Parse(ReportsOf(server, "t1")[0].body, body);
  const json::Value& container = body["containers"][0];
  CHECK(json::StringOr(container, "containerName") == "a");
  CHECK(json::StringOr(container, "status") == "RUNNING");
  CHECK_THAT(json::StringOr(container, "runtimeId"), Catch::StartsWith("simulated-"));
}

TEST_CASE("a task that ends by itself is STOPPED with its exit code and no reason", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("PayloadMessage",
              Payload("m1", "t1", "RUNNING",
                      OneContainer(",\"environment\":{\"BERTH_SIMULATED_RUN_SECONDS\":\"0.05\","
                                   "\"BERTH_SIMULATED_EXIT_CODE\":\"7\"}")));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK(StatusesOf(server, "t1") == std::vector<std::string>{"RUNNING", "STOPPED"});
  const Report last = ReportsOf(server, "t1").back();
  CHECK(last.reason.empty());
  CHECK_THAT(last.body, Catch::Contains("\"exitCode\":7") && Catch::Contains("executionStoppedAt"));
}

TEST_CASE("a data directory that was removed is made again, and tasks go on", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m0", "t0", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t0", "RUNNING"));
  REQUIRE(
      server.Eventually([&] { return agent.OnDisk("t0", "\"reported\":\"RUNNING\",\"reached"); }));
  std::filesystem::remove_all(agent.directory.path());

  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));

  REQUIRE(Reaches(server, "t1", "RUNNING"));
  CHECK(agent.OnDisk("t1", TaskArn("t1")));
  CHECK(server.Eventually([&] { return agent.OnDisk("t0", TaskArn("t0")); }));
  CHECK(std::filesystem::exists(agent.directory.path() + "/instance.json"));
}

TEST_CASE("a record that cannot be read does not keep the agent from starting", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  const std::string record = agent.directory.path() + "/tasks/t1.json";
  std::filesystem::create_directories(record);

  Connect(server, agent);

  CHECK(std::filesystem::exists(record + ".corrupt"));
}

TEST_CASE("a stop is acknowledged and carried out", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t1", "RUNNING"));

  server.Send("PayloadMessage", Payload("m2", "t1", "STOPPED"));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK(server.Eventually([&] { return AcksOf(server, "m2") == 1; }));
  CHECK_THAT(ReportsOf(server, "t1").back().body, Catch::Contains("\"exitCode\":143"));

  SECTION("RUNNING after STOPPED starts nothing, and tells the end again") {
    REQUIRE(server.Eventually(
        [&] { return agent.OnDisk("t1", "\"reported\":\"STOPPED\",\"reached"); }));
    const size_t before = ReportsOf(server, "t1").size();
    server.Send("PayloadMessage", Payload("m3", "t1", "RUNNING", OneContainer()));
    REQUIRE(server.Eventually([&] { return ReportsOf(server, "t1").size() > before; }));
    REQUIRE(Settled(server));
    CHECK(AcksOf(server, "m3") == 1);
    CHECK(ReportsOf(server, "t1").size() == before + 1);
    CHECK(ReportsOf(server, "t1").back().status == "STOPPED");
    CHECK_THAT(ReportsOf(server, "t1").back().body, Catch::Contains("\"exitCode\":143"));
  }
}

TEST_CASE("a stop of a task that is not known is acknowledged, and reported", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("PayloadMessage", Payload("m1", "t9", "STOPPED"));

  REQUIRE(Reaches(server, "t9", "STOPPED"));
  CHECK(server.Eventually([&] { return AcksOf(server, "m1") == 1; }));
  CHECK_THAT(ReportsOf(server, "t9")[0].reason, Catch::StartsWith("TaskStateError: "));
}

TEST_CASE("a payload sent twice starts its task once", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t1", "RUNNING"));

  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));

  REQUIRE(server.Eventually([&] { return AcksOf(server, "m1") == 2; }));
  CHECK(StatusesOf(server, "t1").size() == 1);
}

TEST_CASE("a payload that does not say where it is for has no effect", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  for (const char* missing : {"messageId", "clusterArn", "containerInstanceArn"}) {
    std::string body = Payload("m1", "t1", "RUNNING", OneContainer());
    const size_t at = body.find("\"" + std::string(missing) + "\"");
    body.insert(at + 1, "x");
    server.Send("PayloadMessage", body);
  }

  REQUIRE(Settled(server));
  CHECK(server.Messages("AckRequest").empty());
  CHECK(ReportsOf(server, "t1").empty());
}

TEST_CASE("a task that cannot be decoded is reported and not acknowledged", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("PayloadMessage", Payload("m1", "t1", "WAITING", OneContainer()));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  REQUIRE(Settled(server));
  CHECK(AcksOf(server, "m1") == 0);
  CHECK_THAT(ReportsOf(server, "t1")[0].reason,
             Catch::StartsWith("UnrecogniedTaskError: Error loading task - "));
}

TEST_CASE("a task that asks for what cannot be had is acknowledged, and STOPPED with the reason",
          "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("PayloadMessage",
              Payload("m1", "t1", "RUNNING", OneContainer() + ",\"berthUnsupported\":[\"x.y\"]"));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK(server.Eventually([&] { return AcksOf(server, "m1") == 1; }));
  CHECK(ReportsOf(server, "t1")[0].reason ==
        "ResourceInitializationError: x.y is not supported by this version of Berth");
}

TEST_CASE("two tasks in one payload are acknowledged once", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  std::string body = Payload("m1", "t1", "RUNNING", OneContainer());
  const std::string second =
      ",{\"arn\":\"" + TaskArn("t2") + "\",\"desiredStatus\":\"RUNNING\"," + OneContainer() + "}]}";
  body.replace(body.size() - 2, 2, second);

  server.Send("PayloadMessage", body);

  CHECK(Reaches(server, "t1", "RUNNING"));
  CHECK(Reaches(server, "t2", "RUNNING"));
  CHECK(server.Eventually([&] { return AcksOf(server, "m1") == 1; }));
}

TEST_CASE("a container that waits for another's success is told after it", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.report_batch_window = absl::Seconds(5);
  Connect(server, agent);

  server.Send(
      "PayloadMessage",
      Payload("m1", "t1", "RUNNING",
              Containers("{\"name\":\"b\",\"image\":\"i\",\"dependsOn\":[{\"containerName\":\"a\","
                         "\"condition\":\"SUCCESS\"}]},{\"name\":\"a\",\"image\":\"i\","
                         "\"essential\":false,\"environment\":{"
                         "\"BERTH_SIMULATED_RUN_SECONDS\":\"0.05\"}}")));

  REQUIRE(Reaches(server, "t1", "RUNNING"));
  json::Document body;
  json::Parse(ReportsOf(server, "t1")[0].body, body);
  std::vector<std::string> told;
  for (const json::Value& container : body["containers"].GetArray()) {
    told.push_back(json::StringOr(container, "containerName") + " " +
                   json::StringOr(container, "status"));
  }
  CHECK(told == std::vector<std::string>{"a RUNNING", "a STOPPED", "b RUNNING"});
}

TEST_CASE("a container whose dependency fails ends the task with both named", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send(
      "PayloadMessage",
      Payload("m1", "t1", "RUNNING",
              Containers("{\"name\":\"b\",\"image\":\"i\",\"dependsOn\":[{\"containerName\":\"a\","
                         "\"condition\":\"SUCCESS\"}]},{\"name\":\"a\",\"image\":\"i\","
                         "\"essential\":false,\"environment\":{"
                         "\"BERTH_SIMULATED_RUN_SECONDS\":\"0.01\","
                         "\"BERTH_SIMULATED_EXIT_CODE\":\"3\"}}")));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK_THAT(ReportsOf(server, "t1").back().body,
             Catch::Contains("TaskDependencyError: container b waits for container a to reach "
                             "SUCCESS, but it ended with exit code 3"));
  for (const std::string& status : StatusesOf(server, "t1")) CHECK(status != "RUNNING");
}

std::string Manifest(const std::string& id, int timeline, const std::vector<std::string>& tasks) {
  std::string list;
  for (const std::string& task : tasks) {
    list += std::string(list.empty() ? "" : ",") + "{\"taskArn\":\"" + TaskArn(task) +
            "\",\"taskClusterArn\":\"" + testing::kClusterArn + "\",\"desiredStatus\":\"RUNNING\"}";
  }
  return "{\"messageId\":\"" + id + "\",\"clusterArn\":\"" + testing::kClusterArn +
         "\",\"containerInstanceArn\":\"" + testing::kInstanceArn +
         "\",\"timeline\":" + std::to_string(timeline) + ",\"tasks\":[" + list + "]}";
}

std::string Confirm(const std::string& id, const std::string& task) {
  return "{\"messageId\":\"" + id + "\",\"stopTasks\":[{\"taskArn\":\"" + TaskArn(task) +
         "\",\"desiredStatus\":\"STOPPED\"}]}";
}

TEST_CASE("a task on no list is offered to be stopped, and stops when that is confirmed",
          "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer(), 1));
  server.Send("PayloadMessage", Payload("m2", "t2", "RUNNING", OneContainer(), 2));
  REQUIRE(Reaches(server, "t1", "RUNNING"));
  REQUIRE(Reaches(server, "t2", "RUNNING"));

  server.Send("TaskManifestMessage", Manifest("stale", 2, {}));
  server.Send("TaskManifestMessage", Manifest("f1", 3, {"t1"}));

  REQUIRE(server.Eventually(
      [&] { return server.Messages("TaskStopVerificationMessage").size() == 1; }));
  const std::string offer = server.Messages("TaskStopVerificationMessage")[0];
  CHECK_THAT(offer, Catch::Contains(TaskArn("t2")) && !Catch::Contains(TaskArn("t1")));
  CHECK(AcksOf(server, "stale") == 0);
  CHECK(AcksOf(server, "f1") == 1);

  server.Send("TaskStopVerificationAck", Confirm("wrong", "t2"));
  server.Send("TaskStopVerificationAck", Confirm("f1", "t1"));  // It was not offered.
  REQUIRE(Settled(server));
  CHECK(StatusesOf(server, "t2").back() == "RUNNING");
  // The one before has used the confirmation up; a new manifest allows another.
  server.Send("TaskManifestMessage", Manifest("f2", 4, {"t1"}));
  server.Send("TaskStopVerificationAck", Confirm("f2", "t2"));
  REQUIRE(Reaches(server, "t2", "STOPPED"));
  CHECK(StatusesOf(server, "t1").back() == "RUNNING");
}

TEST_CASE("a listed task that the agent does not have is reported, unless it arrives", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);

  server.Send("TaskManifestMessage", Manifest("f1", 3, {"gone", "late"}));
  server.Send("PayloadMessage", Payload("m1", "late", "RUNNING", OneContainer(), 4));

  REQUIRE(Reaches(server, "gone", "STOPPED"));
  CHECK_THAT(ReportsOf(server, "gone")[0].reason, Catch::Contains("does not know this task"));
  CHECK(StatusesOf(server, "late") == std::vector<std::string>{"RUNNING"});
}

TEST_CASE("reports are sent again, the same and in order, until they are acknowledged", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  for (int i = 0; i < 3; ++i) {
    server.AnswerNext("SubmitTaskStateChange", 500, "{\"__type\":\"ServerException\"}");
  }
  server.AnswerNext("SubmitTaskStateChange", 400, "{\"__type\":\"StrangeException\"}");

  server.Send("PayloadMessage",
              Payload("m1", "t1", "RUNNING",
                      OneContainer(",\"environment\":{\"BERTH_SIMULATED_RUN_SECONDS\":\"0.01\"}")));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  const std::vector<Report> reports = ReportsOf(server, "t1");
  REQUIRE(reports.size() == 6);
  for (int i = 0; i < 5; ++i) CHECK(reports[static_cast<size_t>(i)].body == reports[0].body);
  CHECK(reports[4].status == "RUNNING");
}

TEST_CASE("a report that the server calls invalid is dropped, and the next goes on", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.AnswerNext("SubmitTaskStateChange", 400, "{\"__type\":\"InvalidParameterException\"}");

  server.Send("PayloadMessage",
              Payload("m1", "t1", "RUNNING",
                      OneContainer(",\"environment\":{\"BERTH_SIMULATED_RUN_SECONDS\":\"0.01\"}")));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK(StatusesOf(server, "t1") == std::vector<std::string>{"RUNNING", "STOPPED"});
}

TEST_CASE("one task's trouble does not hold up another's reports", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.report_retry = {.first = absl::Hours(1), .factor = 1, .cap = absl::Hours(1)};
  Connect(server, agent);
  server.AnswerNext("SubmitTaskStateChange", 500, "{}");
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t1", "RUNNING"));  // Sent, and refused for an hour.

  server.Send("PayloadMessage", Payload("m2", "t2", "RUNNING", OneContainer()));

  CHECK(Reaches(server, "t2", "RUNNING"));
}

TEST_CASE("after a restart a running task goes on, and only its end is reported", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t1", "RUNNING"));
  REQUIRE(
      server.Eventually([&] { return agent.OnDisk("t1", "\"reported\":\"RUNNING\",\"reached"); }));
  agent.Stop();

  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m2", "t1", "STOPPED"));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK(StatusesOf(server, "t1") == std::vector<std::string>{"RUNNING", "STOPPED"});
}

TEST_CASE("a report that was not acknowledged before a restart is made after it", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.timing.report_retry = {.first = absl::Hours(1), .factor = 1, .cap = absl::Hours(1)};
  Connect(server, agent);
  server.AnswerNext("SubmitTaskStateChange", 500, "{}");
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t1", "RUNNING"));
  agent.Stop();

  Connect(server, agent);

  CHECK(server.Eventually([&] { return StatusesOf(server, "t1").size() == 2; }));
}

TEST_CASE("the end of a task is remembered over a restart, and its payload runs nothing",
          "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.cleanup_wait = absl::ZeroDuration();  // Cleaned up as well.
  Connect(server, agent);
  server.Send("PayloadMessage",
              Payload("m1", "t1", "RUNNING",
                      OneContainer(",\"environment\":{\"BERTH_SIMULATED_RUN_SECONDS\":\"0.01\","
                                   "\"BERTH_SIMULATED_EXIT_CODE\":\"4\"}")));
  REQUIRE(Reaches(server, "t1", "STOPPED"));
  REQUIRE(server.Eventually([&] { return agent.OnDisk("t1", "\"cleanedUp\":true"); }));
  agent.Stop();
  Connect(server, agent);
  const size_t before = ReportsOf(server, "t1").size();

  server.Send("PayloadMessage", Payload("m2", "t1", "RUNNING", OneContainer()));

  REQUIRE(server.Eventually([&] { return ReportsOf(server, "t1").size() > before; }));
  CHECK(ReportsOf(server, "t1").back().status == "STOPPED");
  CHECK_THAT(ReportsOf(server, "t1").back().body, Catch::Contains("\"exitCode\":4"));
  CHECK(server.Eventually([&] { return AcksOf(server, "m2") == 1; }));
}

TEST_CASE("a task file that is damaged is set aside, and the others go on", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));
  REQUIRE(Reaches(server, "t1", "RUNNING"));
  agent.Stop();
  std::ofstream(agent.directory.path() + "/tasks/t0.json") << "\0\0\0";
  std::ofstream(agent.directory.path() + "/tasks/t2.json") << "{\"format\":99}";
  std::ofstream(agent.directory.path() + "/tasks/t3.json.new") << "half";

  Connect(server, agent);
  server.Send("PayloadMessage", Payload("m2", "t1", "STOPPED"));

  CHECK(Reaches(server, "t1", "STOPPED"));
  CHECK(std::filesystem::exists(agent.directory.path() + "/tasks/t0.json.corrupt"));
  CHECK(std::filesystem::exists(agent.directory.path() + "/tasks/t2.json.corrupt"));
  CHECK_FALSE(std::filesystem::exists(agent.directory.path() + "/tasks/t3.json.new"));
}

TEST_CASE("a task that cannot be saved is not run", "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  Connect(server, agent);
  std::filesystem::remove_all(agent.directory.path() + "/tasks");
  std::ofstream(agent.directory.path() + "/tasks") << "a file in the folder's place";

  server.Send("PayloadMessage", Payload("m1", "t1", "RUNNING", OneContainer()));

  REQUIRE(Reaches(server, "t1", "STOPPED"));
  CHECK_THAT(ReportsOf(server, "t1")[0].reason, Catch::Contains("cannot save the task"));
  REQUIRE(Settled(server));
  CHECK(AcksOf(server, "m1") == 0);
}

TEST_CASE("a fleet in one process registers each instance on its own, and again as itself",
          "[agent]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.instances = 40;
  agent.settings.gpus = {.kind = GpuOption::Kind::kSimulated, .count = 1, .memory_mib = 1000};
  agent.Start();
  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 40; }));
  std::set<std::string> documents;
  std::set<std::string> gpus;
  for (const auto& call : server.Calls("RegisterContainerInstance")) {
    json::Document body;
    json::Parse(call.body, body);
    documents.insert(json::StringOr(body, "instanceIdentityDocument"));
    gpus.insert(json::StringOr(body["platformDevices"][0], "id"));
  }
  CHECK(documents.size() == 40);
  CHECK(gpus.size() == 40);
  agent.Stop();

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 80; }));
}

}  // namespace
}  // namespace berth::agent

// Defrag plans over HTTP, and fragmentation in /metrics.
#include <string>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "tests/api/server_fixture.h"

namespace berth::api {
namespace {

// Two emulated machines of one GPU (22587 MiB) each, with a task that shares on either.
struct Halves : ServerFixture {
  Halves() : ServerFixture({}, true) {
    Define("left", 10000);
    Define("pad", 12000);
    Define("right", 11000);
    RegisterDefinition("whole", R"(,"resourceRequirements":[{"type":"GPU","value":"1"}])");
    Machine();
    left_task = RunTasks("left", 1)[0];
    const std::string pad = RunTasks("pad", 1)[0];
    Machine();
    right_task = RunTasks("right", 1)[0];
    Ask("StopTask", R"({"task":")" + pad + "\"}");
    REQUIRE(Eventually([&] {
      return std::string(
                 Ask("DescribeTasks", R"({"tasks":[")" + pad + R"("]})")["tasks"][0]["lastStatus"]
                     .GetString()) == "STOPPED";
    }));
  }
  void Machine() {
    const std::string instance = RegisterInstance(1);
    REQUIRE(Eventually([&] { return AgentConnected(instance); }));
  }
  void Define(const std::string& family, int mib) {
    RegisterDefinition(family, R"(,"resourceRequirements":[{"type":"GPU","sharingStrategy":)"
                               R"({"nvidiaMps":{"memory":)" +
                                   std::to_string(mib) + "}}}]");
  }
  RawResponse Send(const std::string& body) {
    RawClient client(port());
    return client.Ask(Post(body, "", "/berth/v1/defrag"));
  }
  rapidjson::Document Plan(const std::string& body) {
    const RawResponse response = Send(body);
    INFO(response.body);
    REQUIRE(response.status == 200);
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    REQUIRE_FALSE(document.HasParseError());
    return document;
  }
  std::string Refusal(const std::string& body) {
    const RawResponse response = Send(body);
    INFO(response.body);
    REQUIRE(response.status == 400);
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    return document["message"].GetString();
  }

  std::string left_task;
  std::string right_task;
};

TEST_CASE("a defrag plan names the task to move, and where the new one then goes",
          "[api][defrag]") {
  Halves f;

  const auto plan = f.Plan(R"({"taskDefinition":"whole","count":1,"moves":2})");

  CHECK(std::string(plan["outcome"].GetString()) == "MOVES");
  CHECK_FALSE(plan["limited"].GetBool());
  REQUIRE(plan["moves"].Size() == 1);
  const auto& move = plan["moves"][0];
  // Either would do; the lowest id of the instances, which is random, decides.
  const std::string task = move["taskArn"].GetString();
  CHECK((task == f.left_task || task == f.right_task));
  CHECK(move["from"]["containerInstanceArn"] != move["to"]["containerInstanceArn"]);
  REQUIRE(plan["placements"].Size() == 1);
  CHECK(plan["placements"][0]["containerInstanceArn"] == move["from"]["containerInstanceArn"]);
  CHECK(plan["fragmentation"]["before"]["idleMiB"].GetInt64() == 2 * 22587 - 21000);
  CHECK(f.Ask("ListTasks", "{}")["taskArns"].Size() == 2);
}

TEST_CASE("without a task a plan is about fragmentation", "[api][defrag]") {
  Halves f;

  const auto plan = f.Plan("{}");

  CHECK_FALSE(plan.HasMember("taskDefinitionArn"));
  CHECK(plan["fragmentation"]["typicalTasks"].GetInt64() == 3);
  CHECK(plan["fragmentation"]["before"]["fragmentedMiB"].GetDouble() >=
        plan["fragmentation"]["after"]["fragmentedMiB"].GetDouble());
  CHECK(plan["fragmentation"]["worst"][0]["gpus"].Size() == 1);
}

TEST_CASE("no plan within the limits is an answer", "[api][defrag]") {
  Halves f;

  const auto plan = f.Plan(R"({"taskDefinition":"whole","moves":0})");

  CHECK(std::string(plan["outcome"].GetString()) == "NO_PLAN");
  CHECK(plan["moves"].Empty());
}

TEST_CASE("what cannot be planned is refused in words", "[api][defrag]") {
  Halves f;
  CHECK(f.Refusal(R"({"moves":21})") == "moves is 21; it must be from 0 to 20");
  CHECK(f.Refusal(R"({"moves":"two"})") == "moves is not a whole number");
  CHECK(f.Refusal(R"({"move":2})") ==
        "move is not a member here; there are cluster, moves, and those of RunTask about a task");
  CHECK(f.Refusal(R"({"taskDefinition":"none"})") == "TaskDefinition not found.");
  CHECK(f.Refusal(R"({"cluster":"none"})") == "Cluster not found.");
  CHECK(f.Refusal(R"({"count":2})") ==
        "count is about a task, and taskDefinition does not say which");
  CHECK(f.Refusal(R"({"taskDefinition":"whole","count":101})") ==
        "count is 101; it must be from 1 to 100");
  CHECK(f.Refusal("[]") == "Start of list found where not expected.");
}

TEST_CASE("metrics say how much GPU memory is idle and fragmented", "[api][defrag]") {
  Halves f;
  RawClient client(f.port());

  const std::string text = client.Ask(Get("/metrics")).body;

  INFO(text);
  CHECK(text.find("berth_gpu_memory_idle_mib{cluster=\"default\"} 24174\n") != std::string::npos);
  // The task of 12000 MiB, a third of the mix, does not fit where 11587 are left.
  CHECK(text.find("berth_gpu_memory_fragmented_mib{cluster=\"default\"} 3862.333\n") !=
        std::string::npos);
  CHECK(text.find("berth_gpu_memory_fragmentation_ratio{cluster=\"default\"} 0.15977") !=
        std::string::npos);
}

}  // namespace
}  // namespace berth::api

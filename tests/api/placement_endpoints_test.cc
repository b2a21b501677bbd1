// Plan and explain over HTTP: what is asked and answered, and what is refused.
#include <string>

#include <catch2/catch.hpp>
#include <rapidjson/pointer.h>

#include "tests/api/server_fixture.h"

namespace berth::api {
namespace {

// An emulated machine with one GPU, and a definition of which one task fits on it.
struct Asking : ServerFixture {
  Asking() : ServerFixture({}, true) {
    instance = RegisterInstance(1);
    RegisterDefinition("big", R"(,"resourceRequirements":[{"type":"GPU","sharingStrategy":)"
                              R"({"nvidiaMps":{"memory":20000}}}])");
    REQUIRE(Eventually([this] { return AgentConnected(instance); }));
  }

  RawResponse Send(const std::string& path, const std::string& body) {
    RawClient client(port());
    return client.Ask(Post(body, "", path));
  }
  rapidjson::Document Get(const std::string& path, const std::string& body) {
    const RawResponse response = Send(path, body);
    INFO(path << " " << body << " -> " << response.status << " " << response.body);
    REQUIRE(response.status == 200);
    CHECK(response.headers.at("content-type") == "application/json");
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    REQUIRE_FALSE(document.HasParseError());
    return document;
  }
  rapidjson::Document Plan(const std::string& body) { return Get("/berth/v1/plan", body); }
  rapidjson::Document Explain(const std::string& body) { return Get("/berth/v1/explain", body); }
  // "InvalidParameterException: the message"
  std::string Refusal(const std::string& path, const std::string& body) {
    const RawResponse response = Send(path, body);
    INFO(response.body);
    REQUIRE(response.status == 400);
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    const std::string type = document["__type"].GetString();
    CHECK(response.headers.at("x-amzn-errortype") == type);
    return type + ": " + document["message"].GetString();
  }

  std::string instance;
};

// The text at a JSON pointer; numbers and words too; "-" when there is nothing.
std::string In(const rapidjson::Document& document, const char* pointer) {
  const rapidjson::Value* value = rapidjson::Pointer(pointer).Get(document);
  if (value == nullptr) return "-";
  if (value->IsString()) return value->GetString();
  if (value->IsBool()) return value->GetBool() ? "true" : "false";
  return value->IsInt64() ? std::to_string(value->GetInt64()) : "(something)";
}

constexpr char kPlan[] = "/berth/v1/plan";
constexpr char kExplain[] = "/berth/v1/explain";

TEST_CASE("a plan is answered with the place, the reason, and what ends it", "[api][explain]") {
  Asking f;

  const auto plan = f.Plan(R"({"taskDefinition":"big"})");

  CHECK(In(plan, "/clusterArn") == "arn:aws:ecs:us-east-1:000000000000:cluster/default");
  CHECK(In(plan, "/taskDefinitionArn") ==
        "arn:aws:ecs:us-east-1:000000000000:task-definition/big:1");
  CHECK(In(plan, "/group") == "family:big");
  CHECK(In(plan, "/count") == "1");
  CHECK(In(plan, "/fits") == "true");
  CHECK(In(plan, "/placements/0/containerInstanceArn") == f.instance);
  CHECK(In(plan, "/placements/0/gpuIds/0") == "GPU-0");
  CHECK(In(plan, "/placements/0/criterion") == "ONLY_ONE");
  CHECK(In(plan, "/placements/0/detail") == "no other instance has room");
  CHECK(In(plan, "/more") == "0");
  CHECK(In(plan, "/moreIsLimit") == "false");
  CHECK(In(plan, "/explanation/verdict") == "NOT_NOW");
  CHECK(In(plan, "/explanation/asked/gpuMemory") == "20000");
  CHECK(In(plan, "/explanation/funnel/0/dimension") == "GPU_MEMORY");
  CHECK(In(plan, "/explanation/funnel/0/instances") == "1");
  CHECK(In(plan, "/explanation/closest/0/had") == "2587");
  CHECK(In(plan, "/explanation/closest/0/reason") == "RESOURCE:GPU");
  CHECK(In(plan, "/explanation/closest/0/containerInstanceArns/0") == f.instance);
  CHECK(In(plan, "/explanation/remedies/0/kind") == "SHRINK");
  CHECK(In(plan, "/explanation/remedies/0/shrink/0/to") == "2587");
  CHECK(In(plan, "/failure") == "-");
  CHECK(f.Ask("ListTasks", "{}")["taskArns"].Empty());
}

TEST_CASE("the detail of a failed RunTask is what explain says of its group later",
          "[api][explain]") {
  Asking f;
  f.RunTasks("big", 1);
  const auto failed = f.Ask("RunTask", R"({"taskDefinition":"big"})");
  const std::string detail = In(failed, "/failures/0/detail");
  CHECK(detail.find("needs 20000 MiB on one GPU; the largest gap is 2587 MiB on instance ") == 0);

  const auto explained = f.Explain(R"({"group":"family:big"})");

  CHECK(In(explained, "/group") == "family:big");
  CHECK(In(explained, "/failure/times") == "1");
  CHECK(In(explained, "/failure/firstAt") == In(explained, "/failure/lastAt"));
  CHECK(In(explained, "/failure/explanation/detail") == detail);
  CHECK(In(explained, "/failure/taskDefinitionArn") ==
        "arn:aws:ecs:us-east-1:000000000000:task-definition/big:1");
}

TEST_CASE("a remedy names the task to stop by its ARN", "[api][explain]") {
  Asking f;
  const std::string task = f.RunTasks("big", 1)[0];

  const auto plan = f.Plan(R"({"taskDefinition":"big"})");

  CHECK(In(plan, "/fits") == "false");
  std::string named;
  for (const auto& remedy : plan["explanation"]["remedies"].GetArray()) {
    if (remedy["kind"] == "STOP_TASKS") named = remedy["tasks"][0]["taskArn"].GetString();
  }
  CHECK(named == task);
}

TEST_CASE("a task is explained by id or ARN", "[api][explain]") {
  Asking f;
  const std::string arn = f.RunTasks("big", 1)[0];

  const auto by_arn = f.Explain(R"({"task":")" + arn + "\"}");
  const auto by_id = f.Explain(R"({"task":")" + arn.substr(arn.rfind('/') + 1) + "\"}");

  for (const auto* explained : {&by_arn, &by_id}) {
    CHECK(In(*explained, "/taskArn") == arn);
    CHECK(In(*explained, "/containerInstanceArn") == f.instance);
    CHECK(In(*explained, "/gpuIds/0") == "GPU-0");
    CHECK(In(*explained, "/today/containerInstanceArn") == f.instance);
    CHECK(In(*explained, "/today/criterion") == "ONLY_ONE");
  }
}

TEST_CASE("a service and a definition can be asked about", "[api][explain]") {
  Asking f;

  const auto service = f.Explain(R"({"service":"web"})");
  const auto definition = f.Explain(R"({"taskDefinition":"big:1"})");

  CHECK(In(service, "/group") == "service:web");
  CHECK(In(service, "/failure") == "-");
  CHECK(In(definition, "/fits") == "true");
  CHECK(In(definition, "/placements/0/gpuIds/0") == "GPU-0");
}

TEST_CASE("a plan obeys the constraints and strategies that it is given", "[api][explain]") {
  Asking f;

  const auto plan =
      f.Plan(R"({"taskDefinition":"big","placementConstraints":[{"type":"memberOf",)"
             R"("expression":"attribute:zone == z9"}],"placementStrategy":[{"type":"random"}]})");

  CHECK(In(plan, "/fits") == "false");
  CHECK(In(plan, "/explanation/verdict") == "FORBIDDEN");
  CHECK(In(plan, "/explanation/closest/0/expression") == "attribute:zone == z9");
  CHECK(In(plan, "/explanation/remedies/0/kind") == "RELAX_CONSTRAINT");
  CHECK(In(plan, "/explanation/remedies/0/placementConstraint/type") == "memberOf");
}

TEST_CASE("what is wrong with a question is said", "[api][explain]") {
  Asking f;

  CHECK(f.Refusal(kPlan, "[]").find("SerializationException") == 0);
  CHECK(f.Refusal(kPlan, R"({"taskDefinition":"big","count":0})") ==
        "InvalidParameterException: count is 0; it must be from 1 to 1000");
  CHECK(f.Refusal(kPlan, R"({"taskDefinition":"none"})").find("ClientException") == 0);
  CHECK(f.Refusal(kPlan, R"({"taskDefinition":"big","cluster":"none"})")
            .find("ClusterNotFoundException") == 0);
  CHECK(f.Refusal(kPlan, R"({"taskDefinition":"big","placementConstraints":[{"type":"x"}]})")
            .find("InvalidParameterException: placementConstraints[0].type is 'x'") == 0);
  CHECK(f.Refusal(kExplain, "{}") ==
        "InvalidParameterException: nothing is asked about; give one of task, service, group and "
        "taskDefinition");
  CHECK(f.Refusal(kExplain, R"({"task":"a","group":"b"})") ==
        "InvalidParameterException: both task and group are given; ask about one of them");
  CHECK(f.Refusal(kExplain, R"({"pod":"a"})").find("InvalidParameterException: pod is not a") == 0);
  CHECK(f.Refusal(kExplain, R"({"group":7})").find("SerializationException") == 0);
  CHECK(f.Refusal(kExplain, R"({"task":"00000000000000000000000000000000"})") ==
        "InvalidParameterException: The referenced task was not found.");
}

TEST_CASE("the paths take POST alone", "[api][explain]") {
  Asking f;

  for (const char* path : {kPlan, kExplain}) {
    RawClient client(f.port());
    const RawResponse response = client.Ask(berth::api::Get(path));
    CHECK(response.status == 405);
    CHECK(response.headers.at("allow") == "POST");
  }
}

}  // namespace
}  // namespace berth::api

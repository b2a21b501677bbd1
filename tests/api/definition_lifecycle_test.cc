// DeregisterTaskDefinition, DeleteTaskDefinitions, and what Describe and List show afterwards.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

void Register(ApiFixture& api, const std::string& family, const std::string& more = "") {
  api.Get("RegisterTaskDefinition",
          R"({"family":")" + family +
              R"(","containerDefinitions":[{"name":"c","image":"i","memory":64}])" + more + "}");
}

std::string Arn(const std::string& name) {
  return "arn:aws:ecs:us-east-1:000000000000:task-definition/" + name;
}

std::string Named(const std::string& name) { return R"({"taskDefinition":")" + name + R"("})"; }

TEST_CASE("a deregistered revision is INACTIVE, and says when that was", "[api]") {
  ApiFixture api;
  Register(api, "web", R"(,"tags":[{"key":"k","value":"v"}])");
  Register(api, "web");

  const auto deregistered = api.Get("DeregisterTaskDefinition", Named("web:1"));

  CHECK(At(deregistered, "/taskDefinition/taskDefinitionArn") == Arn("web:1"));
  CHECK(At(deregistered, "/taskDefinition/status") == "INACTIVE");
  CHECK(At(deregistered, "/taskDefinition/containerDefinitions/0/name") == "c");
  CHECK(deregistered["taskDefinition"]["deregisteredAt"].IsNumber());
  CHECK(At(deregistered, "/taskDefinition/deleteRequestedAt") == "(absent)");
  api.Restart();
  const auto described =
      api.Get("DescribeTaskDefinition", R"({"taskDefinition":"web:1","include":["TAGS"]})");
  CHECK(At(described, "/taskDefinition/deregisteredAt") ==
        At(deregistered, "/taskDefinition/deregisteredAt"));
  CHECK(At(described, "/tags/0/key") == "k");
  CHECK(At(api.Get("ListTaskDefinitions", "{}"), "/taskDefinitionArns") ==
        "[\"" + Arn("web:2") + "\"]");
  CHECK(At(api.Get("ListTaskDefinitions", R"({"status":"INACTIVE"})"), "/taskDefinitionArns") ==
        "[\"" + Arn("web:1") + "\"]");
  // Again, and by ARN.
  CHECK(At(api.Get("DeregisterTaskDefinition", Named(Arn("web:1"))),
           "/taskDefinition/deregisteredAt") == At(deregistered, "/taskDefinition/deregisteredAt"));
}

TEST_CASE("a family without ACTIVE revisions has no latest one", "[api]") {
  ApiFixture api;
  Register(api, "web");
  api.Get("DeregisterTaskDefinition", Named("web:1"));

  CHECK(api.Refusal("DescribeTaskDefinition", Named("web")) ==
        "ClientException: Unable to describe task definition.");
  CHECK_THAT(api.Refusal("RunTask", Named("web:1")), Catch::EndsWith("TaskDefinition is inactive"));
}

TEST_CASE("what DeregisterTaskDefinition cannot find or read is refused in ECS's words", "[api]") {
  struct Case {
    std::string name;
    std::string refusal;
  };
  const auto c = GENERATE(values<Case>({
      {"", "InvalidParameterException: Task Definition can not be blank."},
      {"web", "ClientException: Revision is missing."},
      {"web:x", "InvalidParameterException: Invalid revision number. Number: x"},
      {"web:2", "ClientException: Unable to describe task definition."},
      {"other:1", "ClientException: Unable to describe task definition."},
      {"arn:aws:ecs:us-east-1:999999999999:task-definition/web:1",
       "InvalidParameterException: Identifier is for 999999999999. Your accountId is "
       "000000000000"},
  }));
  INFO(c.name);
  ApiFixture api;
  Register(api, "web");

  CHECK(api.Refusal("DeregisterTaskDefinition", Named(c.name)) == c.refusal);
}

TEST_CASE("each revision that cannot be deleted is a failure; the others go", "[api]") {
  ApiFixture api;
  for (int i = 0; i < 3; ++i) Register(api, "web");
  api.Get("DeregisterTaskDefinition", Named("web:1"));
  api.Get("DeregisterTaskDefinition", Named("web:2"));

  const auto deleted =
      api.Get("DeleteTaskDefinitions",
              R"({"taskDefinitions":["web","web:1","web:3","ghost:1","web:x",")" + Arn("web:2") +
                  R"(","","arn:aws:ecs:us-east-1:999999999999:task-definition/web:2"]})");

  REQUIRE(deleted["taskDefinitions"].Size() == 2);
  CHECK(At(deleted, "/taskDefinitions/0/taskDefinitionArn") == Arn("web:1"));
  CHECK(At(deleted, "/taskDefinitions/0/status") == "DELETE_IN_PROGRESS");
  CHECK(deleted["taskDefinitions"][0]["deleteRequestedAt"].IsNumber());
  CHECK(deleted["taskDefinitions"][0]["deregisteredAt"].IsNumber());
  CHECK(At(deleted, "/taskDefinitions/1/taskDefinitionArn") == Arn("web:2"));
  const std::string invalid =
      "The specified task definition identifier is invalid. Specify a valid name or ARN and try "
      "again.";
  const std::string unknown =
      "The specified task definition does not exist. Specify a valid account, family, revision and "
      "try again.";
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"web", invalid},
      {"web:3",
       "The specified task definition is still in ACTIVE status. Please deregister the target and "
       "try again."},
      {"ghost:1", unknown},
      {"web:x", invalid},
      {"", invalid},
      {"arn:aws:ecs:us-east-1:999999999999:task-definition/web:2", unknown}};
  REQUIRE(deleted["failures"].Size() == expected.size());
  for (unsigned i = 0; i < expected.size(); ++i) {
    CHECK(deleted["failures"][i]["arn"].GetString() == expected[i].first);
    CHECK(deleted["failures"][i]["reason"].GetString() == expected[i].second);
  }
  // Nothing refers to them: they are gone.
  CHECK(api.Refusal("DescribeTaskDefinition", Named("web:1")) ==
        "ClientException: Unable to describe task definition.");
}

TEST_CASE("DeleteTaskDefinitions takes one to ten", "[api]") {
  ApiFixture api;
  const auto some = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += (i ? ",\"f:" : "\"f:") + std::to_string(i + 1) + "\"";
    return R"({"taskDefinitions":[)" + list + "]}";
  };

  for (const std::string& body : {some(0), std::string("{}")}) {
    CHECK(api.Refusal("DeleteTaskDefinitions", body) ==
          "InvalidParameterException: size of TaskDefinition references list must be greater than "
          "0");
  }
  CHECK(api.Get("DeleteTaskDefinitions", some(1))["failures"].Size() == 1);
  CHECK(api.Get("DeleteTaskDefinitions", some(10))["failures"].Size() == 10);
  CHECK(api.Refusal("DeleteTaskDefinitions", some(11)) ==
        "InvalidParameterException: Size of TaskDefinition references list cannot exceed 10");
}

TEST_CASE("a deleted revision that a task is a run of is described and listed until it goes",
          "[api]") {
  ApiFixture api(ApiFixture::Emulating());
  api.Get("RegisterContainerInstance", Machine());
  Register(api, "web");
  REQUIRE(api.Get("RunTask", Named("web"))["tasks"].Size() == 1);
  api.Get("DeregisterTaskDefinition", Named("web:1"));
  api.Get("DeleteTaskDefinitions", R"({"taskDefinitions":["web:1"]})");
  api.Restart();

  const auto described = api.Get("DescribeTaskDefinition", Named("web:1"));
  CHECK(At(described, "/taskDefinition/status") == "DELETE_IN_PROGRESS");
  CHECK(described["taskDefinition"]["deleteRequestedAt"].IsNumber());
  CHECK(At(api.Get("ListTaskDefinitions", R"({"status":"DELETE_IN_PROGRESS"})"),
           "/taskDefinitionArns") == "[\"" + Arn("web:1") + "\"]");
  CHECK_THAT(api.Refusal("RunTask", Named("web:1")), Catch::EndsWith("TaskDefinition is inactive"));
  CHECK(api.Refusal("ListTaskDefinitionFamilies", R"({"status":"GONE"})") ==
        "InvalidParameterException: status is 'GONE': it should be one of ACTIVE, INACTIVE, ALL");
}

}  // namespace
}  // namespace berth::api

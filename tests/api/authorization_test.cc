// Who may do what: roles, the resources that a call is about, and refusals before anything is
// looked up. Through Dispatch, with callers as the signature check makes them.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api/access/authorize.h"
#include "api/access/policy.h"
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

using model::KeyRole;

constexpr char kUser[] = "arn:aws:iam::000000000000:user/u";
constexpr char kArn[] = "arn:aws:ecs:us-east-1:000000000000:";

Caller With(KeyRole role, const std::string& policy = "") {
  Caller caller{.principal_arn = kUser, .access_key = "AKIA1", .role = role};
  if (!policy.empty()) {
    auto compiled = Policy::Compile(policy);
    REQUIRE(compiled.ok());
    caller.policy = *compiled;
  }
  return caller;
}

std::vector<std::string> About(const std::string& action, const std::string& body) {
  const schema::Operation* operation = schema::FindOperation(action);
  REQUIRE(operation != nullptr);
  const auto parsed = JsonBody::Parse(body, schema::InputOf(*operation));
  REQUIRE(parsed.ok());
  std::vector<std::string> arns;
  for (const CallResource& resource : ResourcesOf(action, parsed->root(), {})) {
    const std::string prefix = kArn;
    arns.push_back(resource.arn.starts_with(prefix) ? resource.arn.substr(prefix.size())
                                                    : resource.arn);
  }
  return arns;
}

}  // namespace

TEST_CASE("a call is about what its members name", "[authorization]") {
  const std::string id = "0123456789abcdef0123456789abcdef";
  struct Case {
    std::string action, body;
    std::vector<std::string> about;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"ListClusters", "{}", {"*"}},
      {"ListTasks", "{}", {"cluster/default"}},
      {"ListTasks", R"({"cluster":"gpu"})", {"cluster/gpu"}},
      {"ListTasks",
       R"({"cluster":"arn:aws:ecs:us-east-1:000000000000:cluster/gpu"})",
       {"cluster/gpu"}},
      {"DescribeClusters", "{}", {"cluster/default"}},
      {"DescribeClusters", R"({"clusters":["a","b"]})", {"cluster/a", "cluster/b"}},
      {"DescribeClusters", R"({"clusters":[]})", {"cluster/default"}},
      {"CreateCluster", R"({"clusterName":"new"})", {"cluster/new"}},
      {"CreateCluster", "{}", {"cluster/default"}},
      {"StopTask", R"({"task":")" + id + R"("})", {"task/default/" + id}},
      {"StopTask",
       R"({"cluster":"gpu","task":"arn:aws:ecs:us-east-1:000000000000:task/gpu/)" + id + R"("})",
       {"task/gpu/" + id}},
      {"DescribeTasks",
       R"({"cluster":"gpu","tasks":[")" + id + R"(","x/y"]})",
       {"task/gpu/" + id, "task/gpu/x/y"}},
      {"RunTask",
       R"({"taskDefinition":"web:3","cluster":"gpu"})",
       {"task-definition/web:3", "cluster/gpu"}},
      {"RunTask", R"({"taskDefinition":"web"})", {"task-definition/web:*", "cluster/default"}},
      {"StartTask",
       R"({"taskDefinition":"web:1","containerInstances":[")" + id + R"("]})",
       {"container-instance/default/" + id, "task-definition/web:1"}},
      {"RegisterTaskDefinition", R"({"family":"web"})", {"task-definition/web:*"}},
      {"ListTaskDefinitions", R"({"familyPrefix":"web"})", {"*"}},
      {"TagResource",
       R"({"resourceArn":"arn:aws:ecs:us-east-1:000000000000:cluster/gpu"})",
       {"cluster/gpu"}},
      {"PutAttributes",
       R"({"cluster":"gpu","attributes":[{"name":"a","targetId":")" + id + R"("}]})",
       {"container-instance/gpu/" + id}},
      {"RegisterContainerInstance",
       R"({"cluster":"gpu","attributes":[{"name":"a","targetId":"x"}]})",
       {"cluster/gpu"}},
      {"UpdateService", R"({"cluster":"gpu","service":"s"})", {"service/gpu/s"}},
      {"DescribeCapacityProviders", R"({"capacityProviders":["p"]})", {"capacity-provider/p"}},
      {"PutAccountSetting", R"({"name":"containerInsights","value":"enabled"})", {"*"}},
  }));
  INFO(c.action << " " << c.body);

  CHECK(About(c.action, c.body) == c.about);
}

TEST_CASE("a call about very many things is not read to its end", "[authorization]") {
  std::string body = R"({"tasks":["x")";
  for (int i = 0; i < 2000; ++i) body += ",\"x\"";
  CHECK(About("DescribeTasks", body + "]}").size() == kCallResourcesMax + 1);

  ApiFixture f;
  f.caller =
      With(KeyRole::kOperator, R"({"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}})");
  CHECK(f.Refusal("DescribeTasks", body + "]}") ==
        "InvalidParameterException: the call is about more than 256 resources, which no action "
        "takes");
}

TEST_CASE("each role has its actions", "[authorization]") {
  struct Case {
    KeyRole role;
    std::string action;
    bool allowed;
  };
  const auto c = GENERATE(values<Case>({
      {KeyRole::kAdmin, "ecs:RunTask", true},
      {KeyRole::kAdmin, "iam:CreateAccessKey", true},
      {KeyRole::kOperator, "ecs:RunTask", true},
      {KeyRole::kOperator, "ecs:DeleteCluster", true},
      {KeyRole::kOperator, "iam:CreateAccessKey", false},
      {KeyRole::kOperator, "iam:ListAccessKeys", false},
      {KeyRole::kViewer, "ecs:DescribeTasks", true},
      {KeyRole::kViewer, "ecs:ListTasks", true},
      {KeyRole::kViewer, "ecs:GetTaskProtection", true},
      {KeyRole::kViewer, "ecs:RunTask", false},
      {KeyRole::kViewer, "ecs:Poll", false},
      {KeyRole::kViewer, "iam:ListAccessKeys", false},
      {KeyRole::kAgent, "ecs:SubmitTaskStateChange", true},
      {KeyRole::kAgent, "ecs:RegisterContainerInstance", true},
      {KeyRole::kAgent, "ecs:Poll", true},
      {KeyRole::kAgent, "ecs:CreateCluster", true},
      {KeyRole::kAgent, "ecs:RunTask", false},
      {KeyRole::kAgent, "ecs:DescribeTasks", false},
  }));
  INFO(model::ToString(c.role) << " " << c.action);
  const std::vector<CallResource> about = {{.arn = std::string(kArn) + "cluster/default"}};

  const absl::Status status = Authorize(With(c.role), c.action, about, {});

  CHECK(status.ok() == c.allowed);
  if (!c.allowed) {
    CHECK(std::string(status.message()) ==
          std::string("User: ") + kUser + " is not authorized to perform: " + c.action +
              " on resource: " + kArn +
              "cluster/default because no identity-based policy allows the " + c.action +
              " action");
  }
}

TEST_CASE("an agent may make the default cluster and no other", "[authorization]") {
  ApiFixture f;
  f.caller = With(KeyRole::kAgent);

  CHECK(f.Ask("CreateCluster", "{}").status == 200);
  CHECK(f.Refusal("CreateCluster", R"({"clusterName":"other"})") ==
        std::string("AccessDeniedException: User: ") + kUser +
            " is not authorized to perform: ecs:CreateCluster on resource: " + kArn +
            "cluster/other because no identity-based policy allows the ecs:CreateCluster action");
}

TEST_CASE("a refusal does not tell whether a thing is there", "[authorization]") {
  ApiFixture f;
  f.caller = With(KeyRole::kOperator, R"({"Statement":[
    {"Effect":"Allow","Action":"ecs:*","Resource":"*"},
    {"Effect":"Deny","Action":"ecs:*","Resource":"arn:aws:ecs:*:*:cluster/secret*"}]})");
  const auto denied = [](const std::string& cluster) {
    return std::string("AccessDeniedException: User: ") + kUser +
           " is not authorized to perform: ecs:DescribeClusters on resource: " + kArn + "cluster/" +
           cluster + " with an explicit deny in an identity-based policy";
  };

  CHECK(f.Refusal("DescribeClusters", R"({"clusters":["secret-1"]})") == denied("secret-1"));
  CHECK(f.Refusal("DescribeClusters", R"({"clusters":["default","secret-2"]})") ==
        denied("secret-2"));
  CHECK(f.Ask("DescribeClusters", R"({"clusters":["default"]})").status == 200);
}

TEST_CASE("a policy narrows a role and never widens it", "[authorization]") {
  ApiFixture f;
  const std::string all = R"({"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}})";

  f.caller = With(KeyRole::kViewer, all);
  CHECK(f.Ask("ListTasks", "{}").status == 200);
  CHECK(f.Ask("RegisterTaskDefinition", "{}").error_type == "AccessDeniedException");

  f.caller = With(KeyRole::kAdmin,
                  R"({"Statement":{"Effect":"Allow","Action":"ecs:List*","Resource":"*"}})");
  CHECK(f.Ask("ListTasks", "{}").status == 200);
  CHECK(f.Ask("DescribeClusters", "{}").error_type == "AccessDeniedException");
}

TEST_CASE("a call about several things needs the right to each", "[authorization]") {
  ApiFixture f;
  f.caller = With(KeyRole::kOperator, R"({"Statement":{"Effect":"Allow","Action":"ecs:RunTask",
    "Resource":"arn:aws:ecs:*:*:task-definition/web:*"}})");

  CHECK(f.Refusal("RunTask", R"({"taskDefinition":"web"})").find("cluster/default") !=
        std::string::npos);
  CHECK(f.Refusal("RunTask", R"({"taskDefinition":"api"})").find("task-definition/api:*") !=
        std::string::npos);
}

}  // namespace berth::api

// All 88 actions are routed, and no call is left without a well-formed answer.
#include <set>

#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

// Errors that any action may have (ecs-api.md 17).
const std::set<std::string> kAnywhere = {"SerializationException", "UnknownOperationException",
                                         "UnsupportedFeatureException", "ServerException"};

TEST_CASE("the API model has 88 operations", "[api]") { CHECK(schema::Operations().size() == 88); }

TEST_CASE("every action answers {} with its output's shape or an error that it models", "[api]") {
  ApiFixture api;

  for (const schema::Operation& operation : schema::Operations()) {
    const ApiResponse response = api.Ask(operation.name, "{}");
    INFO(operation.name << " -> " << response.body);
    CHECK(response.status < 500);
    if (response.status == 200 || kAnywhere.contains(response.error_type)) continue;
    const auto errors = schema::ErrorsOf(operation);
    CHECK(std::ranges::find(errors, std::string_view(response.error_type)) != errors.end());
  }
}

TEST_CASE("an empty body counts as {}", "[api]") {
  ApiFixture api;

  CHECK(At(api.Get("ListClusters", ""), "/clusterArns/0") ==
        "arn:aws:ecs:us-east-1:000000000000:cluster/default");
}

TEST_CASE("a target that names no action is an UnknownOperationException", "[api]") {
  ApiFixture api;
  const std::string target =
      GENERATE(as<std::string>(), "", "ListClusters", "AmazonEC2ContainerServiceV20141113.",
               "AmazonEC2ContainerServiceV20141113.listClusters",
               "AmazonEC2ContainerServiceV20141113.ListClusters2",
               "amazonec2containerservicev20141113.ListClusters", "DynamoDB_20120810.ListTables");
  INFO(target);

  const ApiResponse response = api.AskTarget(target, "{}");

  CHECK(response.status == 400);
  CHECK(response.error_type == "UnknownOperationException");
}

TEST_CASE("an action's name is known from its target alone", "[api]") {
  CHECK(ActionName("AmazonEC2ContainerServiceV20141113.RunTask") == "RunTask");
  CHECK(ActionName("AmazonEC2ContainerServiceV20141113.Rundown") == "-");
  CHECK(ActionName("") == "-");
}

TEST_CASE("actions of later versions say so, and what to use instead", "[api]") {
  ApiFixture api;

  CHECK(api.Refusal("CreateService", "{}") ==
        "UnsupportedFeatureException: CreateService is not available in this version of Berth; use "
        "RunTask to start tasks");
  CHECK(api.Refusal("CreateTaskSet", "{}") ==
        "UnsupportedFeatureException: CreateTaskSet is not available in this version of Berth");
}

TEST_CASE("actions about what only AWS has answer as if there were none of it", "[api]") {
  struct Case {
    std::string action;
    std::string body;
    std::string answer;
  };
  const auto c = GENERATE(values<Case>({
      {"DescribeDaemon", "{}", "DaemonNotFoundException"},
      {"DeleteGateway", "{}", "GatewayNotFoundException"},
      {"DescribeGatewayRoute", "{}", "ResourceNotFoundException"},
      {"CreateExpressGatewayService", "{}", "UnsupportedFeatureException"},
      {"DescribeExpressGatewayService", "{}", "ResourceNotFoundException"},
      {"UpdateExpressGatewayService", "{}", "ServiceNotFoundException"},
      {"RegisterDaemonTaskDefinition", "{}", "ClientException"},
      {"ListDaemonDeployments", "{}", "InvalidParameterException"},
      {"ContinueServiceDeployment", "{}", "InvalidParameterException"},
      {"ListDaemons", "{}", R"({"daemonSummariesList":[]})"},
      {"ListGateways", "{}", R"({"gateways":[]})"},
      {"DescribeDaemonRevisions", R"({"daemonRevisionArns":["x","y"]})",
       R"({"daemonRevisions":[],"failures":[{"arn":"x","reason":"MISSING"},)"
       R"({"arn":"y","reason":"MISSING"}]})"},
  }));
  INFO(c.action);
  ApiFixture api;

  const ApiResponse response = api.Ask(c.action, c.body);

  CHECK((response.status == 200 ? response.body : response.error_type) == c.answer);
}

TEST_CASE("actions that are not built parse their body all the same", "[api]") {
  ApiFixture api;

  CHECK(api.Refusal("CreateService", R"({"desiredCount":"3"})") ==
        "SerializationException: STRING_VALUE can not be converted to an Integer (desiredCount)");
}

}  // namespace
}  // namespace berth::api

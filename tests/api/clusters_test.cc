// CreateCluster, DescribeClusters, ListClusters.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

TEST_CASE("a cluster is made with all its members", "[api]") {
  ApiFixture api;

  const ApiResponse made = api.Ask(
      "CreateCluster", R"({"clusterName":"blue","tags":[{"key":"k","value":"v"}],)"
                       R"("configuration":{"executeCommandConfiguration":{"logging":"NONE"}},)"
                       R"("serviceConnectDefaults":{"namespace":"ns"}})");

  CHECK(made.body ==
        R"({"cluster":{"clusterArn":"arn:aws:ecs:us-east-1:000000000000:cluster/blue",)"
        R"("clusterName":"blue","status":"ACTIVE","registeredContainerInstancesCount":0,)"
        R"("runningTasksCount":0,"pendingTasksCount":0,"activeServicesCount":0,"statistics":[],)"
        R"("tags":[{"key":"k","value":"v"}],)"
        R"("settings":[{"name":"containerInsights","value":"disabled"}],)"
        R"("configuration":{"executeCommandConfiguration":{"logging":"NONE"}},)"
        R"("serviceConnectDefaults":{"namespace":"ns"},"capacityProviders":[],)"
        R"("defaultCapacityProviderStrategy":[]}})");
}

TEST_CASE("making a cluster again needs the same arguments, however they are written", "[api]") {
  ApiFixture api;
  const std::string first =
      R"({"clusterName":"c","settings":[{"name":"containerInsights","value":"enabled"}],)"
      R"("configuration":{"executeCommandConfiguration":{"logging":"NONE","kmsKeyId":"k"}}})";
  const std::string same =
      R"({"configuration":{"executeCommandConfiguration":{"kmsKeyId":"k","logging":"NONE"}},)"
      R"("settings":[{"value":"enabled","name":"containerInsights"}],"clusterName":"c","x":1})";
  REQUIRE(api.Ask("CreateCluster", first).status == 200);

  CHECK(api.Ask("CreateCluster", same).status == 200);
  CHECK(api.Refusal("CreateCluster", R"({"clusterName":"c","tags":[{"key":"new","value":""}]})") ==
        "InvalidParameterException: Arguments on this idempotent request are inconsistent with "
        "arguments used in previous request(s).");
  CHECK(api.Ask("CreateCluster", R"({"settings":[]})").status == 200);  // `default`
  CHECK(
      api.Ask("CreateCluster", R"({"settings":[{"name":"containerInsights","value":"disabled"}]})")
          .status == 200);
}

TEST_CASE("what CreateCluster cannot do is refused by name", "[api]") {
  struct Case {
    std::string body;
    std::string refusal;
  };
  const auto c = GENERATE(values<Case>({
      {R"({"clusterName":"a b"})", "Cluster must match ^[a-zA-Z0-9\\-_]{1,255}$, but was a b"},
      {R"({"clusterName":")" + std::string(256, 'a') + R"("})", "Cluster must match"},
      {R"({"settings":[{"name":"x","value":"enabled"}]})",
       "settings has the name 'x': it should be containerInsights"},
      {R"({"settings":[{"name":"containerInsights","value":"on"}]})",
       "the setting containerInsights is 'on': it should be one of enabled, disabled, enhanced"},
      {R"({"capacityProviders":["FARGATE"]})", "capacityProviders"},
      {R"({"defaultCapacityProviderStrategy":[{"capacityProvider":"x"}]})",
       "defaultCapacityProviderStrategy"},
      {R"({"configuration":{"executeCommandConfiguration":{"logging":"SOME"}}})",
       "configuration.executeCommandConfiguration.logging is 'SOME': it should be one of NONE, "
       "DEFAULT, OVERRIDE"},
  }));
  INFO(c.body);
  ApiFixture api;

  const std::string refusal = api.Refusal("CreateCluster", c.body);

  CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: "));
  CHECK_THAT(refusal, Catch::Contains(c.refusal));
}

TEST_CASE("parts of a cluster are shown when they are asked for", "[api]") {
  ApiFixture api;
  api.Get("CreateCluster",
          R"({"clusterName":"c","tags":[{"key":"k","value":"v"}],)"
          R"("configuration":{"executeCommandConfiguration":{"logging":"NONE"}}})");

  const auto plain = api.Get("DescribeClusters", R"({"clusters":["c"]})");
  CHECK(At(plain, "/clusters/0/tags") == "[]");
  CHECK(At(plain, "/clusters/0/settings") == "[]");
  CHECK(At(plain, "/clusters/0/statistics") == "[]");
  CHECK(At(plain, "/clusters/0/configuration") == "(absent)");
  CHECK(At(plain, "/failures") == "[]");

  const auto full = api.Get(
      "DescribeClusters",
      R"({"clusters":["c"],"include":["TAGS","SETTINGS","CONFIGURATIONS","STATISTICS","ODD"]})");
  CHECK(At(full, "/clusters/0/tags/0/value") == "v");
  CHECK(At(full, "/clusters/0/settings/0/value") == "disabled");
  CHECK(full["clusters"][0]["statistics"].Size() == 12);
  CHECK(At(full, "/clusters/0/statistics/0") == R"({"name":"runningEC2TasksCount","value":"0"})");
  CHECK(At(full, "/clusters/0/configuration/executeCommandConfiguration/logging") == "NONE");
}

TEST_CASE("clusters that are not there are failures, once each", "[api]") {
  ApiFixture api;

  const auto described = api.Get(
      "DescribeClusters",
      R"({"clusters":["ghost","default","arn:aws:ecs:us-east-1:000000000000:cluster/default","ghost"]})");

  CHECK(described["clusters"].Size() == 1);
  CHECK(At(described, "/failures") ==
        R"([{"arn":"arn:aws:ecs:us-east-1:000000000000:cluster/ghost","reason":"MISSING"}])");
}

TEST_CASE("DescribeClusters takes a hundred names and no more", "[api]") {
  ApiFixture api;
  const auto names = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += (i ? ",\"c" : "\"c") + std::to_string(i) + "\"";
    return R"({"clusters":[)" + list + "]}";
  };

  CHECK(api.Get("DescribeClusters", names(100))["failures"].Size() == 100);
  CHECK(api.Refusal("DescribeClusters", names(101)) ==
        "InvalidParameterException: clusters can have at most 100 items.");
}

}  // namespace
}  // namespace berth::api

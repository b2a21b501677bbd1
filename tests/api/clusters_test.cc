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
  // The default, but not what the cluster was made with.
  CHECK_THAT(
      api.Refusal(
          "CreateCluster",
          R"({"clusterName":"c","settings":[{"name":"containerInsights","value":"disabled"}]})"),
      Catch::Contains("Arguments on this idempotent request are inconsistent"));
}

TEST_CASE("an error does not give back a megabyte", "[api]") {
  ApiFixture api;

  const std::string refusal =
      api.Refusal("ListTasks", R"({"cluster":"!)" + std::string(500'000, 'x') + R"("})");

  CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: Cluster must match"));
  CHECK_THAT(refusal, Catch::EndsWith("x... (cut)"));
  CHECK(refusal == "InvalidParameterException: " + refusal.substr(27, 2048));
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
      {R"({"settings":[{"name":"containerInsights","value":"enabled"},)"
       R"({"name":"containerInsights","value":"disabled"}]})",
       "settings has containerInsights twice"},
      {R"({"serviceConnectDefaults":{"namespace":"a\u0000b"}})",
       "serviceConnectDefaults.namespace has a zero character (U+0000); leave it out"},
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

  const auto full =
      api.Get("DescribeClusters",
              R"({"clusters":["c"],"include":["TAGS","SETTINGS","CONFIGURATIONS","STATISTICS"]})");
  CHECK(At(full, "/clusters/0/tags/0/value") == "v");
  CHECK(At(full, "/clusters/0/settings/0/value") == "disabled");
  CHECK(full["clusters"][0]["statistics"].Size() == 12);
  CHECK(At(full, "/clusters/0/statistics/0") == R"({"name":"runningEC2TasksCount","value":"0"})");
  CHECK(At(full, "/clusters/0/configuration/executeCommandConfiguration/logging") == "NONE");
}

TEST_CASE("a part of a cluster that nobody knows is refused by name", "[api]") {
  ApiFixture api;

  const std::string refusal = api.Refusal("DescribeClusters", R"({"include":["TAGS","ODD"]})");

  CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: include[1] is 'ODD'"));
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

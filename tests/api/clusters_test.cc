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

std::string Update(const std::string& members) {
  return R"({"cluster":"c")" + (members.empty() ? "" : "," + members) + "}";
}

TEST_CASE("the members given to UpdateCluster replace the cluster's, the others stay", "[api]") {
  ApiFixture api;
  api.Get("CreateCluster",
          R"({"clusterName":"c","tags":[{"key":"k","value":"v"}],)"
          R"("settings":[{"name":"containerInsights","value":"enhanced"}],)"
          R"("configuration":{"executeCommandConfiguration":{"logging":"NONE","kmsKeyId":"k"}},)"
          R"("serviceConnectDefaults":{"namespace":"ns"}})");

  auto updated =
      api.Get("UpdateCluster",
              Update(R"("configuration":{"executeCommandConfiguration":{"kmsKeyId":"z"}})"));
  CHECK(At(updated, "/cluster/configuration") ==
        R"({"executeCommandConfiguration":{"kmsKeyId":"z"}})");
  CHECK(At(updated, "/cluster/settings/0/value") == "enhanced");
  CHECK(At(updated, "/cluster/serviceConnectDefaults/namespace") == "ns");
  CHECK(At(updated, "/cluster/tags/0/key") == "k");

  updated = api.Get("UpdateCluster", Update(R"("serviceConnectDefaults":{"namespace":""},)"
                                            R"("settings":[{"name":"containerInsights",)"
                                            R"("value":"disabled"}])"));
  CHECK(At(updated, "/cluster/serviceConnectDefaults") == "(absent)");
  CHECK(At(updated, "/cluster/settings/0/value") == "disabled");
  CHECK(At(updated, "/cluster/configuration/executeCommandConfiguration/kmsKeyId") == "z");
  CHECK(api.Ask("UpdateCluster", Update("")).status == 200);
  api.Restart();
  const auto described =
      api.Get("DescribeClusters", R"({"clusters":["c"],"include":["SETTINGS","CONFIGURATIONS"]})");
  CHECK(At(described, "/clusters/0/settings/0/value") == "disabled");
  CHECK(At(described, "/clusters/0/configuration/executeCommandConfiguration/kmsKeyId") == "z");
}

TEST_CASE("of updates at the same time none is lost", "[api]") {
  ApiFixture api;
  api.Get("CreateCluster", R"({"clusterName":"c"})");
  std::vector<std::string> updates;
  for (const char* member :
       {R"("serviceConnectDefaults":{"namespace":"ns"})",
        R"("settings":[{"name":"containerInsights","value":"enabled"}])",
        R"("configuration":{"executeCommandConfiguration":{"kmsKeyId":"k"}})"}) {
    for (int n = 0; n < 10; ++n) updates.push_back(Update(member));
  }

  for (const ApiResponse& response : api.AskAtOnce("UpdateCluster", updates)) {
    CHECK(response.status == 200);
  }

  const auto described =
      api.Get("DescribeClusters", R"({"clusters":["c"],"include":["SETTINGS","CONFIGURATIONS"]})");
  CHECK(At(described, "/clusters/0/serviceConnectDefaults/namespace") == "ns");
  CHECK(At(described, "/clusters/0/settings/0/value") == "enabled");
  CHECK(At(described, "/clusters/0/configuration/executeCommandConfiguration/kmsKeyId") == "k");
}

TEST_CASE("UpdateClusterSettings changes containerInsights and nothing else", "[api]") {
  ApiFixture api;
  api.Get("CreateCluster", R"({"clusterName":"c","serviceConnectDefaults":{"namespace":"ns"}})");

  const auto updated =
      api.Get("UpdateClusterSettings",
              Update(R"("settings":[{"name":"containerInsights","value":"enabled"}])"));

  CHECK(At(updated, "/cluster/settings") == R"([{"name":"containerInsights","value":"enabled"}])");
  CHECK(At(updated, "/cluster/serviceConnectDefaults/namespace") == "ns");
}

TEST_CASE("what UpdateCluster and UpdateClusterSettings cannot do is refused by name", "[api]") {
  struct Case {
    std::string action;
    std::string body;
    std::string refusal;
  };
  const std::string insights = R"("settings":[{"name":"containerInsights","value":"enabled"}])";
  const auto c = GENERATE_COPY(values<Case>({
      {"UpdateCluster", "{}", "InvalidParameterException: Cluster can not be blank."},
      {"UpdateCluster", R"({"cluster":""})",
       "InvalidParameterException: Cluster can not be blank."},
      {"UpdateCluster", R"({"cluster":"ghost"})", "ClusterNotFoundException: Cluster not found."},
      {"UpdateCluster", R"({"cluster":"a b"})", "InvalidParameterException: Cluster must match"},
      {"UpdateCluster", R"({"cluster":"default","settings":[{"name":"x","value":"enabled"}]})",
       "InvalidParameterException: settings has the name 'x'"},
      {"UpdateCluster",
       R"({"cluster":"default","configuration":{"executeCommandConfiguration":{"logging":"x"}}})",
       "InvalidParameterException: configuration.executeCommandConfiguration.logging is 'x'"},
      {"UpdateClusterSettings", R"({"cluster":"default"})",
       "InvalidParameterException: settings has no items"},
      {"UpdateClusterSettings", R"({"cluster":"default","settings":[]})",
       "InvalidParameterException: settings has no items"},
      {"UpdateClusterSettings", "{" + insights + "}",
       "InvalidParameterException: Cluster can not be blank."},
      {"UpdateClusterSettings", R"({"cluster":"ghost",)" + insights + "}",
       "ClusterNotFoundException: Cluster not found."},
      {"UpdateClusterSettings",
       R"({"cluster":"default","settings":[{"name":"containerInsights","value":"on"}]})",
       "InvalidParameterException: the setting containerInsights is 'on'"},
  }));
  INFO(c.action << " " << c.body);
  ApiFixture api;

  CHECK_THAT(api.Refusal(c.action, c.body), Catch::StartsWith(c.refusal));
}

TEST_CASE("a deleted cluster is INACTIVE, and takes nothing new", "[api]") {
  ApiFixture api;
  api.Get("CreateCluster", R"({"clusterName":"c","tags":[{"key":"k","value":"v"}]})");

  const auto deleted = api.Get("DeleteCluster", R"({"cluster":"c"})");

  CHECK(At(deleted, "/cluster/status") == "INACTIVE");
  CHECK(At(deleted, "/cluster/clusterArn") == "arn:aws:ecs:us-east-1:000000000000:cluster/c");
  api.Restart();
  const auto described = api.Get("DescribeClusters", R"({"clusters":["c"],"include":["TAGS"]})");
  CHECK(At(described, "/clusters/0/status") == "INACTIVE");
  CHECK(At(described, "/clusters/0/tags") == "[]");
  CHECK(At(described, "/failures") == "[]");
  CHECK(api.Get("ListClusters", "{}")["clusterArns"].Size() == 1);
  for (const auto& [action, body] : std::vector<std::pair<std::string, std::string>>{
           {"UpdateCluster", Update("")},
           {"RegisterContainerInstance", Machine("[]", R"(,"cluster":"c")")},
           {"RunTask", R"({"cluster":"c","taskDefinition":"x"})"}}) {
    CHECK(api.Refusal(action, body) == "ClusterNotFoundException: Cluster not found.");
  }
  CHECK(api.Ask("DeleteCluster", R"({"cluster":"c"})").status == 200);
  CHECK(At(api.Get("CreateCluster", R"({"clusterName":"c"})"), "/cluster/status") == "ACTIVE");
}

TEST_CASE("a cluster that has instances is not deleted, nor one that is not there", "[api]") {
  ApiFixture api;
  const auto registered = api.Get("RegisterContainerInstance", Machine());

  CHECK(api.Refusal("DeleteCluster", R"({"cluster":"default"})") ==
        "ClusterContainsContainerInstancesException: The Cluster cannot be deleted while Container "
        "Instances are active or draining.");
  CHECK(api.Refusal("DeleteCluster", R"({"cluster":"ghost"})") ==
        "ClusterNotFoundException: Cluster not found.");
  CHECK(api.Refusal("DeleteCluster", "{}") ==
        "InvalidParameterException: Cluster can not be blank.");
  api.Get("DeregisterContainerInstance",
          R"({"containerInstance":")" + At(registered, "/containerInstance/containerInstanceArn") +
              R"("})");
  CHECK(api.Ask("DeleteCluster",
                R"({"cluster":"arn:aws:ecs:us-east-1:000000000000:cluster/default"})")
            .status == 200);
}

TEST_CASE("the statistics of a cluster have ECS's names, and count its tasks", "[api]") {
  ApiFixture api(ApiFixture::Emulating());
  api.Get("RegisterContainerInstance", Machine());
  api.Get("RegisterTaskDefinition",
          R"({"family":"f","containerDefinitions":[{"name":"c","image":"i","memory":64}]})");
  api.Get("RunTask", R"({"taskDefinition":"f","count":2})");

  const auto described = api.Get("DescribeClusters", R"({"include":["STATISTICS","ATTACHMENTS"]})");

  std::vector<std::string> names;
  for (const auto& statistic : described["clusters"][0]["statistics"].GetArray()) {
    names.emplace_back(statistic["name"].GetString());
  }
  CHECK(names == std::vector<std::string>{"runningEC2TasksCount", "runningFargateTasksCount",
                                          "runningExternalTasksCount", "pendingEC2TasksCount",
                                          "pendingFargateTasksCount", "pendingExternalTasksCount",
                                          "activeEC2ServiceCount", "activeFargateServiceCount",
                                          "activeExternalServiceCount", "drainingEC2ServiceCount",
                                          "drainingFargateServiceCount",
                                          "drainingExternalServiceCount"});
  CHECK(At(described, "/clusters/0/attachments") == "[]");
  CHECK(At(described, "/clusters/0/registeredContainerInstancesCount") == "1");
}

}  // namespace
}  // namespace berth::api

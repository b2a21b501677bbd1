// Placement constraints, strategies and the filter of ListContainerInstances, as a client gives
// them.
#include <set>

#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

constexpr char kPlain[] =
    R"({"family":"plain","containerDefinitions":[{"name":"a","image":"i","memory":64}]})";

// Two played machines in zone a and one in zone b.
class Cluster : public ApiFixture {
 public:
  Cluster() : ApiFixture(ApiFixture::Emulating()) {
    a_ = Register("a");
    Register("a");
    b_ = Register("b");
    Get("RegisterTaskDefinition", kPlain);
  }
  std::string Register(const std::string& zone) {
    return At(Get("RegisterContainerInstance",
                  Machine("[]", R"(,"attributes":[{"name":"ecs.availability-zone","value":")" +
                                    zone + R"("},{"name":"marked"}])")),
              "/containerInstance/containerInstanceArn");
  }
  rapidjson::Document Run(const std::string& more) {
    return Get("RunTask", R"({"taskDefinition":"plain",)" + more + "}");
  }
  std::string RunRefusal(const std::string& more) {
    return Refusal("RunTask", R"({"taskDefinition":"plain",)" + more + "}");
  }
  rapidjson::Document List(const std::string& filter) {
    return Get("ListContainerInstances", R"({"filter":")" + filter + R"("})");
  }

  std::string a_;
  std::string b_;
};

std::set<std::string> InstancesOf(const rapidjson::Document& ran) {
  std::set<std::string> instances;
  for (const auto& task : ran["tasks"].GetArray()) {
    instances.insert(task["containerInstanceArn"].GetString());
  }
  return instances;
}

TEST_CASE("memberOf constraints of a request bind", "[api]") {
  Cluster api;

  const auto ran = api.Run(R"("count":3,"placementConstraints":[{"type":"memberOf",)"
                           R"("expression":"attribute:ecs.availability-zone == b"}])");

  CHECK(ran["tasks"].Size() == 3);
  CHECK(InstancesOf(ran) == std::set<std::string>{api.b_});
}

TEST_CASE("memberOf constraints of a definition bind, also after a restart", "[api]") {
  Cluster api;
  api.Get("RegisterTaskDefinition",
          R"({"family":"inb","containerDefinitions":[{"name":"a","image":"i","memory":64}],)"
          R"("placementConstraints":[{"type":"memberOf",)"
          R"("expression":"attribute:ecs.availability-zone in [b, c]"}]})");
  const std::string run = R"({"taskDefinition":"inb"})";
  CHECK(InstancesOf(api.Get("RunTask", run)) == std::set<std::string>{api.b_});

  api.Restart();

  CHECK(InstancesOf(api.Get("RunTask", run)) == std::set<std::string>{api.b_});
}

TEST_CASE("a constraint that holds nowhere is a failure for each instance", "[api]") {
  Cluster api;

  const auto ran = api.Run(
      R"("placementConstraints":[{"type":"memberOf","expression":"attribute:rack exists"}])");

  CHECK(At(ran, "/tasks") == "[]");
  REQUIRE(ran["failures"].Size() == 3);
  CHECK(At(ran, "/failures/0/reason") == "MemberOf placement constraint unsatisfied.");
  CHECK_THAT(At(ran, "/failures/0/detail"), Catch::Contains("'attribute:rack exists'"));
}

TEST_CASE("distinctInstance gives each task of a call its own machine", "[api]") {
  Cluster api;

  const auto ran = api.Run(R"("count":4,"placementConstraints":[{"type":"distinctInstance"}])");

  CHECK(InstancesOf(ran).size() == 3);
  CHECK(ran["tasks"].Size() == 3);
  REQUIRE(ran["failures"].Size() == 3);
  CHECK(At(ran, "/failures/0/reason") == "DistinctInstance placement constraint unsatisfied.");
}

TEST_CASE("strategies are taken with their fields in any case of letters", "[api]") {
  for (const char* field : {"instanceId", "INSTANCEID", "host", "Host"}) {
    INFO(field);
    Cluster api;

    const auto ran = api.Run(R"("count":3,"placementStrategy":[{"type":"spread","field":")" +
                             std::string(field) + R"("}])");

    CHECK(InstancesOf(ran).size() == 3);
  }
  for (const char* field : {"cpu", "CPU", "memory", "Memory", "gpuMemory", "GPUMEMORY"}) {
    INFO(field);
    Cluster api;

    const auto ran = api.Run(R"("count":3,"placementStrategy":[{"type":"binpack","field":")" +
                             std::string(field) + R"("}])");

    CHECK(InstancesOf(ran).size() == 1);
  }
}

TEST_CASE("strategies work one after the other", "[api]") {
  Cluster api;

  const auto ran = api.Run(
      R"("count":2,"placementStrategy":[{"type":"spread",)"
      R"("field":"attribute:ecs.availability-zone"},{"type":"random","field":"whatever"}])");

  const std::set<std::string> instances = InstancesOf(ran);
  CHECK(instances.size() == 2);
  CHECK(instances.contains(api.b_));
}

TEST_CASE("rules that are none are refused by name", "[api]") {
  struct Case {
    std::string more;
    std::string refusal;
  };
  const auto repeated = [](const std::string& entry, int n) {
    std::string list = entry;
    for (int i = 1; i < n; ++i) list += "," + entry;
    return "[" + list + "]";
  };
  const std::vector<Case> cases = {
      {R"("placementConstraints":[{"type":"distinctInstance","expression":"attribute:a exists"}])",
       "placementConstraints[0].expression is given; a distinctInstance constraint has none"},
      {R"("placementConstraints":[{"type":"memberOf"}])",
       "placementConstraints[0].expression is missing"},
      {R"("placementConstraints":[{"type":"memberOf","expression":""}])",
       "placementConstraints[0].expression is missing"},
      {R"("placementConstraints":[{}])",
       "placementConstraints[0].type is ''; it must be distinctInstance or memberOf"},
      {R"("placementConstraints":[{"type":"somewhere"}])",
       "placementConstraints[0].type is 'somewhere': it should be one of"},
      {R"("placementConstraints":[{"type":"distinctInstance"},{"type":"memberOf",)"
       R"("expression":"attribute:a = b"}])",
       "placementConstraints[1].expression: the expression 'attribute:a = b' is not valid at "
       "character 13: an operator"},
      {R"("placementConstraints":)" + repeated(R"({"type":"distinctInstance"})", 11),
       "placementConstraints has 11 entries; at most 10 are allowed"},
      {R"("placementStrategy":)" + repeated(R"({"type":"random"})", 6),
       "placementStrategy has 6 entries; at most 5 are allowed"},
      {R"("placementStrategy":[{}])", "placementStrategy[0].type is ''; it must be random"},
      {R"("placementStrategy":[{"type":"scatter"}])",
       "placementStrategy[0].type is 'scatter': it should be one of"},
      {R"("placementStrategy":[{"type":"random"},{"type":"spread"}])",
       "placementStrategy[1].field is missing; spread needs one"},
      {R"("placementStrategy":[{"type":"binpack"}])",
       "placementStrategy[0].field is missing; binpack needs one"},
      {R"("placementStrategy":[{"type":"spread","field":"zone"}])",
       "placementStrategy[0].field is 'zone'; for spread it must be instanceId, host or "
       "attribute:<name>"},
      {R"("placementStrategy":[{"type":"spread","field":"attribute:"}])", "for spread it must be"},
      {R"("placementStrategy":[{"type":"spread","field":"attribute:a b"}])",
       "for spread it must be"},
      {R"("placementStrategy":[{"type":"spread","field":"attribute:)" + std::string(129, 'x') +
           R"("}])",
       "for spread it must be"},
      {R"("placementStrategy":[{"type":"spread","field":"cpu"}])", "for spread it must be"},
      {R"("placementStrategy":[{"type":"binpack","field":"host"}])",
       "placementStrategy[0].field is 'host'; for binpack it must be cpu, memory or gpuMemory"},
  };
  Cluster api;
  for (const Case& c : cases) {
    INFO(c.more);
    const std::string refusal = api.RunRefusal(c.more);
    CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: "));
    CHECK_THAT(refusal, Catch::Contains(c.refusal));
  }
  CHECK(At(api.Get("ListTasks", "{}"), "/taskArns") == "[]");
}

TEST_CASE("a definition's and a request's constraints are ten together", "[api]") {
  Cluster api;
  std::string six = R"({"type":"memberOf","expression":"attribute:marked exists"})";
  for (int i = 1; i < 6; ++i)
    six += R"(,{"type":"memberOf","expression":"attribute:marked exists"})";
  api.Get("RegisterTaskDefinition",
          R"({"family":"six","containerDefinitions":[{"name":"a","image":"i","memory":64}],)"
          R"("placementConstraints":[)" +
              six + "]}");

  CHECK_THAT(
      api.Refusal("RunTask", R"({"taskDefinition":"six","placementConstraints":[)" + six + "]}"),
      Catch::StartsWith("InvalidParameterException: the task would have 12 placement "
                        "constraints"));
}

TEST_CASE("a definition whose expression does not compile is refused with the place", "[api]") {
  Cluster api;

  const std::string refusal = api.Refusal(
      "RegisterTaskDefinition",
      R"({"family":"bad","containerDefinitions":[{"name":"a","image":"i","memory":64}],)"
      R"("placementConstraints":[{"type":"memberOf","expression":"attribute:a == b and"}]})");

  CHECK_THAT(refusal, Catch::StartsWith("ClientException: placementConstraints[0].expression: "));
  CHECK_THAT(refusal, Catch::Contains("at character 21: a subject"));
  CHECK(At(api.Get("ListTaskDefinitions", R"({"familyPrefix":"bad"})"), "/taskDefinitionArns") ==
        "[]");
}

TEST_CASE("the same token with other rules is another request", "[api]") {
  Cluster api;
  api.Run(R"("clientToken":"t","placementConstraints":[{"type":"distinctInstance"}])");

  CHECK_THAT(api.RunRefusal(R"("clientToken":"t")"), Catch::StartsWith("ConflictException"));
}

TEST_CASE("instances are listed by a filter", "[api]") {
  Cluster api;

  CHECK(At(api.List("attribute:ecs.availability-zone == b"), "/containerInstanceArns") ==
        "[\"" + api.b_ + "\"]");
  CHECK(api.List("attribute:marked exists")["containerInstanceArns"].Size() == 3);
  CHECK(api.List("agentConnected == true")["containerInstanceArns"].Size() == 3);
  CHECK(api.List("runningTasksCount > 0")["containerInstanceArns"].Size() == 0);
  CHECK(At(api.Get("ListContainerInstances",
                   R"({"status":"DRAINING","filter":"attribute:marked exists"})"),
           "/containerInstanceArns") == "[]");
}

TEST_CASE("a filter goes with its page token", "[api]") {
  Cluster api;
  const auto first = api.Get("ListContainerInstances",
                             R"({"maxResults":1,"filter":"attribute:ecs.availability-zone == a"})");
  const std::string token = At(first, "/nextToken");

  const auto second =
      api.Get("ListContainerInstances",
              R"({"maxResults":1,"filter":"attribute:ecs.availability-zone == a","nextToken":")" +
                  token + R"("})");

  CHECK(first["containerInstanceArns"].Size() == 1);
  CHECK(second["containerInstanceArns"].Size() == 1);
  CHECK(At(second, "/nextToken") == "(absent)");
  CHECK_THAT(
      api.Refusal("ListContainerInstances", R"({"maxResults":1,"nextToken":")" + token + R"("})"),
      Catch::StartsWith("InvalidParameterException"));
}

TEST_CASE("a filter that is no query is refused with the place", "[api]") {
  Cluster api;

  CHECK_THAT(api.Refusal("ListContainerInstances", R"({"filter":"color == blue"})"),
             Catch::StartsWith("InvalidParameterException: filter: the expression 'color == blue' "
                               "is not valid at character 1: a subject"));
}

}  // namespace
}  // namespace berth::api

// What operators do with container instances: start tasks on them, drain them, name them.
#include "absl/time/clock.h"
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

constexpr char kGhost[] = "0123456789abcdef0123456789abcdef";
constexpr char kGhostArn[] =
    "arn:aws:ecs:us-east-1:000000000000:container-instance/default/"
    "0123456789abcdef0123456789abcdef";

// Two played machines, and a definition.
class Machines : public ApiFixture {
 public:
  Machines() : ApiFixture(ApiFixture::Emulating()), a(Register()), b(Register()) {
    Get("RegisterTaskDefinition",
        R"({"family":"web","containerDefinitions":[{"name":"a","image":"i","memory":64}]})");
  }
  std::string Register() {
    return At(Get("RegisterContainerInstance", Machine()),
              "/containerInstance/containerInstanceArn");
  }
  static std::string Id(const std::string& arn) { return arn.substr(arn.rfind('/') + 1); }

  const std::string a;
  const std::string b;
};

TEST_CASE("StartTask answers per instance, by id or ARN", "[api]") {
  Machines api;

  const auto started = api.Get("StartTask", R"({"taskDefinition":"web","startedBy":"me",)"
                                            R"("tags":[{"key":"k","value":"v"}],)"
                                            R"("containerInstances":[")" +
                                                api.a + R"(",")" + Machines::Id(api.b) + R"(",")" +
                                                kGhost + R"("]})");

  REQUIRE(started["tasks"].Size() == 2);
  CHECK(At(started, "/tasks/0/containerInstanceArn") == api.a);
  CHECK(At(started, "/tasks/1/containerInstanceArn") == api.b);
  CHECK(At(started, "/tasks/0/startedBy") == "me");
  CHECK(At(started, "/tasks/0/tags/0/value") == "v");
  CHECK(At(started, "/tasks/0/launchType") == "EC2");
  CHECK(At(started, "/tasks/0/version") == "1");
  CHECK(At(started, "/failures") ==
        R"([{"arn":")" + std::string(kGhostArn) + R"(","reason":"MISSING"}])");
}

TEST_CASE("StartTask refuses what RunTask refuses", "[api]") {
  Machines api;
  const std::string on_a = R"(,"containerInstances":[")" + api.a + R"("]})";

  CHECK(api.Refusal("StartTask", R"({"taskDefinition":"web"})") ==
        "ClientException: Container Instances cannot be empty.");
  CHECK(api.Refusal("StartTask", R"({"taskDefinition":"ghost")" + on_a) ==
        "ClientException: TaskDefinition not found.");
  CHECK(api.Refusal("StartTask", R"({"taskDefinition":"web","cluster":"ghost",)"
                                 R"("containerInstances":[]})") ==
        "ClusterNotFoundException: Cluster not found.");
  CHECK_THAT(
      api.Refusal("StartTask", R"({"taskDefinition":"web","propagateTags":"SERVICE")" + on_a),
      Catch::StartsWith("InvalidParameterException: propagateTags is SERVICE"));
  CHECK(api.Refusal("StartTask",
                    R"({"taskDefinition":"web","overrides":{"containerOverrides":[{"name":"x",)"
                    R"("cpu":1}]})" +
                        on_a) ==
        "InvalidParameterException: Override for container named x is not "
        "a container in the TaskDefinition.");
}

TEST_CASE("an instance is drained and made ACTIVE again", "[api]") {
  Machines api;

  const auto drained =
      api.Get("UpdateContainerInstancesState", R"({"status":"DRAINING","containerInstances":[")" +
                                                   api.a + R"(",")" + kGhost + R"("]})");
  CHECK(At(drained, "/containerInstances/0/status") == "DRAINING");
  CHECK(At(drained, "/containerInstances/0/version") == "2");
  CHECK(At(drained, "/failures/0/reason") == "MISSING");
  CHECK(At(drained, "/failures/0/arn") == kGhostArn);
  CHECK(At(api.Get("ListContainerInstances", R"({"status":"DRAINING"})"),
           "/containerInstanceArns") == R"([")" + api.a + R"("])");
  CHECK(At(api.Get("StartTask",
                   R"({"taskDefinition":"web","containerInstances":[")" + api.a + R"("]})"),
           "/failures/0/reason") == "DRAINING");

  const auto active = api.Get("UpdateContainerInstancesState",
                              R"({"status":"ACTIVE","containerInstances":[")" + api.a + R"("]})");
  CHECK(At(active, "/containerInstances/0/status") == "ACTIVE");

  api.Get("DeregisterContainerInstance", R"({"containerInstance":")" + api.b + R"("})");
  CHECK(At(api.Get("UpdateContainerInstancesState",
                   R"({"status":"DRAINING","containerInstances":[")" + api.b + R"("]})"),
           "/failures/0/reason") == "INACTIVE");
}

TEST_CASE("states that are none to go to are refused", "[api]") {
  Machines api;
  for (const char* status : {"INACTIVE", "REGISTERING", "draining", ""}) {
    INFO(status);
    CHECK(api.Refusal("UpdateContainerInstancesState", R"({"status":")" + std::string(status) +
                                                           R"(","containerInstances":[")" + api.a +
                                                           R"("]})") ==
          "InvalidParameterException: Container instance status should be one of [ACTIVE, "
          "DRAINING]");
  }
}

TEST_CASE("attributes are put by ARN, or by id and type, and listed", "[api]") {
  Machines api;

  const auto put = api.Get(
      "PutAttributes", R"({"attributes":[{"name":"stack","value":"blue","targetId":")" + api.a +
                           R"("},{"name":"bare","targetType":"container-instance","targetId":")" +
                           Machines::Id(api.b) + R"("}]})");
  CHECK(At(put, "/attributes") == R"([{"name":"stack","value":"blue","targetId":")" + api.a +
                                      R"("},{"name":"bare","targetId":")" + api.b + R"("}])");

  const std::string rows = R"([{"name":"stack","value":"blue","targetId":")" + api.a + R"("}])";
  CHECK(At(api.Get("ListAttributes",
                   R"({"targetType":"container-instance","attributeName":"stack"})"),
           "/attributes") == rows);
  CHECK(
      At(api.Get("DeleteAttributes", R"({"attributes":[{"name":"stack","targetId":")" + api.a +
                                         R"("},{"name":"never","targetId":")" + api.a + R"("}]})"),
         "/attributes") == rows);
  CHECK(At(api.Get("ListAttributes", R"({"targetType":"container-instance",)"
                                     R"("attributeName":"stack","attributeValue":"blue"})"),
           "/attributes") == "[]");
}

TEST_CASE("attributes whose target cannot be told are refused", "[api]") {
  Machines api;
  struct Case {
    std::string attribute;
    std::string refusal;
  };
  const std::vector<Case> cases = {
      {R"({"name":"a","targetId":")" + Machines::Id(api.a) + R"("})",
       "InvalidParameterException: targetType must be container-instance"},
      {R"({"name":"a","targetType":"task","targetId":")" + api.a + R"("})",
       "InvalidParameterException: targetType must be container-instance"},
      {R"({"name":"a"})", "InvalidParameterException: attribute a has no targetId"},
      {R"({"name":"a","targetType":"container-instance","targetId":")" + std::string(kGhost) +
           R"("})",
       "TargetNotFoundException: Could not find"},
      {R"({"name":"ecs.x","targetId":")" + api.a + R"("})", "InvalidParameterException: "},
      {R"({"name":"a","targetId":"arn:aws:ecs:us-east-1:000000000000:container-instance/other/)" +
           std::string(kGhost) + R"("})",
       "InvalidParameterException: Identifier is for cluster other."},
  };

  for (const Case& c : cases) {
    INFO(c.attribute);
    CHECK_THAT(api.Refusal("PutAttributes", R"({"attributes":[)" + c.attribute + "]}"),
               Catch::StartsWith(c.refusal));
  }
}

TEST_CASE("more than ten attributes of an operator's on one instance are too many", "[api]") {
  Machines api;
  std::string attributes;
  for (int i = 0; i < 10; ++i) {
    if (i > 0) attributes += ",";
    attributes += R"({"name":"a)" + std::to_string(i) + R"(","targetId":")" + api.a + R"("})";
  }
  api.Get("PutAttributes", R"({"attributes":[)" + attributes + "]}");

  CHECK_THAT(api.Refusal("PutAttributes",
                         R"({"attributes":[{"name":"b","targetId":")" + api.a + R"("}]})"),
             Catch::StartsWith("AttributeLimitExceededException: "));
  CHECK(api.Refusal("PutAttributes", "{}") ==
        "InvalidParameterException: attributes can not be empty");
}

TEST_CASE("attributes are listed in pages of any size, each once", "[api]") {
  Machines api;
  const int size = GENERATE(1, 3, 100);
  INFO("pages of " << size);
  std::vector<std::string> rows;
  std::string token;
  do {
    const auto page =
        api.Get("ListAttributes", R"({"targetType":"container-instance","maxResults":)" +
                                      std::to_string(size) + R"(,"nextToken":")" + token + R"("})");
    CHECK(page["attributes"].Size() <= static_cast<unsigned>(size));
    for (const auto& row : page["attributes"].GetArray()) {
      rows.push_back(row["targetId"].GetString() + std::string(" ") + row["name"].GetString());
    }
    token = page.HasMember("nextToken") ? page["nextToken"].GetString() : "";
  } while (!token.empty());

  CHECK(std::ranges::is_sorted(rows));
  CHECK(std::ranges::adjacent_find(rows) == rows.end());
  CHECK(std::ranges::count_if(
            rows, [](const std::string& row) { return row.ends_with(" ecs.os-type"); }) == 2);
  CHECK(api.Refusal("ListAttributes", "{}") ==
        "InvalidParameterException: targetType must be container-instance");
  CHECK_THAT(
      api.Refusal("ListAttributes", R"({"targetType":"container-instance","attributeValue":"x"})"),
      Catch::StartsWith("InvalidParameterException: attributeValue is given without"));
  CHECK_THAT(
      api.Refusal("ListAttributes", R"({"targetType":"container-instance","maxResults":101})"),
      Catch::StartsWith("InvalidParameterException: maxResults is 101"));
}

TEST_CASE("an agent's update is asked for in vain, of instances that are there", "[api]") {
  Machines api;

  CHECK_THAT(api.Refusal("UpdateContainerAgent", R"({"containerInstance":")" + api.a + R"("})"),
             Catch::StartsWith("NoUpdateAvailableException: There is no update"));
  CHECK(api.Refusal("UpdateContainerAgent",
                    R"({"containerInstance":")" + std::string(kGhost) + R"("})") ==
        "InvalidParameterException: Referenced container instance " + std::string(kGhost) +
            " not found.");
  CHECK(api.Refusal("UpdateContainerAgent", "{}") ==
        "InvalidParameterException: Container Instance can not be blank.");
  CHECK(api.Refusal("UpdateContainerAgent", R"({"cluster":"ghost","containerInstance":")" +
                                                std::string(kGhost) + R"("})") ==
        "ClusterNotFoundException: Cluster not found.");
}

TEST_CASE("health says whether the agent is connected, since when, and nothing more", "[api]") {
  Machines api;
  const auto health = [&](const std::string& arn) {
    return api.Get(
        "DescribeContainerInstances",
        R"({"containerInstances":[")" + arn + R"("],"include":["CONTAINER_INSTANCE_HEALTH"]})");
  };
  const std::string at = "/containerInstances/0/healthStatus";
  const auto connected = health(api.a);
  CHECK(At(connected, (at + "/overallStatus").c_str()) == "OK");
  CHECK(connected["containerInstances"][0]["healthStatus"]["details"].Size() == 1);
  CHECK(At(connected, (at + "/details/0/type").c_str()) == "AGENT_CONNECTIVITY");
  CHECK(At(connected, (at + "/details/0/status").c_str()) == "OK");
  const auto& detail = connected["containerInstances"][0]["healthStatus"]["details"][0];
  CHECK(detail["lastUpdated"].GetDouble() >= detail["lastStatusChange"].GetDouble());
  CHECK(detail["lastStatusChange"].GetDouble() > absl::ToUnixSeconds(absl::Now()) - 600);

  const std::string real =
      At(api.Get("RegisterContainerInstance",
                 Machine("[]", R"(,"attributes":[{"name":"ecs.capability.full-sync"}])")),
         "/containerInstance/containerInstanceArn");
  CHECK(At(health(real), (at + "/overallStatus").c_str()) == "INITIALIZING");
  const model::InstanceId id{Machines::Id(real)};
  REQUIRE(api.Submit(scheduler::ConnectAgent{.cluster = {"default"}, .instance = id}).ok());
  CHECK(At(health(real), (at + "/overallStatus").c_str()) == "OK");
  REQUIRE(api.Submit(scheduler::DisconnectAgent{.cluster = {"default"}, .instance = id}).ok());
  CHECK(At(health(real), (at + "/overallStatus").c_str()) == "IMPAIRED");
  CHECK(At(health(real), (at + "/details/0/statusReason").c_str()) == "the agent is not connected");
  api.Get("DeregisterContainerInstance", R"({"containerInstance":")" + real + R"("})");
  CHECK(At(health(real), (at + "/overallStatus").c_str()) == "INSUFFICIENT_DATA");
  CHECK(At(api.Get("DescribeContainerInstances", R"({"containerInstances":[")" + api.a + R"("]})"),
           at.c_str()) == "(absent)");
}

TEST_CASE("attachments are acknowledged", "[api]") {
  Machines api;

  CHECK(At(api.Get("SubmitAttachmentStateChanges",
                   R"({"attachments":[{"attachmentArn":"arn:x","status":"ATTACHED"}]})"),
           "/acknowledgment") == "ACK");
  CHECK(api.Refusal("SubmitAttachmentStateChanges", "{}") ==
        "InvalidParameterException: attachments is missing");
}

TEST_CASE("an agent's key may not act for another agent's instance", "[api]") {
  Machines api;
  api.caller = {.access_key = "KEY-A", .role = model::KeyRole::kAgent};
  const std::string mine = api.Register();
  api.caller = {.access_key = "KEY-O", .role = model::KeyRole::kOperator};
  const std::string task = At(
      api.Get("StartTask", R"({"taskDefinition":"web","containerInstances":[")" + mine + R"("]})"),
      "/tasks/0/taskArn");
  api.caller = {.access_key = "KEY-B", .role = model::KeyRole::kAgent};
  const std::string drain = R"({"status":"DRAINING","containerInstances":[")" + mine + R"("]})";
  const std::string out = R"({"force":true,"containerInstance":")" + mine + R"("})";
  const std::string again = Machine("[]", R"(,"containerInstanceArn":")" + mine + R"(")");
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"UpdateContainerInstancesState", drain},
      {"RegisterContainerInstance", again},
      {"SubmitTaskStateChange", R"({"task":")" + task + R"(","status":"RUNNING"})"},
      {"SubmitContainerStateChange",
       R"({"task":")" + task + R"(","containerName":"a","status":"RUNNING"})"},
      {"GetTaskProtection", R"({"tasks":[")" + task + R"("]})"},
      {"UpdateTaskProtection", R"({"protectionEnabled":true,"tasks":[")" + task + R"("]})"},
      {"DeregisterContainerInstance", out},
  };

  for (const auto& [action, body] : calls) {
    CHECK_THAT(api.Refusal(action, body), Catch::StartsWith("AccessDeniedException: "));
  }
  api.caller.access_key = "KEY-A";
  for (const auto& [action, body] : calls) api.Get(action, body);
}

}  // namespace
}  // namespace berth::api

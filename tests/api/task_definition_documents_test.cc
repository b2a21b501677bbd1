// What is registered is what is shown, with exactly the defaults of ECS.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

std::string Definition(const std::string& container, const std::string& more = "") {
  return R"({"family":"f","containerDefinitions":[{"name":"c","image":"i","memory":64)" +
         container + "}]" + more + "}";
}

// A value for every member below the shape, by the model. What Berth's own rules allow only in one
// way is given by name.
std::string ValueOf(const schema::Shape& shape, const std::string& path);

const std::map<std::string, std::string>& Chosen() {
  static const std::map<std::string, std::string> chosen = {
      {".cpu", R"("1024")"},
      {".memory", R"("4096")"},
      {".networkMode", R"("awsvpc")"},
      {".pidMode", R"("task")"},
      {".ipcMode", R"("task")"},
      {".requiresCompatibilities", R"(["EC2"])"},
      {".runtimePlatform", R"({"cpuArchitecture":"ARM64","operatingSystemFamily":"LINUX"})"},
      {".placementConstraints",
       R"([{"type":"memberOf","expression":"attribute:ecs.os-type == linux"}])"},
      {".inferenceAccelerators", "[]"},  // refused otherwise
      {".volumes",
       R"([{"name":"host","host":{"sourcePath":"/srv"}},)"
       R"({"name":"docker","dockerVolumeConfiguration":{"scope":"shared","autoprovision":true,)"
       R"("driver":"local","driverOpts":{"k":"v"},"labels":{"k":"v"}}},)"
       R"({"name":"efs","efsVolumeConfiguration":{"fileSystemId":"fs-1","rootDirectory":"/r",)"
       R"("transitEncryption":"ENABLED","transitEncryptionPort":2049,)"
       R"("authorizationConfig":{"accessPointId":"ap","iam":"ENABLED"}}},)"
       R"({"name":"launch","configuredAtLaunch":true}])"},
      {".containerDefinitions[0].cpu", "256"},
      {".containerDefinitions[0].memory", "2048"},
      {".containerDefinitions[0].memoryReservation", "1024"},
      {".containerDefinitions[0].links", "[]"},   // bridge only
      {".containerDefinitions[0].hostname", ""},  // these five not in awsvpc
      {".containerDefinitions[0].dnsServers", "[]"},
      {".containerDefinitions[0].dnsSearchDomains", "[]"},
      {".containerDefinitions[0].extraHosts", "[]"},
      {".containerDefinitions[0].disableNetworking", "false"},
      {".containerDefinitions[0].dependsOn", "[]"},
      {".containerDefinitions[0].volumesFrom", "[]"},
      {".containerDefinitions[0].mountPoints",
       R"([{"sourceVolume":"host","containerPath":"/data","readOnly":true}])"},
      {".containerDefinitions[0].portMappings",
       R"([{"containerPort":80,"hostPort":80,"protocol":"udp","name":"web","appProtocol":"http"}])"},
      {".containerDefinitions[0].environmentFiles",
       R"([{"type":"s3","value":"arn:aws:s3:::b/f.env"}])"},
      {".containerDefinitions[0].resourceRequirements",
       R"([{"type":"GPU","sharingStrategy":{"nvidiaMps":{"memory":4096,"maxComputePercent":50}}}])"},
      {".containerDefinitions[0].logConfiguration",
       R"({"logDriver":"json-file","options":{"max-size":"1m"},)"
       R"("secretOptions":[{"name":"token","valueFrom":"arn:aws:ssm:us-east-1:1:parameter/x"}]})"},
      {".containerDefinitions[0].secrets",
       R"([{"name":"SECRET","valueFrom":"arn:aws:secretsmanager:us-east-1:1:secret:x"}])"},
      {".containerDefinitions[0].environment", R"([{"name":"A","value":"1"}])"},
      {".containerDefinitions[0].firelensConfiguration",
       R"({"type":"fluentbit","options":{"k":"v"}})"},
      {".containerDefinitions[0].healthCheck",
       R"({"command":["CMD","true"],"interval":10,"timeout":3,"retries":2,"startPeriod":20})"},
      {".containerDefinitions[0].restartPolicy",
       R"({"enabled":true,"ignoredExitCodes":[0],"restartAttemptPeriod":120})"},
      {".containerDefinitions[0].startTimeout", "30"},
      {".containerDefinitions[0].stopTimeout", "30"},
  };
  return chosen;
}

std::string MembersOf(const schema::Shape& shape, const std::string& path) {
  std::string members;
  for (const schema::Member& member : schema::MembersOf(shape)) {
    const std::string value = ValueOf(schema::ShapeOf(member), path + "." + member.name);
    if (value.empty()) continue;
    members += (members.empty() ? "\"" : ",\"") + std::string(member.name) + "\":" + value;
  }
  return "{" + members + "}";
}

std::string ValueOf(const schema::Shape& shape, const std::string& path) {
  const auto chosen = Chosen().find(path);
  if (chosen != Chosen().end()) return chosen->second;
  switch (shape.kind) {
    case schema::Kind::kStructure:
    case schema::Kind::kUnion:
      return MembersOf(shape, path);
    case schema::Kind::kList:
      return "[" + ValueOf(schema::ElementOf(shape), path + "[0]") + "]";
    case schema::Kind::kMap:
      return R"({"key":)" + ValueOf(schema::ElementOf(shape), path + "[]") + "}";
    case schema::Kind::kString: {
      const auto words = schema::EnumValuesOf(shape);
      return words.empty() ? R"("text")" : "\"" + std::string(words[0]) + "\"";
    }
    case schema::Kind::kBoolean:
      return "true";
    default:
      return "50";
  }
}

TEST_CASE("a definition with every member of the model is echoed to the letter", "[api]") {
  ApiFixture api;
  const schema::Shape& shape = schema::InputOf(*schema::FindOperation("RegisterTaskDefinition"));
  const std::string body = ValueOf(shape, "");
  rapidjson::Document sent;
  sent.Parse(body.c_str());
  REQUIRE(!sent.HasParseError());
  REQUIRE(FindMisfit(sent, shape) == "");

  const rapidjson::Document registered = api.Get("RegisterTaskDefinition", body);
  const rapidjson::Document described =
      api.Get("DescribeTaskDefinition", R"({"taskDefinition":"text","include":["TAGS"]})");

  int members = 0;
  for (const auto& member : sent.GetObject()) {
    const std::string name = member.name.GetString();
    INFO(name);
    if (name == "tags") {
      CHECK(JsonText(registered["tags"]) == JsonText(member.value));
      CHECK(JsonText(described["tags"]) == JsonText(member.value));
      continue;
    }
    REQUIRE(registered["taskDefinition"].HasMember(name.c_str()));
    CHECK(JsonText(registered["taskDefinition"][name.c_str()]) == JsonText(member.value));
    CHECK(JsonText(described["taskDefinition"][name.c_str()]) == JsonText(member.value));
    ++members;
  }
  CHECK(members == static_cast<int>(schema::MembersOf(shape).size()) - 1);

  api.Restart();
  const rapidjson::Document after =
      api.Get("DescribeTaskDefinition", R"({"taskDefinition":"text","include":["TAGS"]})");
  CHECK(JsonText(after) == JsonText(described));
}

TEST_CASE("exactly the defaults of ECS are filled in", "[api]") {
  ApiFixture api;

  const rapidjson::Document plain = api.Get("RegisterTaskDefinition", Definition(""));
  CHECK(At(plain, "/taskDefinition/containerDefinitions") ==
        R"([{"name":"c","image":"i","memory":64,"cpu":0,"essential":true,"portMappings":[],)"
        R"("environment":[],"mountPoints":[],"volumesFrom":[],"systemControls":[]}])");
  CHECK(At(plain, "/taskDefinition/networkMode") == "bridge");
  CHECK(At(plain, "/taskDefinition/volumes") == "[]");
  CHECK(At(plain, "/taskDefinition/placementConstraints") == "[]");
  CHECK(At(plain, "/taskDefinition/status") == "ACTIVE");
  CHECK(At(plain, "/taskDefinition/revision") == "1");
  CHECK(At(plain, "/taskDefinition/registeredBy") == "arn:aws:iam::000000000000:user/tester");
  CHECK(At(plain, "/taskDefinition/requiresCompatibilities") == "(absent)");
  CHECK(At(plain, "/taskDefinition/requiresAttributes") == "(absent)");
  CHECK(At(plain, "/taskDefinition/cpu") == "(absent)");
  CHECK(At(plain, "/taskDefinition/tags") == "(absent)");
  CHECK(At(plain, "/tags") == "[]");
}

TEST_CASE("defaults of members depend on what stands beside them", "[api]") {
  struct Case {
    std::string why;
    std::string body;
    std::string pointer;
    std::string value;
  };
  const std::string first = "/taskDefinition/containerDefinitions/0";
  const std::string port = R"(,"portMappings":[{"containerPort":80}])";
  const auto c = GENERATE_COPY(values<Case>({
      {"bridge: any host port", Definition(port), first + "/portMappings/0",
       R"({"containerPort":80,"hostPort":0,"protocol":"tcp"})"},
      {"host: the same port", Definition(port, R"(,"networkMode":"host")"),
       first + "/portMappings/0", R"({"containerPort":80,"hostPort":80,"protocol":"tcp"})"},
      {"awsvpc: the same port", Definition(port, R"(,"networkMode":"awsvpc")"),
       first + "/portMappings/0", R"({"containerPort":80,"hostPort":80,"protocol":"tcp"})"},
      {"a protocol stays as given",
       Definition(R"(,"portMappings":[{"containerPort":80,"hostPort":81,"protocol":"udp"}])"),
       first + "/portMappings/0", R"({"containerPort":80,"hostPort":81,"protocol":"udp"})"},
      {"health check with a command", Definition(R"(,"healthCheck":{"command":["CMD","x"]})"),
       first + "/healthCheck", R"({"command":["CMD","x"],"interval":30,"timeout":5,"retries":3})"},
      {"health check as given", Definition(R"(,"healthCheck":{"command":["CMD","x"],"retries":9})"),
       first + "/healthCheck", R"({"command":["CMD","x"],"retries":9,"interval":30,"timeout":5})"},
      {"essential as given",
       Definition(R"(},{"name":"d","image":"i","memory":64,"essential":false)"),
       "/taskDefinition/containerDefinitions/1/essential", "false"},
      {"vCPU", Definition("", R"(,"cpu":"1 vCPU","memory":"2GB")"), "/taskDefinition/cpu", "1024"},
      {"GB", Definition("", R"(,"cpu":"1 vCPU","memory":"2GB")"), "/taskDefinition/memory", "2048"},
      {"docker volume",
       Definition("", R"(,"volumes":[{"name":"v","dockerVolumeConfiguration":{}}])"),
       "/taskDefinition/volumes/0",
       R"({"name":"v","dockerVolumeConfiguration":{"scope":"task","driver":"local"}})"},
      {"EFS volume",
       Definition("",
                  R"(,"volumes":[{"name":"v","efsVolumeConfiguration":{"fileSystemId":"fs-1"}}])"),
       "/taskDefinition/volumes/0",
       R"({"name":"v","efsVolumeConfiguration":{"fileSystemId":"fs-1","rootDirectory":"/"}})"},
      {"host volume", Definition("", R"(,"volumes":[{"name":"v"}])"), "/taskDefinition/volumes/0",
       R"({"name":"v"})"},
  }));
  INFO(c.why);
  ApiFixture api;

  CHECK(At(api.Get("RegisterTaskDefinition", c.body), c.pointer.c_str()) == c.value);
}

TEST_CASE("what is wrong with a definition is a ClientException that names it", "[api]") {
  struct Case {
    std::string why;
    std::string body;
    std::string refusal;
  };
  const auto gpu = [](const std::string& requirement) {
    return Definition(R"(,"resourceRequirements":[)" + requirement + "]");
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"no containers", R"({"family":"f","containerDefinitions":[]})",
       "Container list cannot be empty."},
      {"no name", R"({"family":"f","containerDefinitions":[{"image":"i","memory":4}]})",
       "Container.name should not be null or empty."},
      {"no memory", R"({"family":"f","containerDefinitions":[{"name":"c","image":"i"}]})",
       "Invalid setting for container 'c'. At least one of 'memory' or 'memoryReservation' must be "
       "specified."},
      {"an empty strategy", gpu(R"({"type":"GPU","sharingStrategy":{}})"), "nvidiaMps"},
      {"an unknown strategy", gpu(R"({"type":"GPU","sharingStrategy":{"mig":{}}})"), "nvidiaMps"},
      {"two strategies",
       gpu(R"({"type":"GPU","sharingStrategy":{"nvidiaMps":{"memory":1},"mig":{}}})"), "nvidiaMps"},
      {"neither value nor strategy", gpu(R"({"type":"GPU"})"), "sharingStrategy"},
      {"no memory in the strategy", gpu(R"({"type":"GPU","sharingStrategy":{"nvidiaMps":{}}})"),
       "memory"},
      {"unknown network mode", Definition("", R"(,"networkMode":"overlay")"),
       "networkMode is 'overlay': it should be one of bridge, host, awsvpc, none"},
      {"a member that must be there", Definition(R"(,"linuxParameters":{"devices":[{}]})"),
       "containerDefinitions[0].linuxParameters.devices[0].hostPath is missing"},
      {"a zero character in a text", Definition(R"(,"command":["a","b\u0000c"])"),
       "containerDefinitions[0].command[1] has a zero character (U+0000); leave it out"},
      {"a zero character in a name", Definition(R"(,"dockerLabels":{"a\u0000":"b"})"),
       "a name in containerDefinitions[0].dockerLabels has a zero character"},
      {"accelerators",
       Definition("", R"(,"inferenceAccelerators":[{"deviceName":"d","deviceType":"t"}])"),
       "inferenceAccelerators"},
      {"a sandbox",
       Definition("", R"(,"trustedExecutionConfiguration":{"isolationMode":"ISOLATED_SANDBOX"})"),
       "trustedExecutionConfiguration.isolationMode is 'ISOLATED_SANDBOX', which is not offered "
       "here; it must be SHARED"},
  }));
  INFO(c.why);
  ApiFixture api;

  const std::string refusal = api.Refusal("RegisterTaskDefinition", c.body);

  CHECK_THAT(refusal, Catch::StartsWith("ClientException: "));
  CHECK_THAT(refusal, Catch::Contains(c.refusal));
  CHECK(api.Get("ListTaskDefinitions", "{}")["taskDefinitionArns"].Empty());
}

TEST_CASE("a definition may have 64 KiB and no byte more", "[api]") {
  ApiFixture api;
  const auto with_label = [](size_t length) {
    return Definition(R"(,"dockerLabels":{"l":")" + std::string(length, 'x') + R"("})");
  };
  // Ask what the rest of it takes.
  const std::string told = api.Refusal("RegisterTaskDefinition", with_label(70'000));
  size_t actual = 0;
  REQUIRE(std::sscanf(told.c_str(), "ClientException: Actual length: '%zu'", &actual) == 1);
  const size_t fits = 65536 - (actual - 70'000);

  CHECK(api.Ask("RegisterTaskDefinition", with_label(fits)).status == 200);
  CHECK(api.Refusal("RegisterTaskDefinition", with_label(fits + 1)) ==
        "ClientException: Actual length: '65537'. Max allowed length is '65536' bytes.");
}

TEST_CASE("DescribeTaskDefinition finds by family, revision and ARN", "[api]") {
  ApiFixture api;
  api.Get("RegisterTaskDefinition", Definition(""));
  api.Get("RegisterTaskDefinition", Definition(""));
  struct Case {
    std::string reference;
    std::string outcome;
  };
  const auto arn = [](const std::string& name) {
    return "arn:aws:ecs:us-east-1:000000000000:task-definition/" + name;
  };
  const std::vector<Case> cases = {
      {"f", "2"},
      {"f:1", "1"},
      {arn("f:1"), "1"},
      {arn("f"), "2"},
      {"f:3", "ClientException: Unable to describe task definition."},
      {"g", "ClientException: Unable to describe task definition."},
      {"", "InvalidParameterException: Task Definition can not be blank."},
      {"f:x", "InvalidParameterException: Invalid revision number. Number: x"},
  };
  for (const Case& c : cases) {
    INFO(c.reference);
    const std::string body = R"({"taskDefinition":")" + c.reference + R"("})";
    const ApiResponse response = api.Ask("DescribeTaskDefinition", body);
    CHECK((response.status == 200
               ? At(api.Get("DescribeTaskDefinition", body), "/taskDefinition/revision")
               : api.Refusal("DescribeTaskDefinition", body)) == c.outcome);
  }
}

}  // namespace
}  // namespace berth::api

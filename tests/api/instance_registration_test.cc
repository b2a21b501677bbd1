// RegisterContainerInstance and what the other instance actions then show.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

std::string WithResource(const std::string& resource) {
  return R"({"totalResources":[{"name":"CPU","type":"INTEGER","integerValue":1024},)"
         R"({"name":"MEMORY","type":"INTEGER","integerValue":2048},)" +
         resource + "]}";
}

// `[{"name":"rack","value":"r1"}]` as a map.
std::map<std::string, std::string> Attributes(const rapidjson::Document& answer) {
  std::map<std::string, std::string> attributes;
  for (const auto& each : answer["containerInstance"]["attributes"].GetArray()) {
    attributes[each["name"].GetString()] =
        each.HasMember("value") ? each["value"].GetString() : "(none)";
  }
  return attributes;
}

TEST_CASE("resources are shown with all their members and in order", "[api]") {
  ApiFixture api;

  const auto answer = api.Get("RegisterContainerInstance", Machine("[" + Gpu("GPU-1", 100) + "]"));

  CHECK(At(answer, "/containerInstance/registeredResources") ==
        R"([{"name":"CPU","type":"INTEGER","doubleValue":0,"longValue":0,"integerValue":32768},)"
        R"({"name":"MEMORY","type":"INTEGER","doubleValue":0,"longValue":0,"integerValue":131072},)"
        R"({"name":"PORTS","type":"STRINGSET","doubleValue":0,"longValue":0,"integerValue":0,)"
        R"("stringSetValue":["22","2375"]},)"
        R"({"name":"PORTS_UDP","type":"STRINGSET","doubleValue":0,"longValue":0,"integerValue":0,)"
        R"("stringSetValue":[]},)"
        R"({"name":"GPU","type":"STRINGSET","doubleValue":0,"longValue":0,"integerValue":0,)"
        R"("stringSetValue":["GPU-1"]}])");
  CHECK(At(answer, "/containerInstance/remainingResources") ==
        At(answer, "/containerInstance/registeredResources"));
  CHECK(At(answer, "/containerInstance/status") == "ACTIVE");
  CHECK(At(answer, "/containerInstance/version") == "1");
  CHECK(At(answer, "/containerInstance/runningTasksCount") == "0");
  CHECK(At(answer, "/containerInstance/attachments") == "[]");
  CHECK(At(answer, "/containerInstance/healthStatus") == "(absent)");
}

TEST_CASE("an instance without GPUs shows none", "[api]") {
  ApiFixture api;

  const auto answer = api.Get("RegisterContainerInstance", Machine());

  CHECK(answer["containerInstance"]["registeredResources"].Size() == 4);
  CHECK(answer["containerInstance"]["remainingResources"].Size() == 4);
  CHECK(At(answer, "/containerInstance/gpuDevices") == "(absent)");
}

TEST_CASE("GPU memory comes from the agent, the totals or the catalogue", "[api]") {
  struct Case {
    std::string why;
    std::string body;
    std::string memory;  // of the first GPU, once sharing is offered; absent without
  };
  const std::string sharing = R"(,"attributes":[{"name":"ecs.capability.gpu-sharing-mps"}])";
  const std::string on_g5 = R"(,"attributes":[{"name":"ecs.capability.gpu-sharing-mps"},)"
                            R"({"name":"ecs.instance-type","value":"g5.xlarge"}])";
  const auto totals = [&](const std::string& entries, const std::string& more) {
    return R"({"totalResources":[{"name":"CPU","type":"INTEGER","integerValue":1024},)"
           R"({"name":"MEMORY","type":"INTEGER","integerValue":2048},)" +
           entries + "]" + more + "}";
  };
  const std::string device = R"({"id":"G1","type":"GPU"})";
  const std::string set = R"({"name":"GPU","type":"STRINGSET","stringSetValue":["G1"]})";
  const std::string memory = R"(,{"name":"GPU_MEMORY:G1","type":"INTEGER","integerValue":4096})";
  const auto c = GENERATE_COPY(values<Case>({
      {"gpuInfo", Machine("[" + Gpu("G1", 100) + "]", sharing), "100"},
      {"a public SDK's way", totals(set + memory, sharing), "4096"},
      {"devices and totals together",
       totals(set + memory, sharing + R"(,"platformDevices":[)" + device + "]"), "4096"},
      {"the same figure twice",
       totals(set + memory, sharing + R"(,"platformDevices":[)" + Gpu("G1", 4096) + "]"), "4096"},
      {"catalogue", Machine("[" + device + "]", on_g5), "22587"},
      {"the agent knows better than the catalogue", Machine("[" + Gpu("G1", 22000) + "]", on_g5),
       "22000"},
      {"an unknown type", Machine("[" + device + "]", sharing), "(absent)"},
      {"one GPU without a figure: no sharing",
       Machine("[" + Gpu("G1", 100) + R"(,{"id":"G2","type":"GPU"}])", on_g5), "(absent)"},
      {"0 is no figure", Machine("[" + Gpu("G1", 0) + "]", sharing), "(absent)"},
      {"no capability", Machine("[" + Gpu("G1", 100) + "]"), "(absent)"},
  }));
  INFO(c.why);
  ApiFixture api;

  const auto answer = api.Get("RegisterContainerInstance", c.body);

  CHECK(At(answer, "/containerInstance/gpuDevices/0/totalMemoryInMiB") == c.memory);
  CHECK(At(answer, "/containerInstance/registeredResources/4/stringSetValue/0") == "G1");
}

TEST_CASE("what makes no sense of a machine is refused by name", "[api]") {
  struct Case {
    std::string body;
    std::string refusal;
  };
  const auto c = GENERATE(values<Case>({
      {"{}", "totalResources does not name CPU: it should be there, of type INTEGER"},
      {R"({"totalResources":[{"name":"CPU","type":"INTEGER","integerValue":1}]})",
       "totalResources does not name MEMORY"},
      {WithResource(R"({"name":"CPU","type":"INTEGER","integerValue":1})"),
       "totalResources names CPU more than once"},
      {WithResource(R"({"type":"INTEGER","integerValue":1})"),
       "an entry of totalResources has no name"},
      {R"({"totalResources":[{"name":"CPU","type":"INTEGER","integerValue":-1}]})",
       "the resource CPU has no usable value"},
      {R"({"totalResources":[{"name":"CPU","type":"LONG","longValue":2147483648}]})",
       "the resource CPU has no usable value"},
      {R"({"totalResources":[{"name":"CPU","type":"STRINGSET"}]})",
       "the resource CPU has no usable value"},
      {WithResource(R"({"name":"PORTS","type":"INTEGER","integerValue":22})"),
       "the resource PORTS is of type 'INTEGER': it should be STRINGSET"},
      {WithResource(R"({"name":"PORTS","type":"STRINGSET","stringSetValue":["ssh"]})"),
       "'ssh' of resource PORTS is not a port"},
      {WithResource(R"({"name":"PORTS","type":"STRINGSET","stringSetValue":["65536"]})"), "65536"},
      {WithResource(R"({"name":"GPU_MEMORY:G9","type":"INTEGER","integerValue":1})"),
       "GPU_MEMORY:G9 is about a GPU that neither platformDevices nor the resource GPU names"},
      {Machine(R"([{"id":"G1","type":"TPU"}])"), "is of type 'TPU': it should be GPU"},
      {Machine(R"([{"type":"GPU"}])"), "has no id"},
      {Machine("[" + Gpu("G1", 1) + "," + Gpu("G1", 1) + "]"), "G1"},
      {Machine("[" + Gpu("G1", -5) + "]"), "G1"},
      {Machine("[]", R"(,"attributes":[{"value":"v"}])"), "an attribute has no name"},
      {Machine("[]", R"(,"attributes":[{"name":"a","value":"1"},{"name":"a","value":"2"}])"), "a"},
      {Machine("[]", R"(,"attributes":[{"name":"berth.mps-clients-max","value":"0"}])"),
       "berth.mps-clients-max is '0': it should be from 1 to 1000"},
      {Machine("[]", R"(,"attributes":[{"name":"berth.mps-clients-max","value":"1001"}])"),
       "berth.mps-clients-max is '1001'"},
      {Machine("[" + Gpu(std::string(257, 'G'), 1) + "]"),
       "the id of a GPU has 257 characters; at most 256 are allowed"},
      {Machine("[" + Gpu("G\\u0000", 1) + "]"), "platformDevices[0].id has a zero character"},
      {Machine("[]", R"(,"versionInfo":{"agentVersion":")" + std::string(257, '1') + "\"}"),
       "a member of versionInfo is longer than 256 bytes"},
      {Machine("[]", R"(,"instanceIdentityDocument":"{\"instanceId\":\"i\\u0000\"}")"),
       "instanceIdentityDocument has a member instanceId that is longer than 256 bytes or has a "
       "zero character"},
      {Machine("[]", R"(,"instanceIdentityDocument":"not json")"),
       "instanceIdentityDocument is not a JSON object"},
      {Machine("[]", R"(,"instanceIdentityDocument":"{\"instanceId\":7}")"),
       "instanceIdentityDocument has a member instanceId that is not a string"},
  }));
  INFO(c.body);
  ApiFixture api;

  const std::string refusal = api.Refusal("RegisterContainerInstance", c.body);

  CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: "));
  CHECK_THAT(refusal, Catch::Contains(c.refusal));
}

TEST_CASE("every attribute that was sent comes back, and the built-in ones", "[api]") {
  ApiFixture api;
  const auto plain = Attributes(api.Get(
      "RegisterContainerInstance",
      Machine("[]", R"(,"attributes":[{"name":"rack","value":"r1"},{"name":"empty","value":""},)"
                    R"({"name":"flag"},{"name":"ecs.os-type","value":"windows"}])")));

  CHECK(plain.at("rack") == "r1");
  CHECK(plain.at("empty") == "");
  CHECK(plain.at("flag") == "(none)");
  CHECK(plain.at("ecs.os-type") == "windows");
  CHECK(plain.at("ecs.availability-zone") == "local-1a");
  CHECK(plain.at("ecs.instance-type") == "berth.host");
  CHECK(plain.at("ecs.cpu-architecture") == "x86_64");
  CHECK(plain.at("ecs.os-family") == "LINUX");
  CHECK(!plain.contains("ecs.ami-id"));
}

TEST_CASE("the identity document tells what the attributes do not", "[api]") {
  ApiFixture api;
  const auto answer = api.Get(
      "RegisterContainerInstance",
      Machine("[]",
              R"(,"instanceIdentityDocumentSignature":"","instanceIdentityDocument":)"
              R"("{\"instanceId\":\"i-7\",\"instanceType\":\"g6.xlarge\",\"imageId\":\"ami-1\",)"
              R"(\"availabilityZone\":\"rack-9\",\"architecture\":\"arm64\",\"version\":null}")"));
  const auto attributes = Attributes(answer);

  CHECK(At(answer, "/containerInstance/ec2InstanceId") == "i-7");
  CHECK(attributes.at("ecs.instance-type") == "g6.xlarge");
  CHECK(attributes.at("ecs.availability-zone") == "rack-9");
  CHECK(attributes.at("ecs.cpu-architecture") == "arm64");
  CHECK(attributes.at("ecs.ami-id") == "ami-1");
}

TEST_CASE("without an agent of its own an instance is played only when asked for", "[api]") {
  const bool emulating = GENERATE(true, false);
  const bool real_agent = GENERATE(true, false);
  INFO("emulating " << emulating << ", real agent " << real_agent);
  ApiFixture api(emulating ? ApiFixture::Emulating() : ApiFixture::DefaultSettings());

  const auto answer =
      api.Get("RegisterContainerInstance",
              Machine("[" + Gpu("G1", 100) + "]",
                      real_agent ? R"(,"attributes":[{"name":"ecs.capability.full-sync"}])" : ""));
  const auto attributes = Attributes(answer);
  const std::string arn = At(answer, "/containerInstance/containerInstanceArn");
  const auto described =
      api.Get("DescribeContainerInstances", R"({"containerInstances":[")" + arn + R"("]})");

  const bool played = emulating && !real_agent;
  CHECK(attributes.contains("ecs.capability.gpu-sharing-mps") == played);
  CHECK(attributes.contains("ecs.capability.container-health-check") == played);
  CHECK(At(described, "/containerInstances/0/agentConnected") == (played ? "true" : "false"));
  CHECK((At(described, "/containerInstances/0/gpuDevices") != "(absent)") == played);
}

TEST_CASE("a played instance whose GPUs have no figures does not offer sharing", "[api]") {
  ApiFixture api(ApiFixture::Emulating());

  const auto answer =
      api.Get("RegisterContainerInstance", Machine(R"([{"id":"G1","type":"GPU"}])"));

  CHECK(!Attributes(answer).contains("ecs.capability.gpu-sharing-mps"));
}

TEST_CASE("the same client token is the same registration", "[api]") {
  ApiFixture api;
  const std::string body = Machine("[]", R"(,"clientToken":"t1")");

  const auto first = api.Get("RegisterContainerInstance", body);
  const auto again = api.Get("RegisterContainerInstance", body);
  const auto other = api.Get("RegisterContainerInstance", Machine("[]", R"(,"clientToken":"t2")"));

  const char* arn = "/containerInstance/containerInstanceArn";
  CHECK(At(first, arn) == At(again, arn));
  CHECK(At(first, arn) != At(other, arn));
}

TEST_CASE("a machine comes back under its ARN, and not under an unknown one", "[api]") {
  ApiFixture api;
  const std::string arn = At(api.Get("RegisterContainerInstance", Machine()),
                             "/containerInstance/containerInstanceArn");
  const auto again = api.Get(
      "RegisterContainerInstance",
      Machine("[]", R"(,"containerInstanceArn":")" + arn +
                        R"(","versionInfo":{"agentVersion":"1.2","dockerVersion":"24.0"})"));

  CHECK(At(again, "/containerInstance/containerInstanceArn") == arn);
  CHECK(At(again, "/containerInstance/versionInfo") ==
        R"({"agentVersion":"1.2","dockerVersion":"DockerVersion: 24.0"})");
  CHECK_THAT(api.Refusal("RegisterContainerInstance",
                         Machine("[]", R"(,"containerInstanceArn":)"
                                       R"("0123456789abcdef0123456789abcdef")")),
             Catch::StartsWith("ClientException: "));
}

TEST_CASE("instances are described, listed and taken out", "[api]") {
  ApiFixture api;
  const std::string arn = At(
      api.Get("RegisterContainerInstance", Machine("[]", R"(,"tags":[{"key":"k","value":"v"}])")),
      "/containerInstance/containerInstanceArn");
  const std::string id = arn.substr(arn.rfind('/') + 1);
  const std::string ghost = "0123456789abcdef0123456789abcdef";

  const auto described = api.Get("DescribeContainerInstances",
                                 R"({"containerInstances":[")" + id + R"(",")" + ghost + R"(",")" +
                                     arn + R"("],"include":["TAGS","CONTAINER_INSTANCE_HEALTH"]})");
  CHECK(described["containerInstances"].Size() == 1);
  CHECK(At(described, "/containerInstances/0/tags/0/value") == "v");
  CHECK(At(described, "/containerInstances/0/healthStatus/overallStatus") == "INITIALIZING");
  CHECK(At(described, "/containerInstances/0/healthStatus/details/0/type") == "AGENT_CONNECTIVITY");
  CHECK(At(described, "/failures") ==
        R"([{"arn":"arn:aws:ecs:us-east-1:000000000000:container-instance/default/)" + ghost +
            R"(","reason":"MISSING"}])");

  CHECK(At(api.Get("ListContainerInstances", "{}"), "/containerInstanceArns/0") == arn);
  CHECK(At(api.Get("ListContainerInstances", R"({"status":"DRAINING"})"),
           "/containerInstanceArns") == "[]");
  CHECK(At(api.Get("ListContainerInstances", R"({"status":"REGISTERING"})"),
           "/containerInstanceArns") == "[]");
  CHECK_THAT(api.Refusal("ListContainerInstances", R"({"status":"GONE"})"),
             Catch::StartsWith("InvalidParameterException: status is 'GONE'"));

  const auto gone =
      api.Get("DeregisterContainerInstance", R"({"containerInstance":")" + arn + R"("})");
  CHECK(At(gone, "/containerInstance/status") == "INACTIVE");
  CHECK(At(gone, "/containerInstance/agentConnected") == "false");
  CHECK(At(api.Get("ListContainerInstances", "{}"), "/containerInstanceArns") == "[]");
}

TEST_CASE("instance actions say what they need", "[api]") {
  ApiFixture api;

  CHECK(api.Refusal("DescribeContainerInstances", "{}") ==
        "ClientException: Container Instances cannot be empty.");
  CHECK(api.Refusal("DeregisterContainerInstance", "{}") ==
        "InvalidParameterException: Container Instance can not be blank.");
  CHECK(api.Refusal("RegisterContainerInstance", Machine("[]", R"(,"cluster":"ghost")")) ==
        "ClusterNotFoundException: Cluster not found.");
  CHECK(api.Refusal("ListContainerInstances", R"({"cluster":"ghost"})") ==
        "ClusterNotFoundException: Cluster not found.");
  CHECK(At(api.Get("DiscoverPollEndpoint",
                   R"({"containerInstance":"0123456789abcdef0123456789abcdef","zoneId":""})"),
           "/endpoint") == "http://127.0.0.1:8080/acs");
}

}  // namespace
}  // namespace berth::api

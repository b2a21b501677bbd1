// RunTask, StopTask, DescribeTasks, ListTasks and what agents report, as a client sees them.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

// The task definition of the GPU-sharing guide.
constexpr char kGuide[] =
    R"({"family":"mps-inference","networkMode":"awsvpc",)"
    R"("executionRoleArn":"arn:aws:iam::000000000000:role/ecsTaskExecutionRole",)"
    R"("containerDefinitions":[)"
    R"({"name":"model-a","image":"cuda","essential":true,"resourceRequirements":[{"type":"GPU",)"
    R"("sharingStrategy":{"nvidiaMps":{"memory":12288,"maxComputePercent":50}}}]},)"
    R"({"name":"model-b","image":"cuda","essential":true,"resourceRequirements":[{"type":"GPU",)"
    R"("sharingStrategy":{"nvidiaMps":{"memory":8192}}}]},)"
    R"({"name":"log-router","image":"fluent-bit","essential":false}],)"
    R"("requiresCompatibilities":["MANAGED_INSTANCES"],"cpu":"4096","memory":"8192"})";
constexpr char kRunGuide[] =
    R"({"taskDefinition":"mps-inference","launchType":"MANAGED_INSTANCES",)"
    R"("networkConfiguration":{"awsvpcConfiguration":{"subnets":["subnet-1"]}})";

constexpr char kPlain[] =
    R"({"family":"plain","containerDefinitions":[)"
    R"({"name":"a","image":"i","cpu":256,"memory":512,"memoryReservation":128},)"
    R"({"name":"b","image":"i","memory":64,"essential":false}]})";

// A cluster with one played machine with one GPU of 22587 MiB, and both definitions.
class Cluster : public ApiFixture {
 public:
  Cluster() : ApiFixture(ApiFixture::Emulating()) {
    instance_ = At(Get("RegisterContainerInstance", Machine("[" + Gpu("GPU-1", 22587) + "]")),
                   "/containerInstance/containerInstanceArn");
    Get("RegisterTaskDefinition", kGuide);
    Get("RegisterTaskDefinition", kPlain);
  }
  rapidjson::Document RunPlain(const std::string& more = "") {
    return Get("RunTask", R"({"taskDefinition":"plain")" + more + "}");
  }
  rapidjson::Document Describe(const std::string& arn, const std::string& more = "") {
    return Get("DescribeTasks", R"({"tasks":[")" + arn + R"("])" + more + "}");
  }
  const std::string& instance() const { return instance_; }

 private:
  std::string instance_;
};

std::string Body(const std::string& member, const std::string& value) {
  return R"({")" + member + R"(":")" + value + R"("})";
}

TEST_CASE("a task that shares a GPU looks as the guide shows it", "[api]") {
  Cluster api;

  const auto ran = api.Get("RunTask", kRunGuide + std::string("}"));

  CHECK(At(ran, "/failures") == "[]");
  REQUIRE(ran["tasks"].Size() == 1);
  CHECK(At(ran, "/tasks/0/launchType") == "MANAGED_INSTANCES");
  CHECK(At(ran, "/tasks/0/desiredStatus") == "RUNNING");
  CHECK(At(ran, "/tasks/0/cpu") == "4096");
  CHECK(At(ran, "/tasks/0/memory") == "8192");
  CHECK(At(ran, "/tasks/0/group") == "family:mps-inference");
  CHECK(At(ran, "/tasks/0/containerInstanceArn") == api.instance());
  CHECK(At(ran, "/tasks/0/containers/0/gpuIds") == R"(["GPU-1"])");
  CHECK(At(ran, "/tasks/0/containers/0/gpuSharingStrategy") ==
        R"({"nvidiaMps":{"memory":12288,"maxComputePercent":50}})");
  CHECK(At(ran, "/tasks/0/containers/1/gpuSharingStrategy") ==
        R"({"nvidiaMps":{"memory":8192}})");  // absent stays absent
  CHECK(At(ran, "/tasks/0/containers/2/gpuSharingStrategy") == "(absent)");
  CHECK(At(ran, "/tasks/0/containers/2/gpuIds") == "(absent)");

  const auto instances = api.Get("DescribeContainerInstances",
                                 R"({"containerInstances":[")" + api.instance() + "\"]}");
  CHECK(At(instances, "/containerInstances/0/gpuDevices") ==
        R"([{"gpuId":"GPU-1","sharingMode":"NVIDIA_MPS","totalMemoryInMiB":22587,)"
        R"("remainingMemoryInMiB":2107,"containerCount":2}])");
  CHECK(At(instances, "/containerInstances/0/remainingResources/4/stringSetValue") == "[]");
  CHECK(At(instances, "/containerInstances/0/remainingResources/0/integerValue") == "28672");
}

TEST_CASE("a new task has every member that clients index", "[api]") {
  Cluster api;

  const auto ran = api.RunPlain(R"(,"tags":[{"key":"k","value":"v"}],"startedBy":"me/1")");

  const auto task = [&](const std::string& member) {
    return At(ran, ("/tasks/0/" + member).c_str());
  };
  CHECK(task("attachments") == "[]");
  CHECK(task("attributes") == R"([{"name":"ecs.cpu-architecture","value":"x86_64"}])");
  CHECK(task("availabilityZone") == "local-1a");
  CHECK(task("clusterArn") == "arn:aws:ecs:us-east-1:000000000000:cluster/default");
  CHECK(task("cpu") == "256");
  CHECK(task("memory") == "192");  // 128 reserved for one, 64 for the other
  CHECK(task("enableExecuteCommand") == "false");
  CHECK(task("healthStatus") == "UNKNOWN");
  CHECK(task("lastStatus") == "PENDING");
  CHECK(task("launchType") == "EC2");
  CHECK(task("overrides") == R"({"containerOverrides":[{"name":"a"},{"name":"b"}],)"
                             R"("inferenceAcceleratorOverrides":[]})");
  CHECK(task("startedBy") == "me/1");
  CHECK(task("tags") == R"([{"key":"k","value":"v"}])");
  CHECK(task("taskDefinitionArn") == "arn:aws:ecs:us-east-1:000000000000:task-definition/plain:1");
  CHECK(task("version") == "1");
  CHECK(task("stopCode") == "(absent)");
  CHECK(task("startedAt") == "(absent)");
  CHECK(task("containers/0/cpu") == "256");
  CHECK(task("containers/0/memory") == "512");
  CHECK(task("containers/0/memoryReservation") == "128");
  CHECK(task("containers/1/cpu") == "0");
  CHECK(task("containers/1/memoryReservation") == "(absent)");
  CHECK(task("containers/0/lastStatus") == "PENDING");
  CHECK(task("containers/0/healthStatus") == "UNKNOWN");
  CHECK(task("containers/0/networkBindings") == "[]");
  CHECK(task("containers/0/networkInterfaces") == "[]");
  CHECK(task("containers/0/exitCode") == "(absent)");
  CHECK(task("containers/0/taskArn") == task("taskArn"));
}

TEST_CASE("tags of a task are shown by DescribeTasks when asked for", "[api]") {
  Cluster api;
  const std::string arn =
      At(api.RunPlain(R"(,"tags":[{"key":"k","value":"v"}])"), "/tasks/0/taskArn");

  CHECK(At(api.Describe(arn), "/tasks/0/tags") == "[]");
  CHECK(At(api.Describe(arn, R"(,"include":["TAGS"])"), "/tasks/0/tags/0/key") == "k");
}

TEST_CASE("overrides are merged, and shown with an entry for each container", "[api]") {
  Cluster api;

  const auto ran = api.RunPlain(
      R"(,"overrides":{"taskRoleArn":"arn:aws:iam::1:role/r","containerOverrides":)"
      R"([{"name":"b","memory":100,"command":["x"],"environment":[{"name":"A","value":"1"}]}]})");

  CHECK(At(ran, "/tasks/0/overrides") ==
        R"({"containerOverrides":[{"name":"a"},{"name":"b","memory":100,"command":["x"],)"
        R"("environment":[{"name":"A","value":"1"}]}],"taskRoleArn":"arn:aws:iam::1:role/r",)"
        R"("inferenceAcceleratorOverrides":[]})");
  CHECK(At(ran, "/tasks/0/containers/1/memory") == "100");
  CHECK(At(ran, "/tasks/0/memory") == "228");

  CHECK(At(api.RunPlain(R"(,"overrides":{"containerOverrides":[{"name":"a","cpu":1},)"
                        R"({"name":"a","memory":200},{}]})"),
           "/tasks/0/overrides/containerOverrides") ==
        R"([{"name":"a","cpu":1},{"name":"a","memory":200},{"name":"b"}])");

  api.Restart();
  const auto after = api.Describe(At(ran, "/tasks/0/taskArn"));
  CHECK(At(after, "/tasks/0/overrides") == At(ran, "/tasks/0/overrides"));
  CHECK(At(after, "/tasks/0/containers/1/memory") == "100");
}

TEST_CASE("what RunTask cannot do is refused by name", "[api]") {
  struct Case {
    std::string more;
    std::string refusal;
  };
  const auto c = GENERATE(values<Case>({
      {R"("taskDefinition":"")", "Task Definition can not be blank."},
      {R"("taskDefinition":"ghost")", "TaskDefinition not found."},
      {R"("taskDefinition":"plain","cluster":"ghost")", "Cluster not found."},
      {R"("taskDefinition":"plain","count":0)", "count is 0"},
      {R"("taskDefinition":"plain","count":11)", "count is 11"},
      {R"("taskDefinition":"plain","launchType":"MOON")",
       "launch type should be one of [EC2,FARGATE,EXTERNAL]"},
      {R"("taskDefinition":"plain","launchType":"EC2",)"
       R"("capacityProviderStrategy":[{"capacityProvider":"p"}])",
       "Specify either Launch Type or Capacity Provider Strategy, but not both."},
      {R"("taskDefinition":"plain","capacityProviderStrategy":[{"capacityProvider":"p"}])",
       "capacityProviderStrategy is not available"},
      {R"("taskDefinition":"plain","volumeConfigurations":[{"name":"v"}])",
       "volumeConfigurations is not available"},
      {R"("taskDefinition":"plain","overrides":{"containerOverrides":[{"name":"z","cpu":1}]})",
       "Override for container named z is not a container in the TaskDefinition."},
      {R"("taskDefinition":"plain","overrides":{"containerOverrides":[{"name":"a",)"
       R"("resourceRequirements":[{"type":"GPU","sharingStrategy":{}}]}]})",
       "nvidiaMps"},
      {R"("taskDefinition":"plain","propagateTags":"SERVICE")", "propagateTags is SERVICE"},
      {R"("taskDefinition":"plain","propagateTags":"ALL")", "propagateTags is 'ALL'"},
      {R"("taskDefinition":"plain","group":"service:x")", "service:"},
      {R"("taskDefinition":"plain","startedBy":"a b")", "startedBy"},
      {R"("taskDefinition":"plain","clientToken":")" + std::string(65, 't') + "\"", "clientToken"},
      {R"("taskDefinition":"plain","networkConfiguration":{"awsvpcConfiguration":{"subnets":["s"]}})",
       "Network Configuration is not valid for the given networkMode of this task definition."},
      {R"("taskDefinition":"mps-inference","launchType":"MANAGED_INSTANCES")",
       "Network Configuration must be provided when networkMode 'awsvpc' is specified."},
      {R"("taskDefinition":"mps-inference","launchType":"MANAGED_INSTANCES",)"
       R"("networkConfiguration":{"awsvpcConfiguration":{"subnets":[]}})",
       "subnets can not be empty."},
      {R"("taskDefinition":"plain","tags":[{"key":"aws:x","value":"1"}])", "is reserved"},
      {R"("taskDefinition":"plain","group":"a\u0000b")", "group has a zero character (U+0000)"},
      // The cluster, the definition and the count come before all else.
      {R"("taskDefinition":"plain","cluster":"ghost","launchType":"MOON")", "Cluster not found."},
      {R"("taskDefinition":"ghost","launchType":"MOON")", "TaskDefinition not found."},
      {R"("taskDefinition":"plain","count":11,"launchType":"MOON")", "count is 11"},
      {R"("taskDefinition":"plain","count":11,"tags":[{"value":"1"}])", "count is 11"},
  }));
  INFO(c.more);
  Cluster api;

  CHECK_THAT(api.Refusal("RunTask", "{" + c.more + "}"), Catch::Contains(c.refusal));
  CHECK(At(api.Get("ListTasks", "{}"), "/taskArns") == "[]");
}

TEST_CASE("members that come later may be there when they are empty", "[api]") {
  Cluster api;

  const auto ran = api.RunPlain(
      R"(,"placementConstraints":[],"placementStrategy":[],"capacityProviderStrategy":[],)"
      R"("volumeConfigurations":[],"tags":[],"networkConfiguration":{},"overrides":{})");

  CHECK(ran["tasks"].Size() == 1);
}

TEST_CASE("overrides may have 8192 characters", "[api]") {
  Cluster api;
  const auto overrides = [](size_t length) {
    // {"containerOverrides":[{"name":"a","command":["..."]}]} around the x's
    const std::string frame = R"({"containerOverrides":[{"name":"a","command":[""]}]})";
    return R"(,"overrides":{"containerOverrides":[{"name":"a","command":[")" +
           std::string(length - frame.size(), 'x') + R"("]}]})";
  };

  CHECK(api.RunPlain(overrides(8192))["tasks"].Size() == 1);
  CHECK_THAT(api.Refusal("RunTask", R"({"taskDefinition":"plain")" + overrides(8193) + "}"),
             Catch::Contains("8193"));
}

TEST_CASE("a task that finds no room is a failure with a reason, not an error", "[api]") {
  Cluster api;
  api.Get("RunTask", kRunGuide + std::string("}"));

  const auto second = api.Get("RunTask", kRunGuide + std::string("}"));

  CHECK(At(second, "/tasks") == "[]");
  CHECK(At(second, "/failures/0/arn") == api.instance());
  CHECK(At(second, "/failures/0/reason") == "RESOURCE:GPU");
  CHECK_THAT(At(second, "/failures/0/detail"), Catch::Contains("20480"));
}

TEST_CASE("the same client token starts nothing twice", "[api]") {
  Cluster api;
  const auto first = api.RunPlain(R"(,"clientToken":"t1","count":2,"startedBy":"x")");
  const auto again = api.Get(
      "RunTask", R"({"startedBy":"x","count":2.0,"clientToken":"t1","taskDefinition":"plain"})");

  CHECK(At(first, "/tasks/0/taskArn") == At(again, "/tasks/0/taskArn"));
  CHECK(api.Get("ListTasks", "{}")["taskArns"].Size() == 2);

  const ApiResponse conflict =
      api.Ask("RunTask", R"({"taskDefinition":"plain","count":1,"clientToken":"t1"})");
  CHECK(conflict.error_type == "ConflictException");
  CHECK_THAT(conflict.body, Catch::Contains(At(first, "/tasks/0/taskArn")));
  CHECK_THAT(conflict.body, Catch::Contains("resourceIds"));
}

TEST_CASE("StopTask marks the task, and repeats change nothing", "[api]") {
  Cluster api;
  const std::string arn = At(api.RunPlain(), "/tasks/0/taskArn");
  const std::string body = R"({"task":")" + arn + R"(","reason":"enough"})";

  const auto stopped = api.Get("StopTask", body);
  const auto again = api.Get("StopTask", body);

  CHECK(At(stopped, "/task/desiredStatus") == "STOPPED");
  CHECK(At(stopped, "/task/stopCode") == "UserInitiated");
  CHECK(At(stopped, "/task/stoppedReason") == "enough");
  CHECK(At(again, "/task/version") == At(stopped, "/task/version"));
  CHECK(At(api.Get("ListTasks", "{}"), "/taskArns") == "[]");
  CHECK(At(api.Get("ListTasks", R"({"desiredStatus":"STOPPED"})"), "/taskArns/0") == arn);
}

std::string Network(const std::string& list, int items) {
  std::string texts;
  for (int i = 0; i < items; ++i) texts += (i ? R"(,"s")" : R"("s")");
  const std::string subnets = list == "subnets" ? "" : R"("subnets":["s"],)";
  return kRunGuide + std::string() + R"(,"networkConfiguration":{"awsvpcConfiguration":{)" +
         subnets + "\"" + list + "\":[" + texts + "]}}}";
}

TEST_CASE("a network has at most 16 subnets and 5 security groups", "[api]") {
  Cluster api;

  CHECK(api.Ask("RunTask", Network("subnets", 16)).status == 200);
  CHECK(api.Refusal("RunTask", Network("subnets", 17)) ==
        "InvalidParameterException: subnets can have at most 16 items.");
  CHECK(api.Ask("RunTask", Network("securityGroups", 5)).status == 200);
  CHECK(api.Refusal("RunTask", Network("securityGroups", 6)) ==
        "InvalidParameterException: securityGroups can have at most 5 items.");
}

TEST_CASE("task actions say what they need", "[api]") {
  Cluster api;
  const std::string ghost = "0123456789abcdef0123456789abcdef";
  std::string many;
  for (int i = 0; i < 101; ++i) many += (i ? ",\"" : "\"") + ghost + "\"";

  CHECK(api.Refusal("StopTask", "{}") == "InvalidParameterException: Task can not be blank.");
  CHECK(api.Refusal("StopTask", Body("task", "xyz")) ==
        "InvalidParameterException: Task Identifier is invalid");
  CHECK(api.Refusal("StopTask", Body("task", ghost)) ==
        "InvalidParameterException: The referenced task was not found.");
  CHECK(api.Refusal("DescribeTasks", "{}") == "InvalidParameterException: Tasks cannot be empty.");
  CHECK(api.Refusal("DescribeTasks", R"({"tasks":[")" + ghost + R"("],"include":["TAG"]})") ==
        "InvalidParameterException: include[0] is 'TAG': it should be one of TAGS");
  CHECK_THAT(api.Refusal("DescribeTasks", R"({"tasks":[)" + many + "]}"),
             Catch::Contains("can have at most 100 items."));
  CHECK(At(api.Get("DescribeTasks", R"({"tasks":[")" + ghost + "\"]}"), "/failures") ==
        R"([{"arn":"arn:aws:ecs:us-east-1:000000000000:task/default/)" + ghost +
            R"(","reason":"MISSING"}])");
  CHECK(api.Refusal("StopTask",
                    Body("task", "arn:aws:ecs:us-east-1:000000000000:task/blue/" + ghost)) ==
        "InvalidParameterException: Identifier is for cluster blue. Your cluster is default");
  CHECK(api.Refusal("StopTask", Body("task", "arn:aws:ecs:us-east-1:9:task/default/" + ghost)) ==
        "InvalidParameterException: Identifier is for 9. Your accountId is 000000000000");
}

TEST_CASE("ListTasks takes every filter", "[api]") {
  Cluster api;
  const std::string arn = At(api.RunPlain(R"(,"startedBy":"me")"), "/tasks/0/taskArn");
  const std::string one = "[\"" + arn + "\"]";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{}", one},
      {R"({"family":"plain","startedBy":"me","launchType":"EC2","desiredStatus":"RUNNING"})", one},
      {R"({"containerInstance":")" + api.instance() + "\"}", one},
      {R"({"family":"plai"})", "[]"},
      {R"({"startedBy":"you"})", "[]"},
      {R"({"launchType":"EXTERNAL"})", "[]"},
      {R"({"desiredStatus":"PENDING"})", "[]"},
      {R"({"family":"","startedBy":"","serviceName":""})", one},
  };
  for (const auto& [body, arns] : cases) {
    INFO(body);
    CHECK(At(api.Get("ListTasks", body), "/taskArns") == arns);
  }
  CHECK(api.Refusal("ListTasks", Body("serviceName", "web")) ==
        "ServiceNotFoundException: Service not found.");
  CHECK_THAT(api.Refusal("ListTasks", Body("desiredStatus", "GONE")),
             Catch::Contains("it should be one of RUNNING, PENDING, STOPPED"));
  CHECK(api.Refusal("ListTasks", Body("cluster", "ghost")) ==
        "ClusterNotFoundException: Cluster not found.");
}

TEST_CASE("agents' reports show in the task", "[api]") {
  Cluster api;
  const std::string arn = At(api.RunPlain(), "/tasks/0/taskArn");
  const auto report = [&](const std::string& rest) {
    return api.Get("SubmitTaskStateChange", R"({"task":")" + arn + R"(",)" + rest + "}");
  };

  CHECK(At(report(R"("status":"RUNNING","pullStartedAt":1556310237.664,"containers":)"
                  R"([{"containerName":"a","status":"RUNNING","runtimeId":"r1","networkBindings":)"
                  R"([{"bindIP":"0.0.0.0","containerPort":80,"hostPort":32768,"protocol":"udp"},)"
                  R"({"bindIP":"0.0.0.0","containerPortRange":"1-2"}]}])"),
           "/acknowledgment") == "ACK");

  const auto running = api.Describe(arn);
  CHECK(At(running, "/tasks/0/lastStatus") == "RUNNING");
  CHECK(At(running, "/tasks/0/connectivity") == "CONNECTED");
  CHECK(At(running, "/tasks/0/pullStartedAt") == "1556310237.664");
  CHECK(At(running, "/tasks/0/containers/0/runtimeId") == "r1");
  CHECK(At(running, "/tasks/0/containers/0/networkBindings") ==
        R"([{"bindIP":"0.0.0.0","containerPort":80,"hostPort":32768,"protocol":"udp"}])");

  api.Get("SubmitContainerStateChange",
          R"({"task":")" + arn + R"(","containerName":"a","status":"DEAD","exitCode":137})");
  report(R"("status":"STOPPED","reason":"Essential container in task exited")");

  const auto stopped = api.Describe(arn);
  CHECK(At(stopped, "/tasks/0/lastStatus") == "STOPPED");
  CHECK(At(stopped, "/tasks/0/stopCode") == "EssentialContainerExited");
  CHECK(At(stopped, "/tasks/0/containers/0/exitCode") == "137");
}

TEST_CASE("reports that make no sense are refused, and those about nothing are not", "[api]") {
  Cluster api;
  const std::string task = R"("task":"0123456789abcdef0123456789abcdef")";

  CHECK(api.Ask("SubmitTaskStateChange", "{" + task + R"(,"status":"RUNNING"})").status == 200);
  CHECK(api.Ask("SubmitTaskStateChange",
                R"({"attachments":[{"attachmentArn":"a","status":"ATTACHED"}]})")
            .status == 200);
  CHECK_THAT(api.Refusal("SubmitTaskStateChange", "{" + task + R"(,"status":"BROKEN"})"),
             Catch::Contains("it should be one of PENDING, RUNNING, STOPPED"));
  CHECK_THAT(api.Refusal("SubmitTaskStateChange",
                         "{" + task + R"(,"containers":[{"containerName":"a","status":"ODD"}]})"),
             Catch::Contains("the status of container 'a' is 'ODD'"));
  CHECK_THAT(api.Refusal("SubmitTaskStateChange", "{" + task + R"(,"containers":[{}]})"),
             Catch::Contains("containerName is missing"));
  CHECK_THAT(api.Refusal("SubmitContainerStateChange", "{}"),
             Catch::Contains("Task Identifier is invalid"));
}

}  // namespace
}  // namespace berth::api

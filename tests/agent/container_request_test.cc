#include "agent/docker/container_request.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "agent/docker/docker_client.h"
#include "agent/json.h"

namespace berth::agent {
namespace {

TaskPayload OneContainer() {
  TaskPayload task;
  task.arn = "arn:aws:ecs:us-east-1:000000000000:task/default/3f2a";
  task.id = "3f2a";
  task.family = "web";
  task.version = "7";
  task.containers.resize(1);
  task.containers[0].name = "a";
  task.containers[0].image = "image:1";
  return task;
}

const ContainerContext kContext = {
    .cluster = "default", .instance = "agent-1", .region = "eu-west-1", .pause_container = "pause"};

json::Document Request(const TaskPayload& task) {
  json::Document body;
  REQUIRE(json::Parse(ContainerRequestBody(task, 0, kContext), body));
  return body;
}

bool Holds(const std::vector<std::string>& list, const std::string& text) {
  return std::count(list.begin(), list.end(), text) == 1;
}

TEST_CASE("a sharing container gets exactly the reserved variables, over everybody's", "[agent]") {
  ContainerPayload container;
  container.environment = {{"CUDA_MPS_PIPE_DIRECTORY", "/tmp/x"},
                           {"CUDA_VISIBLE_DEVICES", "3"},
                           {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "90"},
                           {"MINE", "1"}};
  container.gpu_ids = {{"GPU-simulated-1-3"}};
  container.share = model::NvidiaMps{.memory_mib = 4000, .max_compute_percent = 50};

  const std::vector<std::string> env = ContainerEnvironment(container, "r");

  CHECK(Holds(env, "CUDA_MPS_PIPE_DIRECTORY=/run/berth-mps"));
  CHECK(Holds(env, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=4000M"));  // 0 although it is the fourth GPU
  CHECK(Holds(env, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50"));
  CHECK(Holds(env, "NVIDIA_VISIBLE_DEVICES=GPU-simulated-1-3"));
  CHECK(Holds(env, "MINE=1"));
  // A name alone takes away what the image may set.
  CHECK(Holds(env, "CUDA_VISIBLE_DEVICES"));
  CHECK(Holds(env, "CUDA_MPS_LOG_DIRECTORY"));
  std::set<std::string> names;
  for (const std::string& variable : env) {
    INFO(variable);
    CHECK(names.insert(variable.substr(0, variable.find('='))).second);
  }
}

TEST_CASE("without a percentage there is none, not even the image's", "[agent]") {
  ContainerPayload container;
  container.gpu_ids = {{"g"}};
  container.share = model::NvidiaMps{.memory_mib = 1};

  const std::vector<std::string> env = ContainerEnvironment(container, "r");

  CHECK(Holds(env, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
}

TEST_CASE("only sharing containers get MPS variables", "[agent]") {
  ContainerPayload dedicated;
  dedicated.gpu_ids = {{"g0"}, {"g1"}};
  const std::vector<std::string> with_gpus = ContainerEnvironment(dedicated, "r");
  CHECK(Holds(with_gpus, "NVIDIA_VISIBLE_DEVICES=g0,g1"));

  const std::vector<std::string> without = ContainerEnvironment(ContainerPayload(), "r");
  CHECK(without == std::vector<std::string>{"AWS_DEFAULT_REGION=r", "AWS_REGION=r"});
  for (const std::string& variable : with_gpus) CHECK(variable.find("CUDA_") == std::string::npos);
}

TEST_CASE("a sharing container gets its GPU and its daemon's directory (49, 50, 51)", "[agent]") {
  TaskPayload task = OneContainer();
  task.containers[0].gpu_ids = {{"GPU-3"}};
  task.containers[0].share = model::NvidiaMps{.memory_mib = 4000, .max_compute_percent = 50};
  task.containers[0].docker_host_config =
      R"({"Binds":["/tmp/x:/run/berth-mps:ro","/data:/data"],"DeviceRequests":[{"Count":-1}]})";
  ContainerContext context = kContext;
  context.gpu_access = GpuAccess::kDeviceRequest;
  context.mps_directory = "/run/berth/mps/3";
  json::Document body;
  REQUIRE(json::Parse(ContainerRequestBody(task, 0, context), body));
  const json::Value& host = body["HostConfig"];
  CHECK(json::ToText(host["DeviceRequests"]) ==
        R"([{"Driver":"nvidia","DeviceIDs":["GPU-3"],)"
        R"("Capabilities":[["gpu","compute","utility"]]}])");
  CHECK(json::ToText(host["Binds"]) == R"(["/data:/data","/run/berth/mps/3:/run/berth-mps"])");

  context.gpu_access = GpuAccess::kCdi;
  REQUIRE(json::Parse(ContainerRequestBody(task, 0, context), body));
  CHECK(json::ToText(body["HostConfig"]["DeviceRequests"]) ==
        R"([{"Driver":"cdi","DeviceIDs":["nvidia.com/gpu=GPU-3"]}])");
}

TEST_CASE("whole GPUs come without a daemon's directory (66), none without a GPU", "[agent]") {
  TaskPayload task = OneContainer();
  ContainerContext context = kContext;
  context.gpu_access = GpuAccess::kDeviceRequest;
  json::Document body;
  REQUIRE(json::Parse(ContainerRequestBody(task, 0, context), body));
  CHECK_FALSE(body["HostConfig"].HasMember("DeviceRequests"));
  task.containers[0].gpu_ids = {{"GPU-1"}, {"GPU-2"}};
  REQUIRE(json::Parse(ContainerRequestBody(task, 0, context), body));
  CHECK(json::ToText(body["HostConfig"]["DeviceRequests"][0]["DeviceIDs"]) ==
        R"(["GPU-1","GPU-2"])");
  CHECK_FALSE(body["HostConfig"].HasMember("Binds"));
}

TEST_CASE("resources go to Docker in its units", "[agent]") {
  TaskPayload task = OneContainer();
  task.containers[0].cpu_units = 512;
  task.containers[0].memory_mib = 64;
  task.memory_mib = 256;

  json::Document body = Request(task);
  CHECK(body["HostConfig"]["CpuShares"].GetInt64() == 512);
  CHECK(body["HostConfig"]["Memory"].GetInt64() == 64 * 1024 * 1024);

  task.containers[0].cpu_units = 0;
  task.containers[0].memory_mib = 0;
  body = Request(task);
  CHECK(body["HostConfig"]["CpuShares"].GetInt64() == 2);
  CHECK(body["HostConfig"]["Memory"].GetInt64() == 256 * 1024 * 1024);
}

TEST_CASE("the payload's Docker objects merge over ours, and their scalars replace", "[agent]") {
  TaskPayload task = OneContainer();
  task.containers[0].docker_config =
      "{\"User\":\"1000\",\"Labels\":{\"mine\":\"1\",\"berth.instance\":\"forged\"}}";
  task.containers[0].docker_host_config = "{\"CpuShares\":77,\"Privileged\":true}";

  const json::Document body = Request(task);

  CHECK(json::StringOr(body, "User") == "1000");
  CHECK(json::StringOr(body["Labels"], "mine") == "1");
  CHECK(json::StringOr(body["Labels"], "berth.instance") == "agent-1");
  CHECK(json::StringOr(body["Labels"], "com.amazonaws.ecs.task-arn") == task.arn);
  CHECK(json::StringOr(body["Labels"], "com.amazonaws.ecs.container-name") == "a");
  CHECK(body["HostConfig"]["CpuShares"].GetInt64() == 77);
  CHECK(body["HostConfig"]["Privileged"].GetBool());
}

TEST_CASE("ports are published in bridge mode alone", "[agent]") {
  TaskPayload task = OneContainer();
  task.containers[0].ports = {{.container_port = 80, .host_port = 8080}, {.container_port = 81}};

  json::Document body = Request(task);
  const json::Value& bindings = body["HostConfig"]["PortBindings"];
  CHECK(json::StringOr(bindings["80/tcp"][0], "HostPort") == "8080");
  CHECK(json::StringOr(bindings["81/tcp"][0], "HostPort").empty());

  for (const model::NetworkMode mode :
       {model::NetworkMode::kHost, model::NetworkMode::kNone, model::NetworkMode::kAwsvpc}) {
    task.network_mode = mode;
    body = Request(task);
    CHECK_FALSE(body["HostConfig"].HasMember("PortBindings"));
  }
}

TEST_CASE("a container of an awsvpc task joins the task's network, whatever the payload says",
          "[agent]") {
  TaskPayload task = OneContainer();
  task.network_mode = model::NetworkMode::kAwsvpc;
  task.containers[0].ports = {{.container_port = 80, .host_port = 80}};
  task.containers[0].docker_config = "{\"Hostname\":\"h\"}";
  task.containers[0].docker_host_config = "{\"NetworkMode\":\"bridge\",\"Dns\":[\"1.1.1.1\"]}";

  const json::Document body = Request(task);

  CHECK(json::StringOr(body["HostConfig"], "NetworkMode") == "container:pause");
  CHECK_FALSE(body.HasMember("ExposedPorts"));
  CHECK_FALSE(body.HasMember("Hostname"));
  CHECK_FALSE(body["HostConfig"].HasMember("Dns"));
}

TEST_CASE("image names split as Docker splits them", "[agent]") {
  using Pair = std::pair<std::string, std::string>;
  CHECK(SplitImageName("nginx") == Pair("nginx", "latest"));
  CHECK(SplitImageName("nginx:1") == Pair("nginx", "1"));
  CHECK(SplitImageName("host:5000/a/nginx") == Pair("host:5000/a/nginx", "latest"));
  CHECK(SplitImageName("host:5000/nginx:2") == Pair("host:5000/nginx", "2"));
  CHECK(SplitImageName("nginx@sha256:ab") == Pair("nginx", "sha256:ab"));
}

TEST_CASE("volumes, volumesFrom and links go in Docker's words", "[agent]") {
  TaskPayload task = OneContainer();
  task.volumes = {{.name = "host", .host_path = "/srv/data"},
                  {.name = "own"},
                  {.name = "common", .shared = true}};
  ContainerPayload& a = task.containers[0];
  a.mounts = {{.volume = 0, .container_path = "/h", .read_only = true},
              {.volume = 1, .container_path = "/o"},
              {.volume = 2, .container_path = "/c"}};
  ContainerPayload b = a;
  b.name = "b";
  task.containers.push_back(b);
  task.containers[0].volumes_from = {{.container = 1, .read_only = true}};
  task.containers[0].links = {{.container = 1, .alias = "db"}};
  ContainerContext context = kContext;
  context.siblings = {{"b", "id-of-b"}};

  json::Document body;
  REQUIRE(json::Parse(ContainerRequestBody(task, 0, context), body));

  const json::Value& host = body["HostConfig"];
  CHECK(json::ToText(host["Binds"]) ==
        R"(["/srv/data:/h:ro","ecs-web-7-own-3f2a:/o","common:/c"])");
  CHECK(json::ToText(host["VolumesFrom"]) == R"(["id-of-b:ro"])");
  CHECK(json::ToText(host["Links"]) == R"(["id-of-b:db"])");
}

TEST_CASE("namespaces are the container's own, the task's or the machine's", "[agent]") {
  struct NamespaceCase {
    NamespaceMode mode;
    std::string pid;
    std::string ipc;
    bool needs_pause;
  };
  const auto c = GENERATE(values<NamespaceCase>({
      {NamespaceMode::kOwn, "", "", false},
      {NamespaceMode::kTask, "container:pause", "container:pause", true},
      {NamespaceMode::kHost, "host", "host", false},
  }));
  TaskPayload task = OneContainer();
  task.pid_mode = c.mode;
  task.ipc_mode = c.mode;

  const json::Document body = Request(task);

  CHECK(json::StringOr(body["HostConfig"], "PidMode") == c.pid);
  CHECK(json::StringOr(body["HostConfig"], "IpcMode") == c.ipc);
  CHECK(NeedsPauseContainer(task) == c.needs_pause);
}

TEST_CASE("secret options of the log driver join its others", "[agent]") {
  TaskPayload task = OneContainer();
  task.containers[0].docker_host_config =
      R"({"LogConfig":{"Type":"splunk","Config":{"splunk-url":"u"}}})";
  task.containers[0].log_options = {{"splunk-token", "t"}};

  const json::Document body = Request(task);

  CHECK(json::ToText(body["HostConfig"]["LogConfig"]) ==
        R"({"Type":"splunk","Config":{"splunk-url":"u","splunk-token":"t"}})");
}

}  // namespace
}  // namespace berth::agent

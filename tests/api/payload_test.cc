// The task as agents are told of it (agent-protocol.md 2.8), from a task as the core keeps it.
#include "api/payload.h"

#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

namespace berth::api {
namespace {

using model::ContainerDefinition;

struct Given {
  model::TaskSpec spec = {};
  std::string document = "{}";
  std::vector<model::TaskContainer> containers = {};
};

ContainerDefinition Container(const std::string& name) {
  ContainerDefinition container;
  container.name = name;
  container.image = "img:1";
  return container;
}

std::string Encode(const Given& given) {
  auto definition = std::make_shared<model::TaskDefinition>();
  definition->id = {"fam", 7};
  definition->document = std::make_shared<const std::string>(given.document);
  model::Task task;
  task.id = {"0123456789abcdef0123456789abcdef"};
  task.cluster = {"prod"};
  task.definition = definition;
  task.spec = std::make_shared<const model::TaskSpec>(given.spec);
  task.launch_type = model::LaunchType::kManagedInstances;
  task.group = "family:fam";
  task.containers = given.containers;
  return EncodeTaskPayload(task, {});
}

rapidjson::Document Parse(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  INFO(text);
  REQUIRE_FALSE(document.HasParseError());
  return document;
}

// Docker's part of the first container.
std::string HostConfig(const Given& given) {
  const auto payload = Parse(Encode(given));
  return payload["containers"][0]["dockerConfig"]["hostConfig"].GetString();
}

std::vector<std::string> Unsupported(const Given& given) {
  const auto payload = Parse(Encode(given));
  std::vector<std::string> members;
  if (!payload.HasMember("berthUnsupported")) return members;
  for (const auto& member : payload["berthUnsupported"].GetArray()) {
    members.emplace_back(member.GetString());
  }
  return members;
}

}  // namespace

TEST_CASE("the smallest task has the smallest payload", "[payload]") {
  Given given;
  given.spec.network_mode = model::NetworkMode::kHost;
  given.spec.containers = {Container("a")};
  given.spec.containers[0].command = {"sleep", "1"};

  CHECK(Encode(given) ==
        R"({"arn":"arn:aws:ecs:us-east-1:000000000000:task/prod/0123456789abcdef0123456789abcdef",)"
        R"("family":"fam","version":"7","desiredStatus":"RUNNING","networkMode":"host",)"
        R"("launchType":"MANAGED_INSTANCES","group":"family:fam","containers":[{"name":"a",)"
        R"("image":"img:1","cpu":0,"essential":true,"command":["sleep","1"],)"
        R"("dockerConfig":{"hostConfig":"{\"NetworkMode\":\"host\"}"}}]})");
}

TEST_CASE("CPU goes as a fraction of a vCPU, memory in MiB", "[payload]") {
  Given given;
  given.spec.containers = {Container("a")};
  given.spec.cpu_units = 256;
  given.spec.memory_mib = 512;
  given.spec.containers[0].cpu_units = 128;
  given.spec.containers[0].memory_mib = 300;
  given.spec.containers[0].memory_reservation_mib = 200;

  const auto payload = Parse(Encode(given));

  CHECK(payload["cpu"].GetDouble() == 0.25);
  CHECK(payload["memory"].GetInt() == 512);
  CHECK(payload["containers"][0]["cpu"].GetInt() == 128);
  CHECK(payload["containers"][0]["memory"].GetInt() == 300);
  CHECK(HostConfig(given) == R"({"NetworkMode":"bridge","MemoryReservation":209715200})");
}

TEST_CASE("environment is a map in which the last of a name wins", "[payload]") {
  Given given;
  given.spec.containers = {Container("a")};
  given.spec.containers[0].environment = {{"A", "1"}, {"B", "quote\" and \\"}, {"A", "2"}};

  const auto payload = Parse(Encode(given));

  const auto& environment = payload["containers"][0]["environment"];
  CHECK(environment.MemberCount() == 2);
  CHECK(environment["A"].GetString() == std::string("2"));
  CHECK(environment["B"].GetString() == std::string("quote\" and \\"));
}

TEST_CASE("the host port of a mapping depends on the network", "[payload]") {
  struct Case {
    std::string why;
    model::NetworkMode mode;
    std::optional<int64_t> host_port;
    int sent;
  };
  const auto c = GENERATE(values<Case>({
      {"given", model::NetworkMode::kBridge, 8080, 8080},
      {"left to the agent", model::NetworkMode::kBridge, std::nullopt, 0},
      {"left to the agent, spelled out", model::NetworkMode::kBridge, 0, 0},
      {"the container's own", model::NetworkMode::kHost, std::nullopt, 80},
      {"the task's own network", model::NetworkMode::kAwsvpc, std::nullopt, 80},
  }));
  INFO(c.why);
  Given given;
  given.spec.network_mode = c.mode;
  given.spec.containers = {Container("a")};
  given.spec.containers[0].port_mappings = {{.container_port = 80, .host_port = c.host_port}};

  const auto payload = Parse(Encode(given));

  const auto& port = payload["containers"][0]["portMappings"][0];
  CHECK(port["containerPort"].GetInt() == 80);
  CHECK(port["hostPort"].GetInt() == c.sent);
  CHECK(port["protocol"].GetString() == std::string("tcp"));
}

TEST_CASE("a sharing strategy goes as it was asked for, and names its one GPU once", "[payload]") {
  Given given;
  given.spec.containers = {Container("big"), Container("small"), Container("router")};
  const auto share = [](int64_t memory, std::optional<int64_t> percent) {
    return model::ResourceRequirement{
        .type = "GPU",
        .sharing_strategy = model::ResourceRequirement::SharingStrategy{
            .has_nvidia_mps = true, .memory_mib = memory, .max_compute_percent = percent}};
  };
  given.spec.containers[0].resource_requirements = {share(12288, 50)};
  given.spec.containers[1].resource_requirements = {share(8192, std::nullopt)};
  given.containers = {{.name = "big", .uuid = "u1", .gpu_ids = {{"GPU-1"}}},
                      {.name = "small", .uuid = "u2", .gpu_ids = {{"GPU-1"}}},
                      {.name = "router", .uuid = "u3"}};

  const std::string text = Encode(given);

  CHECK(text.find(R"("resourceRequirements":[{"type":"GPU","sharingStrategy":{"nvidiaMps":)"
                  R"({"memory":12288,"maxComputePercent":50}}}])") != std::string::npos);
  CHECK(text.find(R"("sharingStrategy":{"nvidiaMps":{"memory":8192}})") != std::string::npos);
  CHECK(
      text.find(R"("associations":[{"type":"gpu","name":"GPU-1","containers":["big","small"]}])") !=
      std::string::npos);
  const auto payload = Parse(text);
  CHECK_FALSE(payload["containers"][2].HasMember("resourceRequirements"));
  CHECK(payload["containers"][0]["containerArn"].GetString() ==
        std::string("arn:aws:ecs:us-east-1:000000000000:container/prod/"
                    "0123456789abcdef0123456789abcdef/u1"));
}

TEST_CASE("whole GPUs are one association each", "[payload]") {
  Given given;
  given.spec.containers = {Container("a")};
  given.spec.containers[0].resource_requirements = {{.type = "GPU", .value = "2"}};
  given.containers = {{.name = "a", .gpu_ids = {{"GPU-1"}, {"GPU-2"}}}};

  const std::string text = Encode(given);

  CHECK(text.find(R"("resourceRequirements":[{"type":"GPU","value":"2"}])") != std::string::npos);
  CHECK(text.find(R"("associations":[{"type":"gpu","name":"GPU-1","containers":["a"]},)"
                  R"({"type":"gpu","name":"GPU-2","containers":["a"]}])") != std::string::npos);
}

TEST_CASE("what only Docker knows goes in Docker's own words", "[payload]") {
  Given given;
  given.spec.containers = {Container("a")};
  ContainerDefinition& a = given.spec.containers[0];
  a.memory_mib = 100;
  a.user = "1000:1000";
  a.hostname = "h";
  a.health_check = model::HealthCheck{.command = {"CMD", "true"}, .retries = 5};
  a.privileged = true;
  a.ulimits = {{"nofile", 1024, 2048}};
  a.dns_servers = {"10.0.0.2"};
  a.docker_security_options = {"no-new-privileges"};
  a.log_configuration =
      model::LogConfiguration{.driver = "json-file", .options = {{"max-size", "1m"}}};
  a.max_swap_mib = 50;
  a.swappiness = 60;
  given.document = R"({"containerDefinitions":[{"name":"other"},{"name":"a",
    "workingDirectory":"/w","dockerLabels":{"l":"v"},"pseudoTerminal":true,"interactive":true,
    "readonlyRootFilesystem":true,"extraHosts":[{"hostname":"db","ipAddress":"10.0.0.9"}],
    "systemControls":[{"namespace":"net.core.somaxconn","value":"1024"}],
    "linuxParameters":{"capabilities":{"add":["SYS_PTRACE"],"drop":["NET_RAW"]},
      "initProcessEnabled":true,"sharedMemorySize":64,
      "devices":[{"hostPath":"/dev/fuse","permissions":["read","write"]}],
      "tmpfs":[{"containerPath":"/t","size":16,"mountOptions":["noexec"]}]}}]})";

  const auto payload = Parse(Encode(given));

  const auto& container = payload["containers"][0];
  CHECK(container["healthCheckType"].GetString() == std::string("docker"));
  CHECK(container["dockerConfig"]["config"].GetString() ==
        std::string(R"({"User":"1000:1000","Hostname":"h","WorkingDir":"/w","Tty":true,)"
                    R"("OpenStdin":true,"Labels":{"l":"v"},"Healthcheck":{"Test":["CMD","true"],)"
                    R"("Interval":30000000000,"Timeout":5000000000,"Retries":5}})"));
  CHECK(HostConfig(given) ==
        R"({"NetworkMode":"bridge","LogConfig":{"Type":"json-file","Config":{"max-size":"1m"}},)"
        R"("Privileged":true,"ReadonlyRootfs":true,)"
        R"("Ulimits":[{"Name":"nofile","Soft":1024,"Hard":2048}],"Dns":["10.0.0.2"],)"
        R"("SecurityOpt":["no-new-privileges"],"ExtraHosts":["db:10.0.0.9"],)"
        R"("Sysctls":{"net.core.somaxconn":"1024"},"CapAdd":["SYS_PTRACE"],"CapDrop":["NET_RAW"],)"
        R"("Devices":[{"PathOnHost":"/dev/fuse","PathInContainer":"/dev/fuse",)"
        R"("CgroupPermissions":"rw"}],"Tmpfs":{"/t":"size=16m,noexec"},"Init":true,)"
        R"("ShmSize":67108864,"MemorySwap":157286400,"MemorySwappiness":60})");
}

TEST_CASE("the network is Docker's except where the agent makes the task's own", "[payload]") {
  Given given;
  given.spec.containers = {Container("a")};
  given.spec.network_mode = model::NetworkMode::kNone;
  CHECK(HostConfig(given) == R"({"NetworkMode":"none"})");

  given.spec.network_mode = model::NetworkMode::kBridge;
  given.spec.containers[0].disable_networking = true;
  CHECK(HostConfig(given) == R"({"NetworkMode":"none"})");

  given.spec.containers[0].disable_networking = false;
  given.spec.network_mode = model::NetworkMode::kAwsvpc;
  CHECK_FALSE(Parse(Encode(given))["containers"][0].HasMember("dockerConfig"));
}

TEST_CASE("volumes, mounts, order and stop times are carried", "[payload]") {
  Given given;
  given.spec.containers = {Container("a"), Container("b")};
  ContainerDefinition& b = given.spec.containers[1];
  b.essential = false;
  b.mount_points = {{"data", "/data", true}};
  b.volumes_from = {{"a", false}};
  b.links = {"a:db"};
  b.depends_on = {{"a", "HEALTHY"}};
  b.start_timeout_seconds = 60;
  b.stop_timeout_seconds = 5;
  b.entry_point = {"/bin/sh", "-c"};
  b.restart_policy = model::RestartPolicy{
      .enabled = true, .ignored_exit_codes = {0}, .attempt_period_seconds = 60};
  given.spec.volumes = {{.name = "data", .has_host = true, .host_source_path = "/srv"},
                        {.name = "scratch"},
                        {.name = "shared", .has_docker = true, .docker_driver = "local"}};
  given.document = R"({"volumes":[{"name":"shared","dockerVolumeConfiguration":
    {"scope":"shared","autoprovision":true,"driverOpts":{"o":"uid=1"},"labels":{"l":"v"}}}]})";

  const std::string text = Encode(given);

  CHECK(text.find(
            R"({"name":"b","image":"img:1","cpu":0,"essential":false,)"
            R"("entryPoint":["/bin/sh","-c"],)"
            R"("mountPoints":[{"sourceVolume":"data","containerPath":"/data","readOnly":true}],)"
            R"("volumesFrom":[{"sourceContainer":"a","readOnly":false}],"links":["a:db"],)"
            R"("dependsOn":[{"containerName":"a","condition":"HEALTHY"}],"startTimeout":60,)"
            R"("stopTimeout":5,"restartPolicy":{"enabled":true,"ignoredExitCodes":[0],)"
            R"("restartAttemptPeriod":60},)") != std::string::npos);
  CHECK(text.find(R"("volumes":[{"name":"data","host":{"sourcePath":"/srv"}},)"
                  R"({"name":"scratch","host":{}},{"name":"shared","type":"docker",)"
                  R"("dockerVolumeConfiguration":{"scope":"shared","autoprovision":true,)"
                  R"("driver":"local","driverOpts":{"o":"uid=1"},"labels":{"l":"v"}}}])") !=
        std::string::npos);
}

TEST_CASE("secrets go by name, with where they are and what for", "[payload]") {
  Given given;
  given.spec.containers = {Container("a")};
  const std::string arn = "arn:aws:secretsmanager:eu-west-1:000000000000:secret:db-AbCdEf";
  given.spec.containers[0].secrets = {{"PASSWORD", arn}, {"PIN", "/prod/pin"}};
  given.spec.containers[0].log_configuration = {
      {.driver = "splunk", .secret_options = {{"splunk-token", "token"}}}};

  const std::string text = Encode(given);

  CHECK(text.find(R"("secrets":[{"name":"PASSWORD","valueFrom":")" + arn +
                  R"(","provider":"asm","region":"eu-west-1","type":"ENVIRONMENT_VARIABLE",)"
                  R"("target":"CONTAINER"},{"name":"PIN","valueFrom":"/prod/pin","provider":"ssm",)"
                  R"("type":"ENVIRONMENT_VARIABLE","target":"CONTAINER"},{"name":"splunk-token",)"
                  R"("valueFrom":"token","provider":"ssm","type":"ENVIRONMENT_VARIABLE",)"
                  R"("target":"LOG_DRIVER"}])") != std::string::npos);
  CHECK(Unsupported(given).empty());
}

TEST_CASE("what cannot be carried is named, not left out in silence", "[payload]") {
  struct Case {
    std::string why;
    std::function<void(Given&)> ask;
    std::string named;
  };
  const auto c = GENERATE(values<Case>({
      {"environment files",
       [](Given& g) {
         g.spec.containers[0].environment_files = {{"s3", "x"}};
       },
       "containers[a].environmentFiles"},
      {"firelens", [](Given& g) { g.spec.containers[0].firelens_type = "fluentbit"; },
       "containers[a].firelensConfiguration"},
      {"logs to firelens",
       [](Given& g) { g.spec.containers[0].log_configuration = {{.driver = "awsfirelens"}}; },
       "containers[a].logConfiguration.logDriver"},
      {"a private registry",
       [](Given& g) { g.spec.containers[0].has_repository_credentials = true; },
       "containers[a].repositoryCredentials"},
      {"another accelerator",
       [](Given& g) {
         g.spec.containers[0].resource_requirements = {
             {.type = "InferenceAccelerator", .value = "x"}};
       },
       "containers[a].resourceRequirements"},
      {"EFS", [](Given& g) { g.spec.volumes = {{.name = "v", .has_efs = true}}; },
       "volumes[v].efsVolumeConfiguration"},
      {"a volume made at launch",
       [](Given& g) { g.spec.volumes = {{.name = "v", .configured_at_launch = true}}; },
       "volumes[v].configuredAtLaunch"},
      {"a proxy", [](Given& g) { g.spec.has_proxy_configuration = true; }, "proxyConfiguration"},
      {"Windows", [](Given& g) { g.spec.operating_system_family = "WINDOWS_SERVER_2022_CORE"; },
       "runtimePlatform.operatingSystemFamily"},
      {"credential specs",
       [](Given& g) {
         g.document =
             R"({"containerDefinitions":[{"name":"a","credentialSpecs":["credentialspec:x"]}]})";
       },
       "containers[a].credentialSpecs"},
  }));
  INFO(c.why);
  Given given;
  given.spec.containers = {Container("a")};
  CHECK(Unsupported(given).empty());

  c.ask(given);

  CHECK(Unsupported(given) == std::vector<std::string>{c.named});
}

}  // namespace berth::api

#include <algorithm>

#include <catch2/catch.hpp>

#include "model/capabilities.h"
#include "model/container_instance.h"
#include "spec_builder.h"

namespace berth::model {
namespace {

TEST_CASE("a task's cpu is read as units or as vCPU", "[traits]") {
  struct Case {
    std::string text;
    std::optional<int64_t> units;
  };
  const std::vector<Case> cases = {
      {"1024", 1024},
      {"1 vCPU", 1024},
      {"1vcpu", 1024},
      {"2 VCPU", 2048},
      {".5 vCPU", 512},
      {"0.25 vCPU", 256},
      {"1.5vCPU", 1536},
      {".3 vCPU", 308},  // 307.2: a demand is never rounded down
      {"192 vCPU", 196608},
      {"0", 0},
      {"999999999", 999999999},
      {"1000000000", std::nullopt},  // ten digits are never right
      {"99999999999999999999999", std::nullopt},
      {"99999999999999999999999 vCPU", std::nullopt},
      {".99999999999999999999 vCPU", std::nullopt},
      {"", std::nullopt},
      {"vCPU", std::nullopt},
      {" vCPU", std::nullopt},
      {". vCPU", std::nullopt},
      {"1. vCPU", std::nullopt},
      {"1.5.5 vCPU", std::nullopt},
      {"-1", std::nullopt},
      {"-1 vCPU", std::nullopt},
      {"+1", std::nullopt},
      {"1.5", std::nullopt},
      {"1 GB", std::nullopt},
      {"1e3", std::nullopt},
      {" 1024", std::nullopt},
      {"lots", std::nullopt},
  };
  for (const Case& c : cases) {
    INFO("'" << c.text << "'");
    CHECK(ParseCpuUnits(c.text) == c.units);
  }
}

TEST_CASE("a task's memory is read as MiB or as GB", "[traits]") {
  struct Case {
    std::string text;
    std::optional<int64_t> mib;
  };
  const std::vector<Case> cases = {
      {"512", 512},       {"1GB", 1024},           {"1 GB", 1024},
      {"2gb", 2048},      {"0.5 GB", 512},         {"30 Gb", 30720},
      {".0001 GB", 1},    {"512MB", std::nullopt}, {"1 vCPU", std::nullopt},
      {"", std::nullopt}, {"GB", std::nullopt},    {"-1GB", std::nullopt},
  };
  for (const Case& c : cases) {
    INFO("'" << c.text << "'");
    CHECK(ParseMemoryMib(c.text) == c.mib);
  }
}

TEST_CASE("the network mode is bridge unless given, and awsvpc where FARGATE is required",
          "[traits]") {
  TaskSpec spec = Spec();
  CHECK(EffectiveNetworkMode(spec) == NetworkMode::kBridge);

  spec.requires_compatibilities = {"EC2"};
  CHECK(EffectiveNetworkMode(spec) == NetworkMode::kBridge);

  spec.requires_compatibilities = {"EC2", "FARGATE"};
  CHECK(EffectiveNetworkMode(spec) == NetworkMode::kAwsvpc);

  spec.network_mode = NetworkMode::kHost;
  CHECK(EffectiveNetworkMode(spec) == NetworkMode::kHost);
}

TEST_CASE("compatibilities are the launch types that the definition would validate against",
          "[traits]") {
  using enum LaunchType;
  struct Case {
    std::string why;
    Change change;
    std::vector<LaunchType> compatible;
  };
  const auto awsvpc = [](TaskSpec& s) {
    s.network_mode = NetworkMode::kAwsvpc;
    SetCpu(s, "256");
    SetMemory(s, "512");
  };
  // What stands in Fargate's way, on top of a definition that suits it.
  const auto on_awsvpc = [awsvpc](Change change) {
    return [awsvpc, change = std::move(change)](TaskSpec& s) {
      awsvpc(s);
      change(s);
    };
  };
  const std::vector<Case> cases = {
      {"bridge", [](TaskSpec&) {}, {kEc2, kExternal}},
      {"host",
       [](TaskSpec& s) { s.network_mode = NetworkMode::kHost; },
       {kEc2, kExternal, kManagedInstances}},
      {"none",
       [](TaskSpec& s) { s.network_mode = NetworkMode::kNone; },
       {kEc2, kExternal, kManagedInstances}},
      {"awsvpc with a Fargate pair", awsvpc, {kEc2, kFargate, kManagedInstances}},
      {"awsvpc without a size",
       [](TaskSpec& s) { s.network_mode = NetworkMode::kAwsvpc; },
       {kEc2, kManagedInstances}},
      {"no Fargate pair",
       on_awsvpc([](TaskSpec& s) { SetMemory(s, "600"); }),
       {kEc2, kManagedInstances}},
      {"17: a share of a GPU, bridge",
       [](TaskSpec& s) { s.containers[0].resource_requirements = {Mps(1000)}; },
       {kEc2}},
      {"17: a share of a GPU, awsvpc",
       on_awsvpc([](TaskSpec& s) { s.containers[0].resource_requirements = {Mps(1000)}; }),
       {kEc2, kManagedInstances}},
      {"whole GPUs may be external",
       [](TaskSpec& s) { s.containers[0].resource_requirements = {Whole("1")}; },
       {kEc2, kExternal}},
      {"whole GPUs are not on Fargate",
       on_awsvpc([](TaskSpec& s) { s.containers[0].resource_requirements = {Whole("1")}; }),
       {kEc2, kManagedInstances}},
      {"privileged",
       on_awsvpc([](TaskSpec& s) { s.containers[0].privileged = true; }),
       {kEc2, kManagedInstances}},
      {"pid mode host",
       on_awsvpc([](TaskSpec& s) { s.pid_mode = "host"; }),
       {kEc2, kManagedInstances}},
      {"pid mode task",
       on_awsvpc([](TaskSpec& s) { s.pid_mode = "task"; }),
       {kEc2, kFargate, kManagedInstances}},
      {"ipc mode", on_awsvpc([](TaskSpec& s) { s.ipc_mode = "task"; }), {kEc2, kManagedInstances}},
      {"placement constraints",
       on_awsvpc([](TaskSpec& s) {
         s.placement_constraints = {{"memberOf", "a == b"}};
       }),
       {kEc2, kManagedInstances}},
      {"a Docker volume",
       on_awsvpc([](TaskSpec& s) { s.volumes = {{.name = "v", .has_docker = true}}; }),
       {kEc2}},
      {"a host path",
       on_awsvpc([](TaskSpec& s) {
         s.volumes = {{.name = "v", .has_host = true, .host_source_path = "/data"}};
       }),
       {kEc2, kManagedInstances}},
      {"a log driver that only EC2 has",
       on_awsvpc([](TaskSpec& s) {
         s.containers[0].log_configuration = LogConfiguration{.driver = "gelf"};
       }),
       {kEc2}},
      {"json-file logs",
       on_awsvpc([](TaskSpec& s) {
         s.containers[0].log_configuration = LogConfiguration{.driver = "json-file"};
       }),
       {kEc2, kManagedInstances}},
      {"links",
       [](TaskSpec& s) {
         s.containers.push_back(Container("db"));
         s.containers[0].links = {"db"};
       },
       {kEc2, kExternal}},
      {"EFS", [](TaskSpec& s) { s.volumes = {{.name = "v", .has_efs = true}}; }, {kEc2}},
      {"FSx", [](TaskSpec& s) { s.volumes = {{.name = "v", .has_fsx = true}}; }, {kEc2}},
      {"a proxy", [](TaskSpec& s) { s.has_proxy_configuration = true; }, {kEc2}},
      {"fault injection", [](TaskSpec& s) { s.enable_fault_injection = true; }, {kEc2}},
      {"a ulimit that Fargate lacks",
       on_awsvpc([](TaskSpec& s) {
         s.containers[0].ulimits = {{"core", 1, 1}};
       }),
       {kEc2, kManagedInstances}},
      {"nofile on Fargate",
       on_awsvpc([](TaskSpec& s) {
         s.containers[0].ulimits = {{"nofile", 1, 1}};
       }),
       {kEc2, kFargate, kManagedInstances}},
      {"a stop timeout that Fargate lacks",
       on_awsvpc([](TaskSpec& s) { s.containers[0].stop_timeout_seconds = 121; }),
       {kEc2, kManagedInstances}},
  };
  for (const Case& c : cases) {
    INFO(c.why);
    const TaskSpec spec = Changed(Spec(), c.change);
    CHECK(Refusal(spec) == "");
    CHECK(ComputeCompatibilities(spec) == c.compatible);
  }
}

TEST_CASE("Fargate has a memory range for each cpu, and nothing between its steps", "[traits]") {
  struct Case {
    std::string cpu;
    std::vector<std::string> fits;
    std::vector<std::string> misses;
  };
  const std::vector<Case> cases = {
      {"256", {"512", "1024", "2048"}, {"511", "1536", "3072"}},
      {"512", {"1024", "4096"}, {"512", "5120", "1025"}},
      {"1024", {"2048", "8192"}, {"1024", "9216"}},
      {"2048", {"4096", "16384"}, {"3072", "17408"}},
      {"4096", {"8192", "30720"}, {"7168", "31744"}},
      {"8192", {"16 GB", "20 GB", "60 GB"}, {"12 GB", "17 GB", "64 GB"}},
      {"16384", {"32 GB", "40 GB", "120 GB"}, {"24 GB", "36 GB", "128 GB"}},
      {"768", {}, {"1024", "2048"}},
  };
  for (const Case& c : cases) {
    const auto refusal = [&](const std::string& memory) {
      TaskSpec spec = Spec();
      spec.requires_compatibilities = {"FARGATE"};
      SetCpu(spec, c.cpu);
      SetMemory(spec, memory);
      return Refusal(spec);
    };
    for (const std::string& memory : c.fits) {
      INFO(c.cpu << " with " << memory);
      CHECK(refusal(memory) == "");
    }
    for (const std::string& memory : c.misses) {
      INFO(c.cpu << " with " << memory);
      CHECK(refusal(memory) == "No Fargate configuration exists for given values.");
    }
  }
}

struct AttributeCase {
  std::string why;
  Change change;
  std::vector<std::string> attributes;
};

std::vector<AttributeCase> AttributeCases() {
  const std::string com = "com.amazonaws.ecs.capability.";
  const std::string ecs = "ecs.capability.";
  const auto app = [](auto change) { return [change](TaskSpec& s) { change(s.containers[0]); }; };
  return {
      {"nothing special", [](TaskSpec&) {}, {}},
      {"a log driver",
       app([](auto& c) { c.log_configuration = LogConfiguration{.driver = "syslog"}; }),
       {com + "docker-remote-api.1.18", com + "logging-driver.syslog"}},
      {"awslogs with an execution role",
       [](TaskSpec& s) {
         s.execution_role_arn = "arn:aws:iam::1:role/x";
         s.containers[0].log_configuration = LogConfiguration{
             .driver = "awslogs", .options = {{"awslogs-region", "r"}, {"awslogs-group", "g"}}};
       },
       {com + "docker-remote-api.1.18", com + "logging-driver.awslogs",
        ecs + "execution-role-awslogs"}},
      {"an execution role alone requires nothing",
       [](TaskSpec& s) { s.execution_role_arn = "arn:aws:iam::1:role/x"; },
       {}},
      {"an ECR image",
       app([](auto& c) { c.image = "1.dkr.ecr.eu-west-1.amazonaws.com/app:1"; }),
       {com + "ecr-auth"}},
      {"an ECR image with an execution role",
       [](TaskSpec& s) {
         s.execution_role_arn = "arn:aws:iam::1:role/x";
         s.containers[0].image = "1.dkr.ecr.eu-west-1.amazonaws.com/app:1";
       },
       {com + "ecr-auth", ecs + "execution-role-ecr-pull"}},
      {"an image that only mentions ECR",
       app([](auto& c) { c.image = "example.com/1.dkr.ecr.eu-west-1.amazonaws.com/app"; }),
       {}},
      {"a task role",
       [](TaskSpec& s) { s.task_role_arn = "arn:aws:iam::1:role/x"; },
       {com + "task-iam-role"}},
      {"a task role in host mode",
       [](TaskSpec& s) {
         s.task_role_arn = "arn:aws:iam::1:role/x";
         s.network_mode = NetworkMode::kHost;
       },
       {com + "task-iam-role-network-host"}},
      {"a soft memory limit",
       app([](auto& c) { c.memory_reservation_mib = 64; }),
       {com + "docker-remote-api.1.21"}},
      {"privileged", app([](auto& c) { c.privileged = true; }), {com + "privileged-container"}},
      {"a task size", [](TaskSpec& s) { SetMemory(s, "1 GB"); }, {ecs + "task-cpu-mem-limit"}},
      {"10 vCPU", [](TaskSpec& s) { SetCpu(s, "10 vCPU"); }, {ecs + "task-cpu-mem-limit"}},
      {"more than 10 vCPU",
       [](TaskSpec& s) { SetCpu(s, "10241"); },
       {ecs + "increased-task-cpu-limit", ecs + "task-cpu-mem-limit"}},
      {"awsvpc", [](TaskSpec& s) { s.network_mode = NetworkMode::kAwsvpc; }, {ecs + "task-eni"}},
      {"a health check",
       app([](auto& c) { c.health_check = HealthCheck{.command = {"true"}}; }),
       {ecs + "container-health-check"}},
      {"dependsOn",
       [](TaskSpec& s) {
         s.containers.push_back(Container("db"));
         s.containers[0].depends_on = {{"db", "START"}};
       },
       {ecs + "container-ordering"}},
      {"a restart policy",
       app([](auto& c) { c.restart_policy = RestartPolicy{.enabled = true}; }),
       {ecs + "container-restart-policy"}},
      {"a restart policy that is off",
       app([](auto& c) { c.restart_policy = RestartPolicy{.enabled = false}; }),
       {}},
      {"pid mode", [](TaskSpec& s) { s.pid_mode = "host"; }, {ecs + "pid-ipc-namespace-sharing"}},
      {"ipc mode", [](TaskSpec& s) { s.ipc_mode = "none"; }, {ecs + "pid-ipc-namespace-sharing"}},
      {"a parameter as a secret",
       app([](auto& c) {
         c.secrets = {{"A", "/path/a"}};
       }),
       {ecs + "secrets.ssm.environment-variables"}},
      {"a parameter's ARN as a secret",
       app([](auto& c) {
         c.secrets = {{"A", "arn:aws:ssm:r:1:parameter/a"}};
       }),
       {ecs + "secrets.ssm.environment-variables"}},
      {"a secret's ARN",
       app([](auto& c) {
         c.secrets = {{"A", "arn:aws:secretsmanager:r:1:secret:a"}};
       }),
       {ecs + "secrets.asm.environment-variables"}},
      {"secrets for a log driver",
       app([](auto& c) {
         c.log_configuration = LogConfiguration{
             .driver = "splunk",
             .secret_options = {{"t", "arn:aws:secretsmanager:r:1:secret:a"}, {"u", "/b"}}};
       }),
       {com + "docker-remote-api.1.18", com + "logging-driver.splunk",
        ecs + "secrets.asm.bootstrap.log-driver", ecs + "secrets.ssm.bootstrap.log-driver"}},
      {"a private registry",
       app([](auto& c) { c.has_repository_credentials = true; }),
       {ecs + "private-registry-authentication.secretsmanager"}},
      {"environment files",
       app([](auto& c) {
         c.environment_files = {{"s3", "a.env"}};
       }),
       {ecs + "env-files.s3"}},
      {"fluentd", app([](auto& c) { c.firelens_type = "fluentd"; }), {ecs + "firelens.fluentd"}},
      {"fluentbit",
       app([](auto& c) { c.firelens_type = "fluentbit"; }),
       {ecs + "firelens.fluentbit"}},
      {"EFS", [](TaskSpec& s) { s.volumes = {{.name = "v", .has_efs = true}}; }, {ecs + "efs"}},
      {"EFS with authorization",
       [](TaskSpec& s) {
         s.volumes = {{.name = "v", .has_efs = true, .efs_uses_authorization = true}};
       },
       {ecs + "efs", ecs + "efsAuth"}},
      {"a Docker volume",
       [](TaskSpec& s) { s.volumes = {{.name = "v", .has_docker = true}}; },
       {ecs + "docker-plugin.local"}},
      {"a port range",
       app([](auto& c) { c.port_mappings = {{.container_port_range = "80-90"}}; }),
       {ecs + "network.container-port-range"}},
      {"fault injection",
       [](TaskSpec& s) { s.enable_fault_injection = true; },
       {ecs + "fault-injection"}},
      {"AppArmor",
       app([](auto& c) { c.docker_security_options = {"apparmor:p"}; }),
       {com + "apparmor"}},
      {"SELinux",
       app([](auto& c) { c.docker_security_options = {"label:type:t"}; }),
       {com + "selinux"}},
      {"a share of a GPU",
       app([](auto& c) { c.resource_requirements = {Mps(1000)}; }),
       {"ecs.capability.gpu-sharing-mps"}},
      {"whole GPUs", app([](auto& c) { c.resource_requirements = {Whole("1")}; }), {}},
  };
}

TEST_CASE("a definition requires the attributes of what it uses, sorted", "[traits]") {
  for (const AttributeCase& c : AttributeCases()) {
    INFO(c.why);
    const TaskSpec spec = Changed(Spec(), c.change);
    CHECK(Refusal(spec) == "");
    CHECK(ComputeRequiredAttributes(spec) == c.attributes);
  }
}

TEST_CASE("an attribute that two containers need is there once", "[traits]") {
  const TaskSpec spec = Spec({WithGpu("a", Mps(1)), WithGpu("b", Mps(2))});

  CHECK(ComputeRequiredAttributes(spec) ==
        std::vector<std::string>{"ecs.capability.gpu-sharing-mps"});
}

TEST_CASE("an emulated agent offers all that a definition can require", "[capabilities]") {
  const std::vector<std::string> offered = AllCapabilities();
  CHECK(std::ranges::is_sorted(offered));
  CHECK(std::ranges::adjacent_find(offered) == offered.end());

  for (const AttributeCase& c : AttributeCases()) {
    for (const std::string& attribute : c.attributes) {
      INFO(c.why << ": " << attribute);
      CHECK(std::ranges::binary_search(offered, attribute));
    }
  }
}

TEST_CASE("an agent on Docker can take the guide's definition but for the sharing itself",
          "[capabilities]") {
  TaskSpec spec = Spec({WithGpu("a", Mps(12288, 50)), WithGpu("b", Mps(8192, 25)), Container("c")});
  spec.network_mode = NetworkMode::kAwsvpc;
  spec.execution_role_arn = "arn:aws:iam::000000000000:role/ecsTaskExecutionRole";
  SetCpu(spec, "2 vCPU");
  SetMemory(spec, "4 GB");

  std::vector<std::string> missing;
  std::ranges::set_difference(ComputeRequiredAttributes(spec), AgentCapabilities({}),
                              std::back_inserter(missing));

  CHECK(missing == std::vector<std::string>{kGpuSharingCapability});
}

TEST_CASE("an agent offers only what its Docker engine has, and nothing that it cannot do",
          "[capabilities]") {
  const std::vector<std::string> offered = AgentCapabilities(
      {.api_minor = 24, .logging_drivers = {"journald"}, .volume_drivers = {"nfs"}});
  const auto has = [&](const std::string& name) {
    return std::ranges::binary_search(offered, name);
  };
  CHECK(std::ranges::is_sorted(offered));

  CHECK(has(DockerApiCapability(17)));
  CHECK(has(DockerApiCapability(24)));
  CHECK_FALSE(has(DockerApiCapability(25)));
  CHECK(has(LoggingDriverCapability("journald")));
  CHECK_FALSE(has(LoggingDriverCapability("json-file")));
  CHECK(has("ecs.capability.docker-plugin.nfs"));
  CHECK(has("ecs.capability.pid-ipc-namespace-sharing"));
  CHECK(has("ecs.capability.container-restart-policy"));
  CHECK(has("ecs.capability.task-eni"));
  for (const char* name :
       {"com.amazonaws.ecs.capability.task-iam-role", "ecs.capability.execution-role-awslogs",
        "ecs.capability.docker-plugin.local", "ecs.capability.network.container-port-range",
        "ecs.capability.gpu-sharing-mps"}) {
    INFO(name);
    CHECK_FALSE(has(name));
  }
}

TEST_CASE("the GPU requirement of a container is what its entry says", "[traits]") {
  using Kind = GpuRequirement::Kind;
  CHECK(GpuRequirementOf(Container("a")) == GpuRequirement{});
  CHECK(GpuRequirementOf(WithGpu("a", Whole("3"))) ==
        GpuRequirement{.kind = Kind::kDedicated, .count = 3});
  CHECK(GpuRequirementOf(WithGpu("a", Whole("ALL"))) == GpuRequirement{.kind = Kind::kAll});
  CHECK(GpuRequirementOf(WithGpu("a", Mps(12288, 50))) ==
        GpuRequirement{.kind = Kind::kShared,
                       .share = {.memory_mib = 12288, .max_compute_percent = 50}});
  // 12: absent stays absent.
  CHECK(GpuRequirementOf(WithGpu("a", Mps(8192))).share.max_compute_percent == std::nullopt);
}

}  // namespace
}  // namespace berth::model

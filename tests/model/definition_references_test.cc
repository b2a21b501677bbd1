// What names something else: dependencies, links, volumes; and the launch types required. Texts
// that ECS is known to give are compared to the letter.
#include <catch2/catch.hpp>

#include "rule_cases.h"

namespace berth::model {
namespace {

TEST_CASE("containers depend on others that exist, and never in a circle", "[validation]") {
  // Containers a, b, c, not essential but for `main`.
  const auto on = [](const Change& change) {
    return [change](TaskSpec& s) {
      s.containers = {Container("main"), Container("a"), Container("b"), Container("c")};
      for (size_t i = 1; i < s.containers.size(); ++i) s.containers[i].essential = false;
      change(s);
    };
  };
  const auto depends = [on](std::string target, std::string condition) {
    return on([=](TaskSpec& s) { s.containers[1].depends_on = {{target, condition}}; });
  };
  CheckAll({
      {"START", depends("b", "START")},
      {"COMPLETE", depends("b", "COMPLETE")},
      {"SUCCESS", depends("b", "SUCCESS")},
      {"START of an essential one", depends("main", "START")},
      {"COMPLETE of an essential one", depends("main", "COMPLETE"),
       "A dependency container with SUCCESS or COMPLETE condition cannot be an essential "
       "container"},
      {"SUCCESS of an essential one", depends("main", "SUCCESS"),
       "A dependency container with SUCCESS or COMPLETE condition cannot be an essential "
       "container"},
      {"HEALTHY", on([](TaskSpec& s) {
         s.containers[1].depends_on = {{"b", "HEALTHY"}};
         s.containers[2].health_check = HealthCheck{.command = {"true"}};
       })},
      {"HEALTHY without a check", depends("b", "HEALTHY"),
       "container 'a': dependsOn[0].condition is HEALTHY, but container 'b' has no healthCheck; it "
       "must be START, COMPLETE or SUCCESS, or the other container needs a healthCheck"},
      {"an unknown condition", depends("b", "READY"),
       "container 'a': dependsOn[0].condition is 'READY'; it must be one of START, COMPLETE, "
       "SUCCESS, HEALTHY"},
      {"nobody", depends("nobody", "START"),
       "Cannot depend on container 'nobody' because it does not exist"},
      {"itself", depends("a", "START"),
       "container 'a': dependsOn[0].containerName is the container itself; it must be another "
       "container of the task"},
      {"two ways to one", on([](TaskSpec& s) {
         s.containers[0].depends_on = {{"a", "START"}, {"b", "START"}};
         s.containers[1].depends_on = {{"c", "START"}};
         s.containers[2].depends_on = {{"c", "START"}};
       })},
      {"a circle of two", on([](TaskSpec& s) {
         s.containers[1].depends_on = {{"b", "START"}};
         s.containers[2].depends_on = {{"a", "START"}};
       }),
       "dependsOn goes in a circle, so that no container can start: a -> b -> a"},
      {"a circle behind a straight way", on([](TaskSpec& s) {
         s.containers[0].depends_on = {{"a", "START"}};
         s.containers[1].depends_on = {{"b", "START"}};
         s.containers[2].depends_on = {{"c", "START"}};
         s.containers[3].depends_on = {{"b", "START"}};
       }),
       "dependsOn goes in a circle, so that no container can start: b -> c -> b"},
      {"links", on([](TaskSpec& s) {
         s.containers[0].links = {"a", "b:alias"};
       })},
      {"a link to nobody", on([](TaskSpec& s) { s.containers[0].links = {"nobody:x"}; }),
       "container 'main': links[0] is 'nobody', which does not exist; it must be the name of "
       "another "
       "container of the task"},
      {"a link to itself", on([](TaskSpec& s) { s.containers[0].links = {"main"}; }),
       "container 'main': links[0] is the container itself; it must be another container of the "
       "task"},
      {"a circle of links", on([](TaskSpec& s) {
         s.containers[1].links = {"b"};
         s.containers[2].links = {"c"};
         s.containers[3].links = {"a"};
       }),
       "Container links should not have a cycle"},
      {"volumesFrom", on([](TaskSpec& s) {
         s.containers[0].volumes_from = {{"a", true}};
       })},
      {"volumes from nobody", on([](TaskSpec& s) { s.containers[0].volumes_from = {{"x"}}; }),
       "container 'main': volumesFrom[0].sourceContainer is 'x', which does not exist; it must be "
       "the name of another container of the task"},
      {"a circle of several kinds", on([](TaskSpec& s) {
         s.containers[1].depends_on = {{"b", "START"}};
         s.containers[2].links = {"c"};
         s.containers[3].volumes_from = {{"a"}};
       }),
       "dependsOn, links and volumesFrom together go in a circle, so that no container can start: "
       "a "
       "-> b -> c -> a"},
  });
}

TEST_CASE("a volume is of one kind, and a mount names a volume", "[validation]") {
  const auto volumes = [](std::vector<Volume> list) {
    return [list](TaskSpec& s) { s.volumes = list; };
  };
  const auto mounts = [](std::vector<MountPoint> list) {
    return [list](TaskSpec& s) {
      s.volumes = {{.name = "data"}, {.name = "logs"}};
      s.containers[0].mount_points = list;
    };
  };
  const std::string kinds =
      "volume 'v' is of several kinds; give at most one of host, dockerVolumeConfiguration, "
      "efsVolumeConfiguration, s3filesVolumeConfiguration, fsxWindowsFileServerVolumeConfiguration "
      "and configuredAtLaunch";
  CheckAll({
      {"an empty definition", volumes({{.name = "v"}})},
      {"a host path", volumes({{.name = "v", .has_host = true, .host_source_path = "/data"}})},
      {"a host volume without a path", volumes({{.name = "v", .has_host = true}})},
      {"an empty host path", volumes({{.name = "v", .has_host = true, .host_source_path = ""}}),
       "host.sourcePath should not be blank."},
      {"a blank host path", volumes({{.name = "v", .has_host = true, .host_source_path = " "}}),
       "host.sourcePath should not be blank."},
      {"no name", volumes({{.name = ""}}), "Volume.name should not be null or empty."},
      {"a bad name", volumes({{.name = "a/b"}}), "Volume.name contains invalid characters."},
      {"one name twice", volumes({{.name = "v"}, {.name = "v"}}),
       "volume 'v' is there twice; volume names must be unique within a task definition"},
      {"host and docker", volumes({{.name = "v", .has_host = true, .has_docker = true}}), kinds},
      {"efs and configured at launch",
       volumes({{.name = "v", .has_efs = true, .configured_at_launch = true}}), kinds},
      {"s3files and fsx", volumes({{.name = "v", .has_s3files = true, .has_fsx = true}}), kinds},
      {"one configured at launch", volumes({{.name = "v", .configured_at_launch = true}})},
      {"two configured at launch",
       volumes({{.name = "v", .configured_at_launch = true},
                {.name = "w", .configured_at_launch = true}}),
       "volumes 'v' and 'w' are both configuredAtLaunch; only one volume may be"},
      {"mounts", mounts({{"data", "/data"}, {"data", "/again"}, {"logs", "/logs", true}})},
      {"an unknown volume", mounts({{"dat", "/data"}}), "Unknown volume 'dat'."},
      {"no volume", mounts({{"", "/data"}}), "Unknown volume ''."},
      {"no path", mounts({{"data", ""}}),
       "container 'app': mountPoints[0].containerPath is blank; it must be the path at which the "
       "container sees the volume"},
      {"one path twice", mounts({{"data", "/data"}, {"logs", "/data"}}),
       "container 'app': mountPoints[1].containerPath is '/data' again; it must be another path "
       "than "
       "those before"},
  });
}

TEST_CASE("a required launch type must hold", "[validation]") {
  const auto fargate = [](const Change& change) {
    return [change](TaskSpec& s) {
      s.requires_compatibilities = {"FARGATE"};
      SetCpu(s, "256");
      SetMemory(s, "512");
      change(s);
    };
  };
  const auto requires_one = [](std::string name, const Change& change) {
    return [=](TaskSpec& s) {
      s.requires_compatibilities = {name};
      change(s);
    };
  };
  CheckAll({
      {"EC2", requires_one("EC2", [](TaskSpec&) {})},
      {"an unknown one", requires_one("ec2", [](TaskSpec&) {}),
       "requiresCompatibilities[0] is 'ec2'; it must be one of EC2, FARGATE, EXTERNAL, "
       "MANAGED_INSTANCES"},
      {"FARGATE", fargate([](TaskSpec&) {})},
      {"FARGATE without cpu", fargate([](TaskSpec& s) {
         s.cpu_text.reset();
         s.cpu_units.reset();
       }),
       "Fargate requires that 'cpu' be defined at the task level."},
      {"FARGATE without memory", fargate([](TaskSpec& s) {
         s.memory_text.reset();
         s.memory_mib.reset();
       }),
       "Fargate requires that 'memory' be defined at the task level."},
      {"FARGATE under bridge", fargate([](TaskSpec& s) { s.network_mode = NetworkMode::kBridge; }),
       "Fargate only supports network mode ‘awsvpc’."},
      {"FARGATE with an odd pair", fargate([](TaskSpec& s) { SetMemory(s, "600"); }),
       "No Fargate configuration exists for given values."},
      {"FARGATE with pid mode host", fargate([](TaskSpec& s) { s.pid_mode = "host"; }),
       "Tasks using the Fargate launch type do not support pidMode 'host'. The supported value for "
       "pidMode is 'task'."},
      {"FARGATE with constraints", fargate([](TaskSpec& s) {
         s.placement_constraints = {{"memberOf", "a == b"}};
       }),
       "Tasks using the Fargate launch type do not support placementConstraints."},
      {"FARGATE, privileged", fargate([](TaskSpec& s) { s.containers[0].privileged = true; }),
       "Tasks using the Fargate launch type do not support privileged of container 'app'."},
      {"EXTERNAL under awsvpc",
       requires_one("EXTERNAL", [](TaskSpec& s) { s.network_mode = NetworkMode::kAwsvpc; }),
       "Tasks using the External launch type do not support network mode 'awsvpc'; use bridge, "
       "host "
       "or none."},
      {"MANAGED_INSTANCES under awsvpc",
       requires_one("MANAGED_INSTANCES",
                    [](TaskSpec& s) { s.network_mode = NetworkMode::kAwsvpc; })},
      {"MANAGED_INSTANCES under bridge", requires_one("MANAGED_INSTANCES", [](TaskSpec&) {}),
       "Tasks using the Managed Instances launch type do not support network mode 'bridge'; set "
       "networkMode to awsvpc, host or none."},
      {"MANAGED_INSTANCES with a log driver that it lacks",
       requires_one("MANAGED_INSTANCES",
                    [](TaskSpec& s) {
                      s.network_mode = NetworkMode::kHost;
                      s.containers[0].log_configuration = LogConfiguration{.driver = "syslog"};
                    }),
       "Tasks using the Managed Instances launch type do not support log driver 'syslog' of "
       "container "
       "'app'."},
      {"the second of two",
       [](TaskSpec& s) {
         s.requires_compatibilities = {"EC2", "MANAGED_INSTANCES"};
         s.containers.push_back(Container("db"));
         s.volumes = {{.name = "v", .has_docker = true}};
         s.network_mode = NetworkMode::kHost;
       },
       "Tasks using the Managed Instances launch type do not support dockerVolumeConfiguration of "
       "volume 'v'."},
  });
}

}  // namespace
}  // namespace berth::model

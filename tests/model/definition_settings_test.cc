// Modes, environment, logs and the other settings of a container. Texts that ECS is known to give
// are compared to the letter.
#include <catch2/catch.hpp>

#include "rule_cases.h"

namespace berth::model {
namespace {

TEST_CASE("modes and placement constraints are from ECS's lists", "[validation]") {
  const auto constraint = [](std::string type, std::string expression) {
    return [=](TaskSpec& s) { s.placement_constraints = {{type, expression}}; };
  };
  CheckAll({
      {"pid mode", [](TaskSpec& s) { s.pid_mode = "host"; }},
      {"a bad pid mode", [](TaskSpec& s) { s.pid_mode = "none"; },
       "pidMode is 'none'; it must be one of host, task"},
      {"ipc mode", [](TaskSpec& s) { s.ipc_mode = "none"; }},
      {"a bad ipc mode", [](TaskSpec& s) { s.ipc_mode = "shared"; },
       "ipcMode is 'shared'; it must be one of host, none, task"},
      {"memberOf", constraint("memberOf", "attribute:ecs.os-type == linux")},
      {"distinctInstance", constraint("distinctInstance", ""),
       "constraint.type 'distinctInstance' is not supported."},
      {"no expression", constraint("memberOf", ""),
       "placementConstraints[0].expression is empty; a memberOf constraint needs one"},
      {"the longest expression", constraint("memberOf", std::string(2000, 'x'))},
      {"one more", constraint("memberOf", std::string(2001, 'x')),
       "placementConstraints[0].expression is 2001 characters long; it must be at most 2000"},
      {"ten constraints",
       [](TaskSpec& s) {
         s.placement_constraints.assign(10, {"memberOf", "a == b"});
       }},
      {"eleven",
       [](TaskSpec& s) {
         s.placement_constraints.assign(11, {"memberOf", "a == b"});
       },
       "placementConstraints has 11 entries; it may have at most 10"},
      {"inference accelerators", [](TaskSpec& s) { s.has_inference_accelerators = true; },
       "inferenceAccelerators is given; inference accelerators are no longer offered, ask for a "
       "GPU "
       "in resourceRequirements instead"},
  });
}

TEST_CASE("a secret's name is its own", "[validation]") {
  const std::string shared =
      "The secret name must be unique and not shared with any new or existing environment "
      "variables "
      "set on the container, such as 'PASSWORD'.";
  CheckAll({
      {"environment and secret apart", App([](auto& c) {
         c.environment = {{"A", "1"}, {"A", "2"}};
         c.secrets = {{"PASSWORD", "/p"}};
       })},
      {"in the environment too", App([](auto& c) {
         c.environment = {{"PASSWORD", "1"}};
         c.secrets = {{"PASSWORD", "/p"}};
       }),
       shared},
      {"twice", App([](auto& c) {
         c.secrets = {{"PASSWORD", "/p"}, {"PASSWORD", "/q"}};
       }),
       shared},
      {"in another container",
       [](TaskSpec& s) {
         s.containers.push_back(Container("side"));
         s.containers[0].environment = {{"PASSWORD", "1"}};
         s.containers[1].secrets = {{"PASSWORD", "/p"}};
       }},
      {"a secret without a name", App([](auto& c) {
         c.secrets = {{"", "/p"}};
       }),
       "container 'app': secrets[0].name is ''; it must be not empty and without '='"},
      {"a secret from nowhere", App([](auto& c) {
         c.secrets = {{"A", ""}};
       }),
       "container 'app': secrets[0].valueFrom is empty; it must be the name or ARN of a parameter "
       "or "
       "secret"},
      {"a variable without a name", App([](auto& c) {
         c.environment = {{"A", ""}, {"", "1"}};
       }),
       "container 'app': environment[1].name is ''; it must be not empty and without '='"},
      {"a variable that is an assignment", App([](auto& c) {
         c.environment = {{"A=B", "1"}};
       }),
       "container 'app': environment[0].name is 'A=B'; it must be not empty and without '='"},
      {"an environment file", App([](auto& c) {
         c.environment_files = {{"s3", "arn:aws:s3:::bucket/a.env"}};
       })},
      {"of another type", App([](auto& c) {
         c.environment_files = {{"http", "a.env"}};
       }),
       "container 'app': environmentFiles[0].type is 'http'; it must be s3"},
      {"of another ending", App([](auto& c) {
         c.environment_files = {{"s3", "a.txt"}};
       }),
       "container 'app': environmentFiles[0].value is 'a.txt'; it must be the ARN of an object "
       "that "
       "ends in .env"},
      {"ten files", App([](auto& c) {
         c.environment_files.assign(10, {"s3", "a.env"});
       })},
      {"eleven files", App([](auto& c) {
         c.environment_files.assign(11, {"s3", "a.env"});
       }),
       "container 'app': the number of environmentFiles is 11; it must be at most 10"},
  });
}

TEST_CASE("logs go to a driver of the API, and awslogs knows where", "[validation]") {
  const auto logs = [](LogConfiguration log) {
    return App([=](auto& c) { c.log_configuration = log; });
  };
  const std::string awslogs = "Log driver awslogs requires options: awslogs-region, awslogs-group";
  CheckAll({
      {"json-file", logs({.driver = "json-file"})},
      {"an unknown driver", logs({.driver = "paper"}),
       "container 'app': logConfiguration.logDriver is 'paper'; it must be one of awsfirelens, "
       "awslogs, fluentd, gelf, journald, json-file, splunk, syslog"},
      {"awslogs with both options",
       logs({.driver = "awslogs", .options = {{"awslogs-region", "r"}, {"awslogs-group", "g"}}})},
      {"awslogs without a group", logs({.driver = "awslogs", .options = {{"awslogs-region", "r"}}}),
       awslogs},
      {"awslogs without a region", logs({.driver = "awslogs", .options = {{"awslogs-group", "g"}}}),
       awslogs},
  });
}

TEST_CASE("settings of a container keep to their ranges", "[validation]") {
  const auto health = [](HealthCheck check) {
    return App([=](auto& c) {
      c.health_check = check;
      if (check.command.empty()) c.health_check->command = {"true"};
    });
  };
  const auto restart = [](RestartPolicy policy) {
    return App([=](auto& c) { c.restart_policy = policy; });
  };
  const auto ulimit = [](std::string name, int64_t soft, int64_t hard) {
    return App([=](auto& c) { c.ulimits = {{name, soft, hard}}; });
  };
  const auto swap = [](std::optional<int64_t> swappiness, std::optional<int64_t> max) {
    return App([=](auto& c) {
      c.swappiness = swappiness;
      c.max_swap_mib = max;
    });
  };
  const auto range = [](const std::string& member, int value, int min, int max) {
    return "container 'app': " + member + " is " + std::to_string(value) + "; it must be from " +
           std::to_string(min) + " to " + std::to_string(max);
  };
  CheckAll({
      {"no command", App([](auto& c) { c.health_check = HealthCheck{}; }),
       "container 'app': healthCheck.command is empty; it must be the command to run, such as "
       "[\"CMD-SHELL\", \"curl -f http://localhost/\"]"},
      {"all at the least",
       health(
           {.interval_seconds = 5, .timeout_seconds = 2, .retries = 1, .start_period_seconds = 0})},
      {"all at the most", health({.interval_seconds = 300,
                                  .timeout_seconds = 60,
                                  .retries = 10,
                                  .start_period_seconds = 300})},
      {"interval 4", health({.interval_seconds = 4}), range("healthCheck.interval", 4, 5, 300)},
      {"interval 301", health({.interval_seconds = 301}),
       range("healthCheck.interval", 301, 5, 300)},
      {"timeout 1", health({.timeout_seconds = 1}), range("healthCheck.timeout", 1, 2, 60)},
      {"timeout 61", health({.timeout_seconds = 61}), range("healthCheck.timeout", 61, 2, 60)},
      {"retries 0", health({.retries = 0}), range("healthCheck.retries", 0, 1, 10)},
      {"retries 11", health({.retries = 11}), range("healthCheck.retries", 11, 1, 10)},
      {"start period -1", health({.start_period_seconds = -1}),
       range("healthCheck.startPeriod", -1, 0, 300)},
      {"start period 301", health({.start_period_seconds = 301}),
       range("healthCheck.startPeriod", 301, 0, 300)},
      {"restarts", restart({.enabled = true, .attempt_period_seconds = 60})},
      {"attempt period 59", restart({.enabled = true, .attempt_period_seconds = 59}),
       range("restartPolicy.restartAttemptPeriod", 59, 60, 1800)},
      {"attempt period 1801", restart({.enabled = true, .attempt_period_seconds = 1801}),
       range("restartPolicy.restartAttemptPeriod", 1801, 60, 1800)},
      {"50 ignored codes",
       restart({.enabled = true, .ignored_exit_codes = std::vector<int64_t>(50, 1)})},
      {"51 ignored codes",
       restart({.enabled = true, .ignored_exit_codes = std::vector<int64_t>(51, 1)}),
       "container 'app': the number of restartPolicy.ignoredExitCodes is 51; it must be at most "
       "50"},
      {"a ulimit", ulimit("nofile", 1024, 4096)},
      {"soft equal to hard", ulimit("core", 1, 1)},
      {"soft above hard", ulimit("nofile", 4097, 4096),
       "container 'app': ulimits[0].softLimit is 4097; it must be at most hardLimit, which is "
       "4096"},
      {"hard unlimited", ulimit("nofile", 4097, -1)},
      {"soft unlimited alone", ulimit("nofile", -1, 4096),
       "container 'app': ulimits[0].softLimit is -1; it must be at most hardLimit, which is 4096"},
      {"an unknown ulimit", ulimit("files", 1, 1),
       "container 'app': ulimits[0].name is 'files'; it must be one of core, cpu, data, fsize, "
       "locks, memlock, msgqueue, nice, nofile, nproc, rss, rtprio, rttime, sigpending, stack"},
      {"start timeout -1", App([](auto& c) { c.start_timeout_seconds = -1; }),
       range("startTimeout", -1, 0, 2147483647)},
      {"stop timeout -1", App([](auto& c) { c.stop_timeout_seconds = -1; }),
       range("stopTimeout", -1, 0, 2147483647)},
      {"swappiness 100", swap(100, 0)},
      {"swappiness 101", swap(101, 0), range("linuxParameters.swappiness", 101, 0, 100)},
      {"swappiness alone", swap(60, {}),
       "container 'app': linuxParameters.swappiness is given without maxSwap; it must be given "
       "together with maxSwap"},
      {"negative swap", swap({}, -1), range("linuxParameters.maxSwap", -1, 0, 2147483647)},
      {"an unknown firelens type", App([](auto& c) { c.firelens_type = "smoke"; }),
       "container 'app': firelensConfiguration.type is 'smoke'; it must be one of fluentbit, "
       "fluentd"},
  });
}

TEST_CASE("what a network mode excludes is refused under it", "[validation]") {
  struct Member {
    std::string name;
    std::function<void(ContainerDefinition&)> give;
  };
  const std::vector<Member> members = {
      {"hostname", [](auto& c) { c.hostname = "h"; }},
      {"dnsServers", [](auto& c) { c.dns_servers = {"1.1.1.1"}; }},
      {"dnsSearchDomains", [](auto& c) { c.dns_search_domains = {"example.com"}; }},
      {"extraHosts", [](auto& c) { c.extra_hosts = {"db"}; }},
      {"disableNetworking", [](auto& c) { c.disable_networking = true; }},
  };
  for (const Member& member : members) {
    INFO(member.name);
    TaskSpec spec = Spec();
    member.give(spec.containers[0]);
    CHECK(Refusal(spec) == "");
    spec.network_mode = NetworkMode::kAwsvpc;
    CHECK(Refusal(spec) == "container 'app': " + member.name +
                               " is given; it must be absent when networkMode=awsvpc");
  }

  for (const NetworkMode mode : {NetworkMode::kAwsvpc, NetworkMode::kHost, NetworkMode::kNone}) {
    TaskSpec spec = Spec({Container("app"), Container("db")});
    spec.network_mode = mode;
    spec.containers[0].links = {"db"};
    CHECK(Refusal(spec) ==
          "Links are not supported when networkMode=" + std::string(ToString(mode)) + ".");
  }
}

}  // namespace
}  // namespace berth::model

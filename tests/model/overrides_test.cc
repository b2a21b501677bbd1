#include <catch2/catch.hpp>

#include "spec_builder.h"

namespace berth::model {
namespace {

ContainerOverride Of(std::string name) {
  return {.name = std::move(name), .empty_but_for_name = false};
}

std::shared_ptr<const TaskSpec> Merged(const TaskSpec& spec, const TaskOverrides& overrides) {
  const auto merged = MergeOverrides(spec, overrides);
  INFO(merged.status().message());
  REQUIRE(merged.ok());
  return *merged;
}

struct Refused {
  std::string why;
  TaskOverrides overrides;
  std::string refusal;
};

void CheckRefused(const TaskSpec& spec, const std::vector<Refused>& cases) {
  REQUIRE(Refusal(spec) == "");
  for (const Refused& c : cases) {
    INFO(c.why);
    const auto merged = MergeOverrides(spec, c.overrides);
    REQUIRE_FALSE(merged.ok());
    CHECK(std::string(merged.status().message()) == c.refusal);
    CHECK(KindOf(merged.status()) == ErrorKind::kInvalidParameter);
  }
}

TEST_CASE("without overrides a task runs its definition as it is", "[overrides]") {
  TaskSpec spec = Spec();
  spec.containers[0].command = {"serve"};
  spec.containers[0].environment = {{"A", "1"}};

  const auto merged = Merged(spec, {});

  CHECK(merged->family == "web");
  CHECK(merged->containers[0].command == std::vector<std::string>{"serve"});
  CHECK(merged->containers[0].environment[0].value == "1");
  CHECK(merged->containers[0].memory_mib == 128);
}

TEST_CASE("what an override gives replaces, what it leaves out stays", "[overrides]") {
  TaskSpec spec = Spec({Container("app"), Container("side")});
  spec.containers[0].command = {"serve"};
  spec.containers[0].cpu_units = 64;
  ContainerOverride app = Of("app");
  app.command = {"migrate", "--all"};
  app.memory_mib = 256;
  app.memory_reservation_mib = 200;

  const auto merged = Merged(spec, {.containers = {app}});

  CHECK(merged->containers[0].command == std::vector<std::string>{"migrate", "--all"});
  CHECK(merged->containers[0].cpu_units == 64);
  CHECK(merged->containers[0].memory_mib == 256);
  CHECK(merged->containers[0].memory_reservation_mib == 200);
  CHECK(merged->containers[1].memory_mib == 128);
  CHECK(spec.containers[0].command ==
        std::vector<std::string>{"serve"});  // a definition never changes
}

TEST_CASE("cpu 0 and an empty command are values, not absence", "[overrides]") {
  TaskSpec spec = Spec();
  spec.containers[0].command = {"serve"};
  spec.containers[0].cpu_units = 64;
  ContainerOverride app = Of("app");
  app.command = std::vector<std::string>{};
  app.cpu_units = 0;

  const auto merged = Merged(spec, {.containers = {app}});

  CHECK(merged->containers[0].command.empty());
  CHECK(merged->containers[0].cpu_units == 0);
}

TEST_CASE("environment merges by name, and the override wins", "[overrides]") {
  TaskSpec spec = Spec();
  spec.containers[0].environment = {{"A", "1"}, {"B", "2"}, {"A", "3"}};
  ContainerOverride app = Of("app");
  app.environment = {{"A", "9"}, {"C", "4"}, {"C", "5"}};

  const auto merged = Merged(spec, {.containers = {app}});

  std::string shown;
  for (const EnvironmentVariable& variable : merged->containers[0].environment) {
    shown += variable.name + "=" + variable.value + " ";
  }
  CHECK(shown == "A=9 B=2 C=5 ");
}

TEST_CASE("environment files and roles of an override replace the definition's", "[overrides]") {
  TaskSpec spec = Spec();
  spec.task_role_arn = "old";
  spec.execution_role_arn = "kept";
  spec.containers[0].environment_files = {{"s3", "a.env"}, {"s3", "b.env"}};
  ContainerOverride app = Of("app");
  app.environment_files = {{"s3", "c.env"}};

  const auto merged = Merged(spec, {.task_role_arn = "new", .containers = {app}});

  REQUIRE(merged->containers[0].environment_files.size() == 1);
  CHECK(merged->containers[0].environment_files[0].value == "c.env");
  CHECK(merged->task_role_arn == "new");
  CHECK(merged->execution_role_arn == "kept");
}

TEST_CASE("a task's size can be overridden, and is read as in a definition", "[overrides]") {
  TaskSpec spec = Spec();
  SetCpu(spec, "256");
  SetMemory(spec, "512");

  const auto merged = Merged(spec, {.cpu_text = "1 vCPU", .memory_text = "2GB"});

  CHECK(merged->cpu_units == 1024);
  CHECK(merged->memory_mib == 2048);
  CHECK(merged->cpu_text == "1 vCPU");
}

TEST_CASE("an override must name a container, unless it is empty", "[overrides]") {
  ContainerOverride nameless = Of("");
  nameless.cpu_units = 1;
  CheckRefused(Spec(),
               {
                   {"unknown",
                    {.containers = {Of("ap")}},
                    "Override for container named ap is not a container in the "
                    "TaskDefinition."},
                   {"unknown, though empty",
                    {.containers = {{.name = "ap"}}},
                    "Override for container named ap is not a container in the "
                    "TaskDefinition."},
                   {"without a name, not empty",
                    {.containers = {{}, nameless}},
                    "containerOverrides[1].name is missing; it must name a container of the "
                    "task definition"},
               });
  CHECK(MergeOverrides(Spec(), {.containers = {{}, {.name = "app"}}}).ok());
}

TEST_CASE("the merged result is checked like a definition", "[overrides]") {
  TaskSpec spec = Spec({Container("app")});
  SetCpu(spec, "256");
  SetMemory(spec, "512");
  spec.containers[0].secrets = {{"PASSWORD", "/p"}};
  const auto app = [](const std::function<void(ContainerOverride&)>& change) {
    ContainerOverride override = Of("app");
    change(override);
    return TaskOverrides{.containers = {override}};
  };
  CheckRefused(
      spec,
      {
          {"memory above the task's", app([](auto& o) { o.memory_mib = 513; }),
           "The 'memory' setting for container 'app' is greater than for the task."},
          {"memory below its reservation", app([](auto& o) { o.memory_reservation_mib = 129; }),
           "container 'app': memory is 128; it must be at least memoryReservation, which is 129"},
          {"cpu above the task's", app([](auto& o) { o.cpu_units = 257; }),
           "The sum of all container 'cpu' values cannot be greater than the value of the task "
           "'cpu'."},
          {"the task below its containers",
           {.memory_text = "64"},
           "The 'memory' setting for container 'app' is greater than for the task."},
          {"no size at all", {.cpu_text = "big"}, "Invalid 'cpu' setting for task."},
          {"a variable with a secret's name", app([](auto& o) {
             o.environment = {{"PASSWORD", "x"}};
           }),
           "The secret name must be unique and not shared with any new or existing environment "
           "variables set on the container, such as 'PASSWORD'."},
          {"cpu negative", app([](auto& o) { o.cpu_units = -1; }),
           "container 'app': cpu is -1; it must be from 0 to 2147483647"},
      });
}

TEST_CASE("22: a share can be overridden, and the definition stays as it was",
          "[overrides][gpus]") {
  const TaskSpec spec = Spec({WithGpu("app", Mps(2000, 50))});
  ContainerOverride app = Of("app");
  app.resource_requirements = {Mps(3000)};

  const auto merged = Merged(spec, {.containers = {app}});

  CHECK(GpuRequirementOf(merged->containers[0]).share ==
        NvidiaMps{.memory_mib = 3000, .max_compute_percent = std::nullopt});
  CHECK(GpuRequirementOf(spec.containers[0]).share.memory_mib == 2000);
}

TEST_CASE("GPU rules hold for the merged result", "[overrides][gpus]") {
  const TaskSpec spec = Spec({WithGpu("a", Mps(1000)), WithGpu("b", Mps(2000)), Container("c")});
  const auto gpu = [](std::string name, std::vector<ResourceRequirement> requirements) {
    ContainerOverride override = Of(std::move(name));
    override.resource_requirements = std::move(requirements);
    return TaskOverrides{.containers = {override}};
  };
  ContainerOverride reserved = Of("a");
  reserved.environment = {{"CUDA_VISIBLE_DEVICES", "0"}};
  ContainerOverride becomes_sharing = Of("c");
  becomes_sharing.environment = {{"CUDA_MPS_LOG_DIRECTORY", "/tmp"}};
  becomes_sharing.resource_requirements = {Mps(10)};
  const std::string must_agree =
      " asks for a GPU by sharingStrategy and container 'b' by value; all GPU containers of a task "
      "must use the same option, either value or sharingStrategy";
  CheckRefused(
      spec,
      {
          {"21: one of two shares becomes whole", gpu("b", {Whole("1")}),
           "container 'a'" + must_agree},
          {"memory 0", gpu("a", {Mps(0)}),
           "container 'a': resourceRequirements[0].sharingStrategy.nvidiaMps.memory is 0; it must "
           "be "
           "the share of the GPU's memory in MiB, from 1 to 2147483647"},
          {"two entries", gpu("a", {Mps(1), Mps(2)}),
           "container 'a': resourceRequirements[1] is a second entry of type GPU; it must be the "
           "only "
           "one: put the number of GPUs in one value, or the memory in one share"},
          {"19: a reserved variable",
           {.containers = {reserved}},
           "container 'a': environment sets CUDA_VISIBLE_DEVICES, which is reserved in a container "
           "that shares a GPU (the agent sets what the share needs); remove it"},
          {"19: a reserved variable beside a new share",
           {.containers = {becomes_sharing}},
           "container 'c': environment sets CUDA_MPS_LOG_DIRECTORY, which is reserved in a "
           "container "
           "that shares a GPU (the agent sets what the share needs); remove it"},
      });

  // Both at once may become whole.
  ContainerOverride a = Of("a");
  a.resource_requirements = {Whole("1")};
  ContainerOverride b = Of("b");
  b.resource_requirements = {Whole("1")};
  CHECK(MergeOverrides(spec, {.containers = {a, b}}).ok());
}

TEST_CASE("an override cannot make a definition break the launch types that it requires",
          "[overrides][gpus]") {
  TaskSpec spec = Spec({WithGpu("app", Whole("1"))});
  spec.requires_compatibilities = {"EXTERNAL"};
  ContainerOverride app = Of("app");
  app.resource_requirements = {Mps(1000)};

  CheckRefused(spec, {{"a share on an external instance",
                       {.containers = {app}},
                       "Tasks using the External launch type do not support sharingStrategy of "
                       "container 'app'; require EC2 or MANAGED_INSTANCES, or give the container "
                       "whole GPUs with 'value'."}});
}

}  // namespace
}  // namespace berth::model

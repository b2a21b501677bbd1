#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "model/task_definition.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::LaunchType;
using model::TaskStatus;

model::TaskSpec Awsvpc() {
  model::TaskSpec spec = Spec();
  spec.network_mode = model::NetworkMode::kAwsvpc;
  return spec;
}

model::TaskSpec Fargate() {
  model::TaskSpec spec = Awsvpc();
  spec.cpu_text = "256";
  spec.cpu_units = 256;
  spec.memory_text = "512";
  spec.memory_mib = 512;
  return spec;
}

void Overriding(RunTask& command, model::ContainerOverride override) {
  model::TaskOverrides overrides;
  overrides.containers = {std::move(override)};
  command.overrides = std::make_shared<const model::TaskOverrides>(overrides);
}

}  // namespace

TEST_CASE("a placed task is PENDING, wants to run, and carries what was asked for") {
  World world;
  const model::InstanceId id = world.Register({});
  const DefinitionRecord definition = world.Define(Spec({Container("app"), Container("log")}));
  RunTask command = world.Running(definition);
  command.started_by = "me/1_2-3";
  command.reference_id = "ref";
  command.tags = {{.key = "a", .value = "b"}};
  command.enable_execute_command = true;

  const model::TaskRecord task = world.Ok(command).tasks.at(0);

  CHECK(task->last_status == TaskStatus::kPending);
  CHECK(task->desired_status == model::DesiredStatus::kRunning);
  CHECK(task->version == 1);
  CHECK(task->instance == id);
  CHECK(task->definition == definition);
  CHECK(task->launch_type == LaunchType::kEc2);
  CHECK(task->group == "family:web");
  CHECK(task->started_by == "me/1_2-3");
  CHECK(task->reference_id == "ref");
  CHECK(task->tags == command.tags);
  CHECK(task->enable_execute_command);
  CHECK(task->availability_zone == "rack-7");
  CHECK(task->cpu_architecture == "x86_64");
  CHECK(task->created_at == kStart);
  CHECK_FALSE(task->connectivity);
  REQUIRE(task->containers.size() == 2);
  CHECK(task->containers[0].name == "app");
  CHECK(task->containers[0].uuid != task->containers[1].uuid);
  CHECK(task->containers[0].uuid.size() == 36);
  const auto started = EffectsOf<StartTaskOnAgent>(world.effects);
  REQUIRE(started.size() == 1);
  CHECK(started[0].task == task);
}

TEST_CASE("a family alone runs its latest ACTIVE revision") {
  World world;
  world.Register({});
  world.Define(Spec());
  const DefinitionRecord latest = world.Define(Spec());

  const auto reply = world.Ok(RunTask{.cluster = {"default"}, .definition = {.family = "web"}});

  CHECK(reply.tasks.at(0)->definition == latest);
}

TEST_CASE("an awsvpc task begins PROVISIONING") {
  World world;
  world.Register({});
  RunTask command = world.Running(world.Define(Awsvpc()));
  command.has_network_configuration = true;
  command.subnets = 1;
  command.network_configuration = R"({"awsvpcConfiguration":{"subnets":["s"]}})";

  const model::TaskRecord task = world.Ok(command).tasks.at(0);

  CHECK(task->last_status == TaskStatus::kProvisioning);
  CHECK(task->network_configuration == command.network_configuration);
  CHECK(world.Cluster().pending_tasks == 0);
}

TEST_CASE("what RunTask refuses, it refuses by name and starts nothing") {
  struct Case {
    std::string text;  // all of it when it ends in a full stop or is ECS's
    model::TaskSpec spec;
    std::function<void(RunTask&)> change;
    ErrorKind kind = ErrorKind::kInvalidParameter;
  };
  const auto c = GENERATE(values<Case>({
      {"Cluster not found.", Spec(), [](RunTask& r) { r.cluster = {"nowhere"}; },
       ErrorKind::kClusterNotFound},
      {"TaskDefinition not found.", Spec(), [](RunTask& r) { r.definition = {.family = "no"}; },
       ErrorKind::kClient},
      {"TaskDefinition not found.", Spec(), [](RunTask& r) { r.definition.revision = 2; },
       ErrorKind::kClient},
      {"count is 0; it must be from 1 to 10", Spec(), [](RunTask& r) { r.count = 0; }},
      {"count is 11; it must be from 1 to 10", Spec(), [](RunTask& r) { r.count = 11; }},
      {"clientToken", Spec(), [](RunTask& r) { r.client_token = std::string(65, 'x'); }},
      {"clientToken", Spec(), [](RunTask& r) { r.client_token = "a b"; }},
      {"startedBy", Spec(), [](RunTask& r) { r.started_by = std::string(129, 'x'); }},
      {"startedBy", Spec(), [](RunTask& r) { r.started_by = "a b"; }},
      {"group", Spec(), [](RunTask& r) { r.group = std::string(256, 'x'); }},
      {"reserved for services", Spec(), [](RunTask& r) { r.group = "service:web"; }},
      {"Task definition does not support launch_type FARGATE.", Spec(),
       [](RunTask& r) { r.launch_type = LaunchType::kFargate; }},
      {"Task definition does not support launch_type EXTERNAL.", GpuSpec({Mps(100)}),
       [](RunTask& r) { r.launch_type = LaunchType::kExternal; }},
      {"The platform version must be null when specifying an EC2 launch type.", Spec(),
       [](RunTask& r) { r.platform_version = "1.4.0"; }},
      {"Network Configuration must be provided when networkMode 'awsvpc' is specified.", Awsvpc(),
       [](RunTask&) {}},
      {"Network Configuration is not valid for the given networkMode of this task definition.",
       Spec(), [](RunTask& r) { r.has_network_configuration = true; }},
      {"subnets can not be empty.", Awsvpc(),
       [](RunTask& r) { r.has_network_configuration = true; }},
      {"Override for container named nope is not a container in the TaskDefinition.", Spec(),
       [](RunTask& r) { Overriding(r, {.name = "nope", .cpu_units = 1}); }},
      {"overrides", Spec(),
       [](RunTask& r) {
         model::TaskOverrides overrides;
         overrides.document = std::string(8193, 'x');
         r.overrides = std::make_shared<const model::TaskOverrides>(overrides);
       }},
      {"Task definition does not support launch_type EXTERNAL.", GpuSpec({Whole("1")}),
       [](RunTask& r) {
         r.launch_type = LaunchType::kExternal;
         Overriding(
             r, {.name = "c0", .resource_requirements = {Mps(100)}, .empty_but_for_name = false});
       }},
      {"the task would have 11 placement constraints, those of its task definition included; at "
       "most 10 are allowed",
       [] {
         model::TaskSpec spec = Spec();
         spec.placement_constraints.assign(
             10, {.type = "memberOf", .expression = "attribute:stack == blue"});
         return spec;
       }(),
       [](RunTask& r) { r.rules.distinct_instance = true; }},
      {"placementStrategy has 6 entries; at most 5 are allowed", Spec(),
       [](RunTask& r) { r.rules.strategies.resize(6); }},
  }));
  INFO(c.text);
  World world;
  world.Register({.gpus = Gpus(1)});
  RunTask command = world.Running(world.Define(c.spec));
  c.change(command);

  CHECK(absl::StrContains(world.Refusal(command, c.kind), c.text));
  CHECK(world.store.tasks.empty());
}

TEST_CASE("values at their limits are accepted") {
  World world;
  world.Register({});
  RunTask command = world.Running(world.Define(Spec()), 10);
  command.client_token = std::string(64, '~');
  command.started_by = std::string(128, 'x');
  command.group = std::string(255, 'x');

  CHECK(world.Ok(command).tasks.size() == 10);
}

TEST_CASE("of two mistakes the one that ECS looks at first is told") {
  World world;
  RunTask command = world.Running(world.Define(Spec()), 11);
  command.launch_type = LaunchType::kFargate;
  command.platform_version = "1.4.0";
  command.has_network_configuration = true;
  command.group = "service:x";

  CHECK(absl::StrContains(world.Refusal(command), "count"));
  command.count = 1;
  CHECK(absl::StrContains(world.Refusal(command), "launch_type"));
  command.launch_type = std::nullopt;
  CHECK(absl::StrContains(world.Refusal(command), "platform version"));
  command.platform_version = "";
  CHECK(absl::StrContains(world.Refusal(command), "Network Configuration"));
  command.has_network_configuration = false;
  CHECK(absl::StrContains(world.Refusal(command), "group"));
  command.group = "";
  CHECK(absl::StrContains(world.Refusal(command), "No Container Instances"));
}

TEST_CASE("an INACTIVE definition runs no new task") {
  World world;
  world.Register({});
  auto inactive = std::make_shared<model::TaskDefinition>(*world.Define(Spec()));
  inactive->status = model::DefinitionStatus::kInactive;
  world.store.Apply(model::PutTaskDefinition{inactive});
  world.Restart();

  CHECK(world.Refusal(world.Running(inactive)) == "TaskDefinition is inactive");
}

TEST_CASE("a registered machine serves EC2 and MANAGED_INSTANCES alike, and the task says which") {
  World world;
  const model::InstanceId id = world.Register({});
  model::TaskSpec spec = Spec();
  spec.network_mode = model::NetworkMode::kHost;
  RunTask command = world.Running(world.Define(spec));
  for (const LaunchType type : {LaunchType::kEc2, LaunchType::kManagedInstances}) {
    command.launch_type = type;
    const model::TaskRecord task = world.Ok(command).tasks.at(0);
    CHECK(task->instance == id);
    CHECK(task->launch_type == type);
  }
}

TEST_CASE("EXTERNAL tasks go to external instances only, and others do not go there") {
  World world;
  const model::InstanceId plain = world.Register({});
  RunTask external = world.Running(world.Define(Spec()));
  external.launch_type = LaunchType::kExternal;
  CHECK(world.Ok(external).failures.size() == 1);

  const model::InstanceId outside =
      world.Register({.attributes = {{.name = model::kExternalCapability}}});
  CHECK(world.Ok(external).tasks.at(0)->instance == outside);
  for (int i = 0; i < 5; ++i) CHECK(world.Run(Spec())->instance == plain);
}

TEST_CASE("FARGATE has no capacity here: a failure, and no error") {
  World world;
  RunTask command = world.Running(world.Define(Fargate()));
  command.launch_type = LaunchType::kFargate;
  command.platform_version = "LATEST";
  command.has_network_configuration = true;
  command.subnets = 1;
  command.client_token = "t";

  const RunTask::Reply reply = world.Ok(command);

  CHECK(reply.tasks.empty());
  REQUIRE(reply.failures.size() == 1);
  CHECK(reply.failures[0].reason ==
        "Capacity is unavailable at this time. Please try again later or in a different "
        "availability zone");
  CHECK(world.store.tokens.empty());
}

TEST_CASE("a cluster without an ACTIVE instance is an error, not a failure") {
  World world;
  CHECK(world.Refusal(world.Running(world.Define(Spec()))) ==
        "No Container Instances were found in your cluster.");
}

TEST_CASE("what fits is placed, and the rest is one failure for each instance") {
  World world;
  // Two of 1000 MiB fit on each.
  const model::InstanceId a = world.Register({.memory_mib = 2500});
  const model::InstanceId b = world.Register({.memory_mib = 2000});

  const RunTask::Reply reply =
      world.Ok(world.Running(world.Define(Spec({Container("app", 1000)})), 10));

  CHECK(reply.tasks.size() == 4);
  REQUIRE(reply.failures.size() == 2);
  CHECK(reply.failures[0].instance == a);
  CHECK(reply.failures[1].instance == b);
  for (const PlacementFailure& failure : reply.failures) {
    CHECK(failure.reason == "RESOURCE:MEMORY");
    CHECK(absl::StrContains(failure.detail, "1000"));
  }
  CHECK(world.Instance(a).state.remaining_memory_mib == 500);
  CHECK(world.Instance(b).state.remaining_memory_mib == 0);
}

TEST_CASE("each instance is reported for the first thing that turns the task away") {
  struct Case {
    std::string reason;
    Machine machine;
  };
  const auto c = GENERATE(values<Case>({
      {"AGENT", {.cpu_units = 0, .shares_gpus = false, .emulated = false}},
      {"ATTRIBUTE", {.cpu_units = 0, .gpus = Gpus(1, 99), .shares_gpus = false}},
      {"RESOURCE:CPU", {.cpu_units = 99, .memory_mib = 0, .gpus = Gpus(1, 99)}},
      {"RESOURCE:MEMORY", {.memory_mib = 99, .gpus = Gpus(1, 99), .tcp_ports = {8080}}},
      {"RESOURCE:PORTS", {.gpus = Gpus(1, 99), .tcp_ports = {8080}}},
      {"RESOURCE:GPU", {.gpus = Gpus(1, 99)}},
  }));
  World world;
  const model::InstanceId id = world.Register(c.machine);
  model::TaskSpec spec = GpuSpec({Mps(100)});
  spec.containers[0].cpu_units = 100;
  spec.containers[0].port_mappings = {{.container_port = 80, .host_port = 8080}};

  const RunTask::Reply reply = world.Ok(world.Running(world.Define(spec)));

  REQUIRE(reply.failures.size() == 1);
  CHECK(reply.failures[0].instance == id);
  CHECK(reply.failures[0].reason == c.reason);
  CHECK_FALSE(reply.failures[0].detail.empty());
}

TEST_CASE("of many instances a hundred are named") {
  World world;
  for (int i = 0; i < 101; ++i) world.Register({.memory_mib = 1});

  CHECK(world.Ok(world.Running(world.Define(Spec()))).failures.size() == 100);
}

TEST_CASE("that nothing was placed is said even when every instance named is DRAINING") {
  World world;
  for (int i = 0; i < 101; ++i) world.Register({.memory_mib = 1});
  const DefinitionRecord definition = world.Define(Spec());
  int64_t left = 100;
  for (auto& [sequence, record] : world.store.instances) {
    if (left-- == 0) break;
    auto draining = std::make_shared<model::ContainerInstance>(*record);
    draining->status = model::InstanceStatus::kDraining;
    record = draining;
  }
  world.Restart();

  const RunTask::Reply reply = world.Ok(world.Running(definition));

  CHECK(reply.tasks.empty());
  CHECK_FALSE(reply.failures.empty());
}

TEST_CASE("overrides of cpu and memory are what is reserved") {
  World world;
  const model::InstanceId id = world.Register({.cpu_units = 1000, .memory_mib = 1000});
  RunTask command = world.Running(world.Define(Spec({Container("app", 100)})));
  Overriding(command, {.name = "app", .cpu_units = 300, .memory_mib = 400});

  const model::TaskRecord task = world.Ok(command).tasks.at(0);

  CHECK(world.Instance(id).state.remaining_cpu_units == 700);
  CHECK(world.Instance(id).state.remaining_memory_mib == 600);
  CHECK(task->overrides == command.overrides);
  world.Restart();
  CHECK(world.Instance(id).state.remaining_memory_mib == 600);
  world.Stop(task);
  CHECK(world.Instance(id).state.remaining_memory_mib == 1000);
}

TEST_CASE("tags: the caller's, then the definition's that they do not replace, then ECS's own") {
  World world;
  world.Register({});
  const DefinitionRecord definition = world.Ok(RegisterTaskDefinition{
      .family = "web",
      .document = std::make_shared<const std::string>("{}"),
      .spec = std::make_shared<const model::TaskSpec>(Spec()),
      .tags = {{.key = "team", .value = "definition"}, {.key = "cost", .value = "7"}}});
  RunTask command = world.Running(definition);
  command.tags = {{.key = "team", .value = "caller"}};
  CHECK(world.Ok(command).tasks.at(0)->tags == command.tags);

  command.propagate_definition_tags = true;
  command.enable_managed_tags = true;

  CHECK(world.Ok(command).tasks.at(0)->tags ==
        model::Tags{{.key = "team", .value = "caller"},
                    {.key = "cost", .value = "7"},
                    {.key = "aws:ecs:clusterName", .value = "default"}});
}

TEST_CASE("a task has fifty tags, the propagated ones included and ECS's own not") {
  World world;
  world.Register({});
  RegisterTaskDefinition registration{.family = "web",
                                      .document = std::make_shared<const std::string>("{}"),
                                      .spec = std::make_shared<const model::TaskSpec>(Spec())};
  for (int i = 0; i < 50; ++i) registration.tags.push_back({.key = absl::StrFormat("k%d", i)});
  RunTask command = world.Running(world.Ok(registration));
  command.propagate_definition_tags = true;
  command.enable_managed_tags = true;

  CHECK(world.Ok(command).tasks.at(0)->tags.size() == 51);
  command.tags = {{.key = "k7", .value = "its own"}};
  CHECK(world.Ok(command).tasks.at(0)->tags.size() == 51);
  command.tags = {{.key = "one more"}};
  CHECK(absl::StrContains(world.Refusal(command), "would have 51 tags"));
}

TEST_CASE("placing and releasing are versions of the instance") {
  World world;
  const model::InstanceId id = world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  CHECK(world.Instance(id).record->version == 2);
  world.Report(task, TaskStatus::kRunning);
  CHECK(world.Instance(id).record->version == 2);
  world.Stop(task);
  CHECK(world.Instance(id).record->version == 3);
}

}  // namespace berth::scheduler

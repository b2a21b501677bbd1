#include <algorithm>
#include <functional>

#include "absl/strings/match.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::Attribute;
using model::ErrorKind;
using model::InstanceStatus;
using model::TaskStatus;

bool Has(const InstanceSnapshot& instance, const Attribute& attribute) {
  const Attribute* found = model::FindAttribute(*instance.record, attribute.name);
  return found != nullptr && *found == attribute;
}

RegisterContainerInstance Again(const model::InstanceId& id, Machine machine) {
  machine.existing = id;
  return World::Registration(machine);
}

}  // namespace

TEST_CASE("a new instance is ACTIVE, version 1, connected, and echoes every attribute") {
  World world;
  const RegisterContainerInstance command = World::Registration(
      {.ec2_instance_id = "i-7", .attributes = {{.name = "stack", .value = "blue"}}});

  const InstanceSnapshot instance = world.Ok(command);

  CHECK(instance.record->status == InstanceStatus::kActive);
  CHECK(instance.record->version == 1);
  CHECK(instance.record->ec2_instance_id == "i-7");
  CHECK(instance.record->registered_at == kStart);
  CHECK(instance.agent_connected);
  CHECK(instance.state.remaining_cpu_units == command.resources.cpu_units);
  for (const Attribute& attribute : command.attributes) CHECK(Has(instance, attribute));
}

TEST_CASE("an instance whose agent has yet to connect takes no task, whatever the answer showed") {
  World world;
  const InstanceSnapshot registered = world.Ok(World::Registration({.emulated = false}));
  CHECK(registered.agent_connected);
  const model::InstanceId id = registered.record->id;
  CHECK_FALSE(world.Instance(id).agent_connected);

  const RunTask::Reply refused = world.Ok(world.Running(world.Define(Spec())));
  REQUIRE(refused.failures.size() == 1);
  CHECK(refused.failures[0].reason == "AGENT");

  world.Connect(id);
  CHECK(world.Instance(id).agent_connected);
  CHECK(world.Run(Spec())->instance == id);
}

TEST_CASE("an emulated instance takes tasks from registration on") {
  World world;
  CHECK(world.Instance(world.Register({})).agent_connected);
  world.Run(Spec());
}

TEST_CASE("registering into a cluster that is not there is refused") {
  World world;
  RegisterContainerInstance command = World::Registration({});
  command.cluster = {"nowhere"};
  CHECK(world.Refusal(command, ErrorKind::kClusterNotFound) == "Cluster not found.");
}

TEST_CASE("a registration sent twice with its token makes one instance") {
  World world;
  const RegisterContainerInstance command = World::Registration({.client_token = "once"});
  const InstanceSnapshot first = world.Ok(command);

  const auto second = world.Do(command);

  REQUIRE(second.reply.ok());
  CHECK(second.reply->record->id == first.record->id);
  CHECK(second.reply->record->version == 1);
  CHECK(second.changes.empty());
  CHECK(world.store.instances.size() == 1);

  SECTION("also after a restart") {
    world.Restart();
    CHECK(world.Ok(command).record->id == first.record->id);
    CHECK(world.store.instances.size() == 1);
  }
  SECTION("and one that comes after it was taken out brings nothing back") {
    world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = first.record->id});
    CHECK(absl::StrContains(world.Refusal(command, ErrorKind::kClient), "INACTIVE"));
    CHECK(world.store.instances.size() == 1);
  }
}

TEST_CASE("without tokens two registrations are two instances, unless it is one machine") {
  World world;
  world.Register({});
  world.Register({});
  CHECK(world.Cluster().registered_instances == 2);
}

TEST_CASE("a machine that registers as new replaces its former self, whose tasks are STOPPED") {
  World world;
  const model::InstanceId old = world.Register({.ec2_instance_id = "i-7", .emulated = false});
  world.Connect(old);
  const model::TaskRecord task = world.Run(Spec());
  const model::InstanceId other = world.Register({.ec2_instance_id = "i-8"});

  const auto outcome = world.Do(World::Registration({.ec2_instance_id = "i-7"}));

  REQUIRE(outcome.reply.ok());
  CHECK(outcome.reply->record->id != old);
  CHECK(world.Instance(old).record->status == InstanceStatus::kInactive);
  CHECK_FALSE(world.Instance(old).agent_connected);
  CHECK(world.Instance(other).record->status == InstanceStatus::kActive);
  const model::TaskRecord stopped = world.Task(task->id);
  CHECK(stopped->last_status == TaskStatus::kStopped);
  CHECK(stopped->stop_code == model::StopCode::kTerminationNotice);
  const auto closed = EffectsOf<CloseAgentChannel>(outcome.effects);
  REQUIRE(closed.size() == 1);
  CHECK(closed[0].instance == old);
  CHECK(world.Cluster().registered_instances == 2);
}

TEST_CASE("a machine that comes back with its ARN keeps its id, tasks and custom attributes") {
  World world;
  const model::InstanceId id =
      world.Register({.ec2_instance_id = "i-7",
                      .attributes = {{.name = "stack", .value = "blue"},
                                     {.name = "ecs.capability.old", .value = std::nullopt}}});
  const model::TaskRecord task = world.Run(Spec());
  world.Report(task, TaskStatus::kRunning);
  RegisterContainerInstance again = Again(id, {.ec2_instance_id = "i-7", .cpu_units = 99 * 1024});
  again.version_info = {.agent_version = "2.0", .docker_version = "27"};

  const InstanceSnapshot back = world.Ok(again);

  CHECK(back.record->id == id);
  CHECK(back.record->registered_at == kStart);
  CHECK(back.record->version_info.agent_version == "2.0");
  CHECK(back.record->resources.cpu_units == 99 * 1024);
  CHECK(Has(back, {.name = "stack", .value = "blue"}));
  CHECK_FALSE(Has(back, {.name = "ecs.capability.old"}));
  for (const Attribute& attribute : again.attributes) CHECK(Has(back, attribute));
  CHECK(back.running_tasks == 1);
  CHECK(world.Task(task->id)->last_status == TaskStatus::kRunning);
  CHECK(world.store.instances.size() == 1);
}

TEST_CASE("a custom attribute sent again takes the new value") {
  World world;
  const model::InstanceId id = world.Register({.attributes = {{.name = "stack", .value = "blue"}}});

  const InstanceSnapshot back =
      world.Ok(Again(id, {.attributes = {{.name = "stack", .value = "green"}}}));

  CHECK(Has(back, {.name = "stack", .value = "green"}));
}

TEST_CASE("an ARN that is unknown or INACTIVE is a ClientException that says what to do") {
  World world;
  CHECK(absl::StrContains(world.Refusal(Again({"feed"}, {}), ErrorKind::kClient),
                          "remove the agent's state"));
  const model::InstanceId id = world.Register({});
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = id});
  CHECK(absl::StrContains(world.Refusal(Again(id, {}), ErrorKind::kClient), "INACTIVE"));
}

TEST_CASE("a state folder copied to another registered machine is refused") {
  World world;
  const model::InstanceId a = world.Register({.ec2_instance_id = "i-a"});
  const model::InstanceId b = world.Register({.ec2_instance_id = "i-b"});

  const std::string text = world.Refusal(Again(a, {.ec2_instance_id = "i-b"}), ErrorKind::kClient);

  CHECK(absl::StrContains(text, b.value));
  CHECK(world.Instance(a).record->ec2_instance_id == "i-a");
}

TEST_CASE("a machine may come back with less, but not with less than its tasks hold") {
  struct Case {
    std::string why;
    Machine machine;
    bool accepted;
  };
  const auto c = GENERATE(values<Case>({
      {"CPU just enough", {.cpu_units = 1024, .memory_mib = 512, .gpus = Gpus(1)}, true},
      {"CPU one short", {.cpu_units = 1023, .memory_mib = 512, .gpus = Gpus(1)}, false},
      {"memory one short", {.cpu_units = 1024, .memory_mib = 511, .gpus = Gpus(1)}, false},
      {"the GPU in use is gone", {.cpu_units = 1024, .memory_mib = 512, .gpus = {}}, false},
      {"the GPU in use is smaller",
       {.cpu_units = 1024, .memory_mib = 512, .gpus = Gpus(1, 900)},
       true},
      {"everything larger", {.gpus = Gpus(4)}, true},
  }));
  INFO(c.why);
  World world;
  const model::InstanceId id = world.Register({.gpus = Gpus(2)});
  model::TaskSpec spec = GpuSpec({Mps(1000)});
  spec.containers[0].cpu_units = 1024;
  spec.containers[0].memory_mib = 512;
  world.Run(spec);
  const std::string before = Portrait(world);

  const auto outcome = world.Do(Again(id, c.machine));

  CHECK(outcome.reply.ok() == c.accepted);
  if (c.accepted) return;
  CHECK(model::KindOf(outcome.reply.status()) == ErrorKind::kClient);
  CHECK(absl::StrContains(std::string(outcome.reply.status().message()),
                          "Container instance type changes are not supported."));
  CHECK(Portrait(world) == before);
}

TEST_CASE("a registration that makes no sense is refused, and names what is wrong") {
  using Command = RegisterContainerInstance;
  struct Case {
    std::string names;
    std::function<void(Command&)> change;
  };
  const auto c = GENERATE(values<Case>({
      {"CPU", [](Command& r) { r.resources.cpu_units = -1; }},
      {"MEMORY", [](Command& r) { r.resources.memory_mib = -1; }},
      {"PORTS", [](Command& r) { r.resources.reserved_tcp_ports = {0}; }},
      {"PORTS_UDP", [](Command& r) { r.resources.reserved_udp_ports = {65536}; }},
      {"100", [](Command& r) { r.resources.reserved_tcp_ports.assign(101, 80); }},
      {"GPU-0",
       [](Command& r) {
         r.resources.gpus = {Gpus(1)[0], Gpus(1)[0]};
       }},
      {"memoryInMiB", [](Command& r) { r.resources.gpus = Gpus(1, -1); }},
      {"no id", [](Command& r) { r.resources.gpus = {model::Gpu{}}; }},
      {"berth.mps-clients-max", [](Command& r) { r.resources.mps_clients_max = 0; }},
      {"stack",
       [](Command& r) {
         r.attributes.push_back({.name = "stack", .value = "a"});
         r.attributes.push_back({.name = "stack", .value = "b"});
       }},
      {"500",
       [](Command& r) {
         for (int i = 0; i < 501; ++i) r.attributes.push_back({.name = "x" + std::to_string(i)});
       }},
  }));
  World world;
  Command command = World::Registration({.ec2_instance_id = "i-7"});
  const model::InstanceId former = world.Register({.ec2_instance_id = "i-7"});
  c.change(command);

  CHECK(absl::StrContains(world.Refusal(command), c.names));
  CHECK(world.Instance(former).record->status == InstanceStatus::kActive);
}

TEST_CASE("an attribute sent twice alike is one") {
  World world;
  RegisterContainerInstance command = World::Registration({});
  command.attributes.push_back({.name = "stack", .value = "a"});
  command.attributes.push_back({.name = "stack", .value = "a"});

  const InstanceSnapshot instance = world.Ok(command);

  CHECK(std::count_if(instance.record->attributes.begin(), instance.record->attributes.end(),
                      [](const Attribute& a) { return a.name == "stack"; }) == 1);
}

TEST_CASE("an instance whose real agent takes over from emulation waits for its channel") {
  World world;
  const model::InstanceId id = world.Register({});
  CHECK(world.Instance(id).agent_connected);

  world.Ok(Again(id, {.emulated = false}));
  CHECK_FALSE(world.Instance(id).agent_connected);

  world.Ok(Again(id, {.emulated = true}));
  CHECK(world.Instance(id).agent_connected);
}

TEST_CASE("the host's own ports are taken, and a task's port is taken until the task stops") {
  World world;
  const model::InstanceId id = world.Register({.tcp_ports = {22}});
  model::TaskSpec spec = Spec();
  spec.containers[0].port_mappings = {{.container_port = 80, .host_port = 8080}};
  const DefinitionRecord definition = world.Define(spec);
  const model::TaskRecord task = world.Run(definition);
  CHECK(world.Instance(id).state.tcp_ports_in_use == std::vector<int64_t>{22, 8080});

  const RunTask::Reply refused = world.Ok(world.Running(definition));
  REQUIRE(refused.failures.size() == 1);
  CHECK(refused.failures[0].reason == "RESOURCE:PORTS");

  world.Stop(task);
  CHECK(world.Instance(id).state.tcp_ports_in_use == std::vector<int64_t>{22});
}

TEST_CASE("a port that the host takes while a task has it stays taken when the task stops") {
  World world;
  const model::InstanceId id = world.Register({});
  model::TaskSpec spec = Spec();
  spec.containers[0].port_mappings = {{.container_port = 80, .host_port = 8080}};
  const model::TaskRecord task = world.Run(spec);
  world.Ok(Again(id, {.tcp_ports = {8080}}));

  world.Restart();
  CHECK(world.Instance(id).state.tcp_ports_in_use == std::vector<int64_t>{8080});
  world.Stop(task);
  CHECK(world.Instance(id).state.tcp_ports_in_use == std::vector<int64_t>{8080});
}

}  // namespace berth::scheduler

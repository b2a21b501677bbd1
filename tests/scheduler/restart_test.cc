#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "scheduler/decision.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::TaskStatus;

// A bit of everything, in all stages of life.
void Populate(World& world) {
  world.Ok(CreateCluster{.name = {"other"}, .document = R"({"a":1})"});
  world.Register({.ec2_instance_id = "i-1", .gpus = Gpus(4), .client_token = "r1"});
  world.Register({.ec2_instance_id = "i-2", .gpus = Gpus(2), .tcp_ports = {22}});
  const model::InstanceId gone = world.Register({.ec2_instance_id = "i-3"});
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = gone});
  model::TaskSpec spec = GpuSpec({Mps(4000), Mps(2000)});
  spec.containers[0].port_mappings = {{.container_port = 80, .host_port = 8080}};
  RunTask command = world.Running(world.Define(spec), 2);
  command.client_token = "token";
  command.started_by = "me";
  command.tags = {{.key = "a", .value = "b"}};
  const RunTask::Reply shared = world.Ok(command);
  world.Report(shared.tasks.at(0), TaskStatus::kRunning);
  world.now += absl::Minutes(1);
  world.Run(GpuSpec({Whole("2")}));
  const model::TaskRecord stopping = world.Run(Spec());
  world.Ok(StopTask{.cluster = {"default"}, .task = stopping->id});
  world.Stop(world.Run(Spec()));
}

}  // namespace

TEST_CASE("after a restart everything is described as before, GPUs and all") {
  World world;
  Populate(world);
  const std::string before = Portrait(world);

  world.Restart();

  CHECK(Portrait(world) == before);
}

TEST_CASE("after a restart account settings and access keys are known, and new keys come after") {
  World world;
  model::Records records = world.store.Load();
  const model::AccountSetting setting{.principal_arn = "arn:aws:iam::000000000000:root",
                                      .name = "containerInsights",
                                      .value = "enabled"};
  records.account_settings.push_back(setting);
  for (const int64_t sequence : {7, 3}) {
    records.access_keys.push_back(std::make_shared<model::AccessKey>(
        model::AccessKey{.id = absl::StrFormat("AKIA%d", sequence), .sequence = sequence}));
  }
  State state;
  REQUIRE(state.Load(std::move(records)).ok());

  const Account& account = state.impl().account;
  CHECK(account.settings().begin()->second == setting);
  CHECK(account.FindKey("AKIA7")->record->sequence == 7);
  CHECK(account.keys().begin()->second.record->id == "AKIA3");
  Decision decision(state);
  CHECK(decision.PutAccessKey({.id = "AKIA8"}).record->sequence == 8);
  CHECK(decision.PutAccessKey({.id = "AKIA3", .sequence = 3, .user = "u"}).record->user == "u");
  CHECK(decision.Answer(0).saw_change == state.change_number());
  CHECK(state.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("after a restart work goes on: new ids, revisions and keys do not meet old ones") {
  World world;
  Populate(world);
  const size_t tasks = world.store.tasks.size();
  const size_t instances = world.store.instances.size();
  world.Restart();

  const DefinitionRecord definition = world.Define(Spec());
  CHECK(definition->id.revision > 1);
  world.Run(definition);
  world.Register({.ec2_instance_id = "i-9"});

  CHECK(world.store.tasks.size() == tasks + 1);
  CHECK(world.store.instances.size() == instances + 1);
  world.Restart();
}

TEST_CASE("after a restart real agents have to connect again, emulated ones not") {
  World world;
  const model::InstanceId real = world.Register({.emulated = false});
  world.Connect(real);
  const model::InstanceId emulated = world.Register({});

  world.Restart();

  CHECK_FALSE(world.Instance(real).agent_connected);
  CHECK(world.Instance(emulated).agent_connected);
  CHECK(world.Run(Spec())->instance == emulated);
}

TEST_CASE("records that do not fit each other are refused by name") {
  struct Case {
    std::string names;
    std::function<void(model::Records&)> damage;
  };
  const auto c = GENERATE(values<Case>({
      {"cluster", [](model::Records& r) { r.clusters.push_back(r.clusters[0]); }},
      {"cluster default, which is not there",
       [](model::Records& r) { r.clusters.erase(r.clusters.begin()); }},
      {"has no spec", [](model::Records& r) { r.definitions[0]->spec = nullptr; }},
      {"is there twice", [](model::Records& r) { r.definitions.push_back(r.definitions[0]); }},
      {"above the last revision", [](model::Records& r) { r.families.clear(); }},
      {"is there twice", [](model::Records& r) { r.instances.push_back(r.instances[0]); }},
      {"its instance", [](model::Records& r) { r.instances.erase(r.instances.begin()); }},
      {"is there twice", [](model::Records& r) { r.tasks.push_back(r.tasks[0]); }},
      {"has no definition", [](model::Records& r) { r.tasks[0]->definition = nullptr; }},
      {"has no spec", [](model::Records& r) { r.tasks[0]->spec = nullptr; }},
      {"containers", [](model::Records& r) { r.tasks[0]->containers.clear(); }},
      {"its tasks hold",
       [](model::Records& r) {
         for (auto& instance : r.instances) instance->resources.memory_mib = 1;
       }},
      {"is held by another task",
       [](model::Records& r) {
         for (auto& task : r.tasks) {
           for (auto& container : task->containers) {
             if (!container.gpu_ids.empty()) container.gpu_ids = {{"GPU-0"}};
           }
           task->instance = r.instances[0]->id;
         }
       }},
      {"a definition that is not there",
       [](model::Records& r) {
         r.tasks[0]->definition = std::make_shared<model::TaskDefinition>(*r.definitions[0]);
       }},
      {"account setting a of p is there twice",
       [](model::Records& r) {
         r.account_settings = {{.principal_arn = "p", .name = "a"},
                               {.principal_arn = "p", .name = "a"}};
       }},
      {"access key AKIA is there twice",
       [](model::Records& r) {
         for (const int64_t sequence : {1, 2}) {
           r.access_keys.push_back(std::make_shared<model::AccessKey>(
               model::AccessKey{.id = "AKIA", .sequence = sequence}));
         }
       }},
      {"client token", [](model::Records& r) { r.client_tokens[0].cluster = {"nowhere"}; }},
  }));
  World world;
  Populate(world);
  model::Records records = world.store.Load();
  c.damage(records);
  State state;

  const absl::Status status = state.Load(std::move(records));

  REQUIRE_FALSE(status.ok());
  INFO(status.ToString());
  CHECK(absl::StrContains(std::string(status.message()), c.names));
}

TEST_CASE("an empty store gives an empty state") {
  State state;
  CHECK(state.Load({}).ok());
  CHECK(state.FindViolations().empty());
}

}  // namespace berth::scheduler

#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::InstanceId;
using model::TaskStatus;

struct Starting : World {
  StartTask On(const std::vector<InstanceId>& instances, const model::TaskSpec& spec = Spec()) {
    return {.instances = instances, .task = Running(Define(spec))};
  }
  // "id REASON" of each failure.
  static std::vector<std::string> Failures(const StartTask::Reply& reply) {
    std::vector<std::string> failures;
    for (const PlacementFailure& failure : reply.failures) {
      failures.push_back(failure.instance.value + " " + failure.reason);
    }
    return failures;
  }
};

}  // namespace

TEST_CASE_METHOD(Starting, "a task starts on each instance named, in the order named") {
  const InstanceId first = Register({});
  const InstanceId second = Register({});
  Register({});
  StartTask command = On({second, first});
  command.task.started_by = "me";
  command.task.tags = {{.key = "a", .value = "b"}};
  command.task.enable_managed_tags = true;

  const StartTask::Reply reply = Ok(command);

  REQUIRE(reply.tasks.size() == 2);
  CHECK(reply.failures.empty());
  CHECK(reply.tasks[0]->instance == second);
  CHECK(reply.tasks[1]->instance == first);
  const model::Task& task = *reply.tasks[0];
  CHECK(task.last_status == TaskStatus::kPending);
  CHECK(task.group == "family:web");
  CHECK(task.started_by == "me");
  CHECK(task.tags == model::Tags{{.key = "a", .value = "b"},
                                 {.key = "aws:ecs:clusterName", .value = "default"}});
  CHECK(task.launch_type == model::LaunchType::kEc2);
  CHECK(task.availability_zone == "rack-7");
  CHECK(EffectsOf<StartTaskOnAgent>(effects).size() == 2);
}

TEST_CASE_METHOD(Starting, "an instance named twice gets one task") {
  const InstanceId id = Register({});

  CHECK(Ok(On({id, id})).tasks.size() == 1);
}

TEST_CASE_METHOD(Starting, "repeated, it starts tasks again, whatever the client token") {
  const InstanceId id = Register({});
  StartTask command = On({id});
  command.task.client_token = "t";
  command.task.fingerprint = "f";

  const StartTask::Reply first = Ok(command);
  const StartTask::Reply second = Ok(command);

  CHECK(first.tasks.at(0)->id != second.tasks.at(0)->id);
  CHECK(store.tokens.empty());
}

TEST_CASE_METHOD(Starting, "instances that are not there to take tasks are failures") {
  const InstanceId good = Register({});
  const InstanceId gone = Register({});
  Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = gone});
  const InstanceId draining = Register({});
  Ok(UpdateContainerInstancesState{
      .cluster = {"default"}, .ids = {draining}, .status = model::InstanceStatus::kDraining});
  const InstanceId alone = Register({.emulated = false});
  const InstanceId unknown{"feed"};

  const StartTask::Reply reply = Ok(On({unknown, gone, draining, alone, good}));

  CHECK(reply.tasks.size() == 1);
  CHECK(Failures(reply) == std::vector<std::string>{"feed MISSING", gone.value + " INACTIVE",
                                                    draining.value + " DRAINING",
                                                    alone.value + " AGENT"});
}

TEST_CASE_METHOD(Starting, "what an instance lacks is its failure, beside the tasks that started") {
  const InstanceId full = Register({.cpu_units = 10});
  const InstanceId poor = Register({.memory_mib = 100});
  const InstanceId taken = Register({.tcp_ports = {8080}});
  const InstanceId good = Register({});
  model::TaskSpec spec = Spec();
  spec.containers[0].cpu_units = 11;
  spec.containers[0].port_mappings = {{.container_port = 80, .host_port = 8080}};

  const StartTask::Reply reply = Ok(On({full, poor, taken, good}, spec));

  CHECK(reply.tasks.at(0)->instance == good);
  CHECK(Failures(reply) == std::vector<std::string>{full.value + " RESOURCE:CPU",
                                                    poor.value + " RESOURCE:MEMORY",
                                                    taken.value + " RESOURCE:PORTS"});
  CHECK(reply.failures[0].detail ==
        "needs 11 CPU units; instance " + full.value + " has only 10 in all");
  CHECK(reply.failures[2].detail == "needs host port 8080/tcp; it is in use on instance " +
                                        taken.value + " by the host itself");
}

TEST_CASE_METHOD(Starting, "a shared GPU is found on the instance named, and its memory is kept") {
  const InstanceId id = Register({.gpus = Gpus(2)});
  const InstanceId without = Register({});
  const StartTask command = On({id, without}, GpuSpec({Mps(12000), Mps(10000)}));

  const StartTask::Reply first = Ok(command);
  const StartTask::Reply second = Ok(command);
  const StartTask::Reply third = Ok(command);

  CHECK(first.tasks.at(0)->containers[0].gpu_ids == std::vector<model::GpuId>{{"GPU-0"}});
  CHECK(first.tasks.at(0)->containers[1].gpu_ids == std::vector<model::GpuId>{{"GPU-0"}});
  CHECK(second.tasks.at(0)->containers[0].gpu_ids == std::vector<model::GpuId>{{"GPU-1"}});
  CHECK(third.tasks.empty());
  CHECK(Failures(third) ==
        std::vector<std::string>{id.value + " RESOURCE:GPU", without.value + " ATTRIBUTE"});
  Restart();
  CHECK(Instance(id).state.gpus[1].remaining_memory_mib == kGpuMib - 22000);
}

TEST_CASE_METHOD(Starting, "on an external instance the task is EXTERNAL, where that can be") {
  const InstanceId external =
      Register({.gpus = Gpus(1), .attributes = {{.name = model::kExternalCapability}}});

  CHECK(Ok(On({external})).tasks.at(0)->launch_type == model::LaunchType::kExternal);
  const StartTask::Reply refused = Ok(On({external}, GpuSpec({Mps(100)})));
  CHECK(refused.tasks.empty());
  CHECK(Failures(refused) == std::vector<std::string>{external.value + " ATTRIBUTE"});
}

TEST_CASE_METHOD(Starting, "it has RunTask's checks, and its own of the list") {
  const InstanceId id = Register({});
  const StartTask good = On({id});

  StartTask command = good;
  command.instances = {};
  CHECK(Refusal(command, ErrorKind::kClient) == "Container Instances cannot be empty.");
  command.instances = std::vector<InstanceId>(10, id);
  CHECK(Ok(command).tasks.size() == 1);
  command.instances = std::vector<InstanceId>(11, id);
  CHECK(Refusal(command) == "instanceIds can have at most 10 items.");

  command.task.cluster = {"nowhere"};
  CHECK(Refusal(command, ErrorKind::kClusterNotFound) == "Cluster not found.");
  command.task = good.task;
  command.task.definition = {.family = "ghost"};
  CHECK(Refusal(command, ErrorKind::kClient) == "TaskDefinition not found.");

  command = good;
  command.task.group = "service:web";
  CHECK_THAT(Refusal(command), Catch::Contains("reserved for services"));
  command = good;
  command.task.started_by = std::string(128, 's');
  CHECK(Ok(command).tasks.size() == 1);
  command.task.started_by += "s";
  CHECK_THAT(Refusal(command), Catch::StartsWith("startedBy has 129 characters"));
}

}  // namespace berth::scheduler

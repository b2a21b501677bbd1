// An agent's access key speaks for the instances that it registered and the tasks on them.
#include "absl/strings/match.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::InstanceId;
using model::TaskStatus;

RegisterContainerInstance By(const std::string& key, const Machine& machine = {}) {
  RegisterContainerInstance command = World::Registration(machine);
  command.registered_by = key;
  command.agent_key = key;
  return command;
}

struct TwoAgents : World {
  TwoAgents()
      : mine(Ok(By("KEY-A", {.ec2_instance_id = "i-mine"})).record->id),
        task(Run(Spec())),
        theirs(Ok(By("KEY-B", {.ec2_instance_id = "i-theirs"})).record->id) {}

  // With its own key, with another agent's, and with none: only the second is refused.
  template <class Command>
  void CheckOwnOnly(Command command) {
    command.agent_key = "KEY-B";
    const std::string before = Portrait(*this);
    CHECK_THAT(Refusal(command, ErrorKind::kAccessDenied), Catch::Contains("is an agent's"));
    CHECK(Portrait(*this) == before);
    CHECK(effects.empty());
    command.agent_key = "KEY-A";
    Ok(command);
    command.agent_key = "";
    Ok(command);
  }

  // What a store has of keys.
  void Create(const std::string& id, const std::string& user) {
    const auto sequence = static_cast<int64_t>(store.access_keys.size()) + 1;
    Keep({.id = id, .sequence = sequence, .user = user, .role = model::KeyRole::kAgent});
  }
  void Revoke(const std::string& id) {
    for (const auto& [sequence, record] : store.access_keys) {
      if (record->id != id) continue;
      model::AccessKey next = *record;
      next.revoked_at = now;
      return Keep(std::move(next));
    }
  }
  void Keep(model::AccessKey key) {
    store.Apply(model::PutAccessKey{std::make_shared<const model::AccessKey>(std::move(key))});
    Restart();
  }

  InstanceId mine;
  model::TaskRecord task;
  InstanceId theirs;
};

}  // namespace

TEST_CASE_METHOD(TwoAgents, "an agent's key changes the state of its own instances only") {
  CheckOwnOnly(UpdateContainerInstancesState{
      .cluster = {"default"}, .ids = {mine}, .status = model::InstanceStatus::kDraining});
  UpdateContainerInstancesState both{
      .cluster = {"default"}, .ids = {mine, theirs}, .agent_key = "KEY-A"};
  Refusal(both, ErrorKind::kAccessDenied);
  CHECK(Instance(mine).record->status == model::InstanceStatus::kDraining);
}

TEST_CASE_METHOD(TwoAgents, "an agent's key connects for its own instances only") {
  CheckOwnOnly(ConnectAgent{.cluster = {"default"}, .instance = mine});
}

TEST_CASE_METHOD(TwoAgents, "an agent's key reports of tasks on its own instances only") {
  CheckOwnOnly(
      ReportTask{.cluster = {"default"}, .task = task->id, .status = TaskStatus::kRunning});
}

TEST_CASE_METHOD(TwoAgents, "an agent's key asks of the protection of tasks on its own only") {
  CheckOwnOnly(GetTaskProtection{.cluster = {"default"}, .tasks = {task->id}});
  CheckOwnOnly(UpdateTaskProtection{.cluster = {"default"}, .tasks = {task->id}});
}

TEST_CASE_METHOD(TwoAgents, "an agent's key takes out its own instances only") {
  CheckOwnOnly(DeregisterContainerInstance{.cluster = {"default"}, .id = mine, .force = true});
}

TEST_CASE_METHOD(TwoAgents, "a report of a task that nobody knows is accepted from any agent") {
  Ok(ReportTask{.cluster = {"default"},
                .task = {"feed"},
                .status = TaskStatus::kStopped,
                .agent_key = "KEY-B"});
}

TEST_CASE_METHOD(TwoAgents, "only the key that registered an instance registers it anew") {
  Machine again{.ec2_instance_id = "i-mine", .existing = mine};

  Refusal(By("KEY-B", again), ErrorKind::kAccessDenied);
  CHECK(Ok(By("KEY-A", again)).record->id == mine);
  // Nor is it pushed out by a machine that claims to be the same.
  again.existing = std::nullopt;
  Refusal(By("KEY-B", again), ErrorKind::kAccessDenied);
  CHECK(Instance(mine).record->status == model::InstanceStatus::kActive);
  CHECK(Ok(By("KEY-A", again)).record->id != mine);
}

TEST_CASE_METHOD(TwoAgents, "a client token shows a registration to its own key only") {
  const Machine machine{.client_token = "t"};
  const InstanceId id = Ok(By("KEY-A", machine)).record->id;

  Refusal(By("KEY-B", machine), ErrorKind::kAccessDenied);
  CHECK(Ok(By("KEY-A", machine)).record->id == id);
}

TEST_CASE("an instance registered without a key goes to the first agent that comes with one") {
  const bool connects = GENERATE(true, false);
  World world;
  const InstanceId id = world.Register({.emulated = false});
  const ConnectAgent connecting{.cluster = {"default"}, .instance = id, .agent_key = "KEY-A"};

  if (connects) {
    world.Ok(connecting);
  } else {
    world.Ok(By("KEY-A", {.existing = id, .emulated = false}));
    world.Ok(connecting);
  }

  world.Restart();
  world.Refusal(By("KEY-B", {.existing = id, .emulated = false}), ErrorKind::kAccessDenied);
  world.Refusal(ConnectAgent{.cluster = {"default"}, .instance = id, .agent_key = "KEY-B"},
                ErrorKind::kAccessDenied);
}

namespace {

// The agent of `mine`, whose key KEY-A is to be exchanged; KEY-C is of another user.
struct Exchange : TwoAgents {
  Exchange() {
    Create("KEY-A", "node-a");
    Create("KEY-A2", "node-a");
    Create("KEY-A3", "node-a");
    Create("KEY-C", "node-c");
  }
  ConnectAgent Connecting(const std::string& key) const {
    return {.cluster = {"default"}, .instance = mine, .agent_key = key};
  }
};

}  // namespace

TEST_CASE_METHOD(Exchange, "while its key is good, no other speaks for an instance") {
  const std::string why = Refusal(Connecting("KEY-A2"), ErrorKind::kAccessDenied);
  CHECK_THAT(why, Catch::Contains("berth key revoke KEY-A"));
  Refusal(By("KEY-A2", {.ec2_instance_id = "i-mine", .existing = mine}), ErrorKind::kAccessDenied);
  CheckOwnOnly(ConnectAgent{.cluster = {"default"}, .instance = mine});
}

TEST_CASE_METHOD(Exchange, "once its key is revoked, another of its user speaks for an instance") {
  Revoke("KEY-A");

  Ok(ReportTask{.cluster = {"default"},
                .task = task->id,
                .status = TaskStatus::kRunning,
                .agent_key = "KEY-A2"});
  CHECK(Task(task->id)->last_status == TaskStatus::kRunning);
  Ok(GetTaskProtection{.cluster = {"default"}, .tasks = {task->id}, .agent_key = "KEY-A2"});
  Ok(CheckAgent{.cluster = {"default"}, .instance = mine, .agent_key = "KEY-A2"});
  Ok(UpdateContainerInstancesState{.cluster = {"default"}, .ids = {mine}, .agent_key = "KEY-A2"});
  Ok(DeregisterContainerInstance{
      .cluster = {"default"}, .id = mine, .force = true, .agent_key = "KEY-A2"});
}

TEST_CASE_METHOD(Exchange, "a revoked key's instance is never another user's") {
  Revoke("KEY-A");

  const std::string why = Refusal(Connecting("KEY-C"), ErrorKind::kAccessDenied);

  CHECK_THAT(why, Catch::Contains("a key of the same user"));
  CHECK_THAT(why, !Catch::Contains("KEY-A") && !Catch::Contains("node-a"));
  Refusal(By("KEY-C", {.ec2_instance_id = "i-mine", .existing = mine}), ErrorKind::kAccessDenied);
  Refusal(By("KEY-C", {.ec2_instance_id = "i-mine"}), ErrorKind::kAccessDenied);
  Refusal(ReportTask{.cluster = {"default"}, .task = task->id, .agent_key = "KEY-C"},
          ErrorKind::kAccessDenied);
}

TEST_CASE_METHOD(Exchange, "the key that takes over has the instance for its own, durably") {
  Revoke("KEY-A");
  if (GENERATE(true, false)) {
    Ok(Connecting("KEY-A2"));
  } else {
    Ok(By("KEY-A2", {.ec2_instance_id = "i-mine", .existing = mine}));
  }
  Restart();

  Refusal(Connecting("KEY-A3"), ErrorKind::kAccessDenied);
  CHECK(Instance(mine).record->registered_by == "KEY-A2");
  CHECK(Do(Connecting("KEY-A2")).changes.empty());
  Revoke("KEY-A2");
  Ok(Connecting("KEY-A3"));
}

TEST_CASE_METHOD(TwoAgents, "an operator who registers an instance anew leaves it to its agent") {
  RegisterContainerInstance command = By("OPERATOR", {.existing = mine});
  command.agent_key = "";

  Ok(command);

  Ok(ConnectAgent{.cluster = {"default"}, .instance = mine, .agent_key = "KEY-A"});
}

}  // namespace berth::scheduler

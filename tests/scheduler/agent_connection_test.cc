#include "absl/strings/match.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::DesiredStatus;
using model::ErrorKind;
using model::TaskStatus;

struct RealAgent {
  RealAgent() : id(world.Register({.emulated = false})) { world.Connect(id); }
  ConnectAgent Connecting() const { return {.cluster = {"default"}, .instance = id}; }
  void Disconnect() { world.Ok(DisconnectAgent{.cluster = {"default"}, .instance = id}); }
  int64_t Version() { return world.Instance(id).record->version; }

  World world;
  model::InstanceId id;
};

std::vector<model::TaskId> Ids(const std::vector<model::TaskRecord>& tasks) {
  std::vector<model::TaskId> ids;
  for (const model::TaskRecord& task : tasks) ids.push_back(task->id);
  return ids;
}

}  // namespace

TEST_CASE_METHOD(RealAgent,
                 "an agent that goes keeps its tasks and gets no more until it is back") {
  const model::TaskRecord task = world.Run(Spec());
  world.Report(task, TaskStatus::kRunning);

  Disconnect();

  CHECK_FALSE(world.Instance(id).agent_connected);
  CHECK(world.Instance(id).record->status == model::InstanceStatus::kActive);
  CHECK(world.Task(task->id)->last_status == TaskStatus::kRunning);
  const RunTask::Reply refused = world.Ok(world.Running(task->definition));
  CHECK(refused.failures.at(0).reason == "AGENT");
  world.Connect(id);
  world.Run(Spec());
}

TEST_CASE_METHOD(RealAgent, "an agent that connects hears what to start, to stop and to keep") {
  const model::TaskRecord pending = world.Run(Spec());
  const model::TaskRecord running = world.Run(Spec());
  const model::TaskRecord stopping = world.Run(Spec());
  const model::TaskRecord stopped = world.Run(Spec());
  world.Report(running, TaskStatus::kRunning);
  world.Report(stopping, TaskStatus::kRunning);
  world.Ok(StopTask{.cluster = {"default"}, .task = stopping->id});
  world.Stop(stopped);
  const model::InstanceId other = world.Register({});
  Disconnect();
  CHECK(world.Run(Spec())->instance == other);

  const ConnectAgent::Reply reply = world.Ok(Connecting());

  CHECK(Ids(reply.to_start) == std::vector{pending->id});
  CHECK(Ids(reply.to_stop) == std::vector{stopping->id});
  CHECK(Ids(reply.running) == std::vector{pending->id, running->id});
}

TEST_CASE_METHOD(RealAgent, "tasks are handed over in the order in which they were placed") {
  const DefinitionRecord definition = world.Define(Spec());
  std::vector<model::TaskId> placed;
  for (int i = 0; i < 20; ++i) placed.push_back(world.Run(definition)->id);

  CHECK(Ids(world.Ok(Connecting()).to_start) == placed);
}

TEST_CASE_METHOD(RealAgent,
                 "connecting and losing the connection are versions, a replaced channel not") {
  const int64_t version = Version();
  world.Ok(Connecting());
  CHECK(Version() == version);
  Disconnect();
  Disconnect();
  CHECK(Version() == version + 1);
  world.Ok(Connecting());
  CHECK(Version() == version + 2);

  SECTION("and a restart, which loses every connection, goes on from there") {
    world.Restart();
    CHECK_FALSE(world.Instance(id).agent_connected);
    CHECK(Version() == version + 3);
    world.Ok(Connecting());
    CHECK(Version() == version + 4);
  }
}

TEST_CASE_METHOD(RealAgent,
                 "losing an agent needs no write, so that it can be heard while none is possible") {
  CHECK(world.Do(DisconnectAgent{.cluster = {"default"}, .instance = id}).changes.empty());
}

TEST_CASE_METHOD(RealAgent, "an agent that is another version now is written down") {
  ConnectAgent command = Connecting();
  command.version_info = {.agent_version = "2.0"};

  CHECK(world.Do(command).changes.size() == 1);

  CHECK(world.Instance(id).record->version_info.agent_version == "2.0");
  CHECK(world.Do(command).changes.empty());
  world.Restart();
  CHECK(world.Instance(id).record->version_info.agent_version == "2.0");
}

TEST_CASE_METHOD(RealAgent, "who is not known, or has left, is not let in") {
  world.Refusal(ConnectAgent{.cluster = {"default"}, .instance = {"feed"}},
                ErrorKind::kInvalidParameter);
  world.Refusal(ConnectAgent{.cluster = {"nowhere"}, .instance = id}, ErrorKind::kClusterNotFound);
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = id, .force = true});
  CHECK(absl::StrContains(world.Refusal(Connecting(), ErrorKind::kClient), "INACTIVE"));
  Disconnect();
  CHECK_FALSE(world.Instance(id).agent_connected);
}

TEST_CASE("the server stays in for an emulated agent, whoever disconnects") {
  World world;
  const model::InstanceId id = world.Register({});
  world.Ok(DisconnectAgent{.cluster = {"default"}, .instance = id});
  CHECK(world.Instance(id).agent_connected);
}

TEST_CASE_METHOD(RealAgent, "a task is CONNECTED when its agent has acknowledged it, once") {
  const model::TaskRecord task = world.Run(Spec());
  world.now += absl::Seconds(2);
  const AcceptTask accepted{.cluster = {"default"}, .task = task->id};

  world.Ok(accepted);

  CHECK(world.Task(task->id)->connectivity);
  CHECK(world.Task(task->id)->connectivity_at == world.now);
  CHECK(world.Task(task->id)->last_status == TaskStatus::kPending);
  world.now += absl::Seconds(2);
  CHECK(world.Do(accepted).changes.empty());
}

TEST_CASE_METHOD(RealAgent, "an acknowledged awsvpc task goes from PROVISIONING to PENDING") {
  model::TaskSpec spec = Spec();
  spec.network_mode = model::NetworkMode::kAwsvpc;
  RunTask command = world.Running(world.Define(spec));
  command.has_network_configuration = true;
  command.subnets = 1;
  const model::TaskRecord task = world.Ok(command).tasks.at(0);

  world.Ok(AcceptTask{.cluster = {"default"}, .task = task->id});

  CHECK(world.Task(task->id)->last_status == TaskStatus::kPending);
  CHECK(world.Cluster().pending_tasks == 1);
}

TEST_CASE_METHOD(RealAgent, "an acknowledgement that comes late changes nothing") {
  const model::TaskRecord task = world.Run(Spec());
  world.Report(task, TaskStatus::kRunning);
  CHECK(world.Task(task->id)->connectivity);
  CHECK(world.Do(AcceptTask{.cluster = {"default"}, .task = task->id}).changes.empty());
  world.Report(task, TaskStatus::kStopped);
  CHECK(world.Do(AcceptTask{.cluster = {"default"}, .task = task->id}).changes.empty());
  CHECK(world.Do(AcceptTask{.cluster = {"default"}, .task = {"feed"}}).reply.ok());
  CHECK(world.Do(AcceptTask{.cluster = {"nowhere"}, .task = {"feed"}}).reply.ok());
}

TEST_CASE_METHOD(RealAgent, "of stop candidates those are confirmed that should not run here") {
  const model::TaskRecord running = world.Run(Spec());
  const model::TaskRecord stopping = world.Run(Spec());
  const model::TaskRecord stopped = world.Run(Spec());
  world.Ok(StopTask{.cluster = {"default"}, .task = stopping->id});
  world.Stop(stopped);
  Disconnect();
  world.Register({});
  const model::TaskRecord elsewhere = world.Run(Spec());
  const model::TaskId unknown{"feed"};

  const auto reply = world.Ok(VerifyStopCandidates{
      .cluster = {"default"},
      .instance = id,
      .candidates = {unknown, running->id, stopping->id, stopped->id, elsewhere->id}});

  CHECK(reply.confirmed == std::vector{unknown, stopping->id, stopped->id, elsewhere->id});
}

}  // namespace berth::scheduler

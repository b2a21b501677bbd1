// Explain and Plan: why tasks of a group found no place, how long that is remembered, where tasks
// would go, and that asking changes nothing.
#include <algorithm>

#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using placement::Choice;
using placement::Remedy;
using placement::Verdict;

Explain AboutGroup(const std::string& group) { return {.cluster = {"default"}, .group = group}; }
Explain AboutTask(const model::TaskId& id) { return {.cluster = {"default"}, .task = id}; }

std::optional<FailedPlacement> FailureOf(World& world, const std::string& group) {
  return world.Ok(AboutGroup(group)).failure;
}

Plan Planning(const World& world, const DefinitionRecord& definition, int64_t count = 1) {
  return {.task = world.Running(definition, count), .count_more = true};
}

// A cluster of one machine with one GPU, and a task that has all of its memory but 2587 MiB.
struct Busy {
  Busy() {
    machine = world.Register({.gpus = Gpus(1)});
    holder = world.Run(GpuSpec({Mps(20000)}));
    wanted = world.Define(GpuSpec({Mps(20000)}));
  }
  World world;
  model::InstanceId machine;
  model::TaskRecord holder;
  DefinitionRecord wanted;

  void Fail(const std::string& group) {
    RunTask command = world.Running(wanted);
    command.group = group;
    REQUIRE(world.Ok(command).tasks.empty());
  }
};

}  // namespace

TEST_CASE("a failed placement is remembered for its group, with how often and from when to when") {
  Busy busy;
  CHECK(FailureOf(busy.world, "g") == std::nullopt);

  busy.Fail("g");
  busy.world.now += absl::Minutes(3);
  busy.Fail("g");
  busy.Fail("other");

  const auto failure = FailureOf(busy.world, "g");
  REQUIRE(failure);
  CHECK(failure->times == 2);
  CHECK(failure->first == kStart);
  CHECK(failure->last == kStart + absl::Minutes(3));
  CHECK(failure->definition == busy.wanted->id);
  CHECK(failure->explanation->verdict == Verdict::kNotNow);
  CHECK(failure->explanation->Summary() ==
        "needs 20000 MiB on one GPU; the largest gap is 2587 MiB on instance " +
            busy.machine.value + "; 2587 MiB are free in total");
  CHECK(FailureOf(busy.world, "other")->times == 1);
}

TEST_CASE("a failure names the task that stands in the way") {
  Busy busy;
  busy.Fail("g");

  const auto failure = FailureOf(busy.world, "g");

  REQUIRE(failure);
  const auto& remedies = failure->explanation->remedies;
  const auto stop = std::find_if(remedies.begin(), remedies.end(), [](const Remedy& remedy) {
    return remedy.kind == Remedy::Kind::kStopTasks;
  });
  REQUIRE(stop != remedies.end());
  REQUIRE(stop->tasks.size() == 1);
  CHECK(stop->tasks[0].id == busy.holder->id.value);

  busy.world.Stop(busy.holder);

  CHECK(busy.world.Ok(busy.world.Running(busy.wanted)).tasks.size() == 1);
}

TEST_CASE("with another machine the task in the way may move there, as its definition allows") {
  Busy busy;
  // Room for the holder; not for what is wanted, which needs more CPU.
  busy.world.Register({.cpu_units = 10, .gpus = Gpus(1)});
  model::TaskSpec spec = GpuSpec({Mps(20000)});
  spec.cpu_text = "1024";
  spec.cpu_units = 1024;
  busy.wanted = busy.world.Define(spec);

  const auto reply = busy.world.Ok(Planning(busy.world, busy.wanted));

  REQUIRE(reply.refusal);
  const Remedy& first = reply.refusal->remedies.front();
  CHECK(first.kind == Remedy::Kind::kMoveTasks);
  REQUIRE(first.tasks.size() == 1);
  CHECK(first.tasks[0].id == busy.holder->id.value);
  CHECK(first.tasks[0].to != busy.machine);
}

TEST_CASE("a failure is forgotten once a task of the group is placed") {
  Busy busy;
  busy.Fail("g");
  busy.Fail("other");
  busy.world.Stop(busy.holder);

  RunTask command = busy.world.Running(busy.wanted);
  command.group = "g";
  REQUIRE(busy.world.Ok(command).tasks.size() == 1);

  CHECK(FailureOf(busy.world, "g") == std::nullopt);
  CHECK(FailureOf(busy.world, "other"));
}

TEST_CASE("where some of a call's tasks are placed, why the rest is not is remembered") {
  Busy busy;
  RunTask command = busy.world.Running(busy.world.Define(GpuSpec({Mps(1000)})), 4);
  command.group = "g";

  const auto reply = busy.world.Ok(command);

  CHECK(reply.tasks.size() == 2);
  REQUIRE(FailureOf(busy.world, "g"));
  CHECK(FailureOf(busy.world, "g")->times == 1);
}

TEST_CASE("StartTask too forgets what was in the way of its group") {
  Busy busy;
  busy.Fail("family:web");
  busy.world.Stop(busy.holder);

  StartTask command{.instances = {busy.machine}, .task = busy.world.Running(busy.wanted)};
  REQUIRE(busy.world.Ok(command).tasks.size() == 1);

  CHECK(FailureOf(busy.world, "family:web") == std::nullopt);
}

TEST_CASE("a failure is forgotten after a time, counted from the latest") {
  Busy busy;
  busy.Fail("g");
  busy.world.now += absl::Hours(20);
  busy.Fail("g");
  busy.world.now += absl::Hours(24);
  busy.world.Ok(Tick{});
  CHECK(FailureOf(busy.world, "g"));

  busy.world.now += absl::Seconds(1);
  busy.world.Ok(Tick{});

  CHECK(FailureOf(busy.world, "g") == std::nullopt);
}

TEST_CASE("only so many groups' failures are kept, the latest") {
  FailureLog log;
  for (int i = 0; i < 5; ++i) {
    log.Note("g" + std::to_string(i), {}, {}, kStart + absl::Seconds(i), 3);
  }
  log.Note("g2", {}, {}, kStart + absl::Seconds(10), 3);
  log.Note("new", {}, {}, kStart + absl::Seconds(11), 3);

  CHECK(log.size() == 3);
  CHECK(log.Find("g2") != nullptr);
  CHECK(log.Find("g4") != nullptr);
  CHECK(log.Find("new") != nullptr);
  CHECK(log.Find("g3") == nullptr);
}

TEST_CASE("a plan says where tasks would go, why, and how many more would fit") {
  World world;
  const auto a = world.Register({.gpus = Gpus(1)});
  const auto b = world.Register({.gpus = Gpus(1)});
  const DefinitionRecord definition = world.Define(GpuSpec({Mps(10000)}));
  const std::string before = Portrait(world);

  const auto reply = world.Ok(Planning(world, definition, 2));

  REQUIRE(reply.tasks.size() == 2);
  const std::string first = std::min(a, b).value;
  CHECK(reply.tasks[0].placement.instance.value == first);
  REQUIRE(reply.tasks[0].choice);
  CHECK(reply.tasks[0].choice->criterion == Choice::Criterion::kLowestId);
  CHECK(reply.tasks[1].placement.instance.value == first);
  CHECK(reply.tasks[1].choice->criterion == Choice::Criterion::kSharedGpu);
  CHECK(reply.more == 2);
  REQUIRE(reply.refusal);
  CHECK(reply.refusal->fitting == 0);
  CHECK(reply.refusal->largest_gap_mib == 2587);
  CHECK(Portrait(world) == before);
  CHECK(world.changes.empty() == false);  // the registrations', and none of the plan
  CHECK(world.effects.empty());
}

TEST_CASE("what is planned comes to pass") {
  World world;
  for (int i = 0; i < 3; ++i) world.Register({.gpus = Gpus(2)});
  const DefinitionRecord definition = world.Define(GpuSpec({Mps(9000)}));

  const auto planned = world.Ok(Planning(world, definition, 10));
  const auto run = world.Ok(world.Running(definition, 10));

  REQUIRE(planned.tasks.size() == 10);
  REQUIRE(run.tasks.size() == 10);
  for (size_t i = 0; i < run.tasks.size(); ++i) {
    CHECK(planned.tasks[i].placement.instance == run.tasks[i]->instance);
    CHECK(planned.tasks[i].placement.reservation.gpus == run.tasks[i]->containers[0].gpu_ids);
  }
  CHECK(planned.more == 2);  // 6 GPUs hold 2 each
}

TEST_CASE("a plan that does not fit leaves no trace") {
  Busy busy;

  const auto reply = busy.world.Ok(Planning(busy.world, busy.wanted, 3));

  CHECK(reply.tasks.empty());
  CHECK(reply.more == 0);
  REQUIRE(reply.refusal);
  CHECK(FailureOf(busy.world, reply.group) == std::nullopt);
}

TEST_CASE("a plan shows what its group has been refused for before") {
  Busy busy;
  busy.Fail("g");
  busy.world.Stop(busy.holder);
  Plan plan = Planning(busy.world, busy.wanted);
  plan.task.group = "g";

  const auto reply = busy.world.Ok(plan);

  CHECK(reply.tasks.size() == 1);
  REQUIRE(reply.failure);
  CHECK(reply.failure->times == 1);
}

TEST_CASE("without asking for more, no more are tried") {
  World world;
  world.Register({.gpus = Gpus(1)});
  Plan plan = Planning(world, world.Define(GpuSpec({Mps(1000)})));
  plan.count_more = false;

  const auto reply = world.Ok(plan);

  CHECK(reply.tasks.size() == 1);
  CHECK(reply.more == 0);
  CHECK(reply.refusal == nullptr);
}

TEST_CASE("a plan ends at a limit where there is room for more") {
  World world;
  world.Register({.cpu_units = 100});
  // Neither CPU nor a share: the memory that each takes is all that counts.
  world.Register({.memory_mib = 128 * (kPlanMoreMax + 10)});

  const auto reply = world.Ok(Planning(world, world.Define(Spec())));

  CHECK(reply.tasks.size() == 1);
  CHECK(reply.more == kPlanMoreMax);
  CHECK(reply.refusal == nullptr);
}

TEST_CASE("plans are refused as RunTask is") {
  World world;
  const DefinitionRecord definition = world.Define(Spec());

  CHECK(world.Refusal(Planning(world, definition, 0)) == "count is 0; it must be from 1 to 1000");
  CHECK(world.Refusal(Planning(world, definition, kPlanCountMax + 1)) ==
        "count is 1001; it must be from 1 to 1000");
  Plan unknown = Planning(world, definition);
  unknown.task.definition.revision = 9;
  world.Refusal(unknown, ErrorKind::kClient);
  Plan elsewhere = Planning(world, definition);
  elsewhere.task.cluster = {"elsewhere"};
  world.Refusal(elsewhere, ErrorKind::kClusterNotFound);
}

TEST_CASE("a plan asks for no network, and finds out the launch type") {
  World world;
  world.Register({});
  model::TaskSpec spec = Spec();
  spec.network_mode = model::NetworkMode::kAwsvpc;
  spec.requires_compatibilities = {"MANAGED_INSTANCES"};
  spec.cpu_text = "256";
  spec.cpu_units = 256;
  spec.memory_text = "512";
  spec.memory_mib = 512;

  CHECK(world.Ok(Planning(world, world.Define(spec))).tasks.size() == 1);
}

TEST_CASE("a plan of an empty cluster says that there is no instance") {
  World world;

  const auto reply = world.Ok(Planning(world, world.Define(Spec())));

  REQUIRE(reply.refusal);
  CHECK(reply.refusal->instances == 0);
  CHECK(reply.refusal->Summary() == "the cluster has no container instance");
}

TEST_CASE("a task is told where it is and where it would go today") {
  World world;
  const auto machine = world.Register({.gpus = Gpus(2)});
  const model::TaskRecord task = world.Run(GpuSpec({Mps(5000)}));
  const std::string before = Portrait(world);

  const auto reply = world.Ok(AboutTask(task->id));

  CHECK(reply.task->instance == machine);
  REQUIRE(reply.today);
  CHECK(reply.today->placement.instance == machine);
  CHECK(reply.today->placement.reservation.gpus == task->containers[0].gpu_ids);
  CHECK(reply.today->choice->criterion == Choice::Criterion::kOnlyOne);
  CHECK(reply.group == "family:web");
  CHECK(Portrait(world) == before);
}

TEST_CASE("a STOPPED task is told as it ended") {
  World world;
  world.Register({});
  const model::TaskRecord task = world.Run(Spec());
  world.Stop(task);

  const auto reply = world.Ok(AboutTask(task->id));

  CHECK(reply.task->last_status == model::TaskStatus::kStopped);
  CHECK(reply.today == std::nullopt);
}

TEST_CASE("a task on a machine that registered with less is explained all the same") {
  World world;
  Machine machine{.gpus = Gpus(1)};
  machine.existing = world.Register(machine);
  const model::TaskRecord task = world.Run(GpuSpec({Mps(20000)}));
  machine.gpus = Gpus(1, 8000);
  world.Register(machine);

  const auto reply = world.Ok(AboutTask(task->id));

  CHECK(reply.today == std::nullopt);
}

TEST_CASE("a task that is not known is an error") {
  World world;

  world.Refusal(AboutTask({"00000000000000000000000000000000"}), ErrorKind::kInvalidParameter);
}

}  // namespace berth::scheduler

// Defrag: which tasks to move, that asking moves none, and how fragmented clusters are.
#include "scheduler/defrag.h"

#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using PlanOutcome = placement::DefragPlan::Outcome;

// Two machines of one GPU (22587 MiB) each, with a task that shares on either.
struct Halves {
  Halves() {
    first = world.Register({.gpus = Gpus(1)});
    left = world.Run(GpuSpec({Mps(10000)}));
    pad = world.Run(GpuSpec({Mps(12000)}));
    second = world.Register({.gpus = Gpus(1)});
    right = world.Run(GpuSpec({Mps(11000)}));
    world.Stop(pad);
    whole = world.Define(GpuSpec({Whole("1")}));
  }
  Defrag Asking(int64_t count = 1, int64_t moves = 5) const {
    return {.cluster = {"default"}, .task = world.Running(whole, count), .moves_max = moves};
  }

  World world;
  model::InstanceId first;
  model::InstanceId second;
  model::TaskRecord left;
  model::TaskRecord pad;
  model::TaskRecord right;
  DefinitionRecord whole;
};

}  // namespace

TEST_CASE("a task that finds no room is told which task to move, and none is") {
  Halves halves;
  REQUIRE(halves.world.Ok(halves.world.Running(halves.whole)).tasks.empty());

  const auto reply = halves.world.Ok(halves.Asking());

  CHECK(reply.plan.outcome == PlanOutcome::kMoves);
  REQUIRE(reply.plan.moves.size() == 1);
  CHECK(reply.plan.moves[0].task == reply.moved.at(0)->id.value);
  CHECK(reply.plan.moves[0].from != reply.plan.moves[0].to);
  REQUIRE(reply.plan.places.size() == 1);
  CHECK(reply.plan.places[0].instance == reply.plan.moves[0].from);
  CHECK(halves.world.state.FindViolations().empty());
  CHECK(halves.world.Ok(halves.world.Running(halves.whole)).tasks.empty());
}

TEST_CASE("a plan keeps its word when its task is stopped") {
  Halves halves;
  const auto reply = halves.world.Ok(halves.Asking());
  REQUIRE(reply.moved.size() == 1);

  halves.world.Stop(reply.moved[0]);

  CHECK(halves.world.Ok(halves.world.Running(halves.whole)).tasks.size() == 1);
}

TEST_CASE("without a task, the moves lower fragmentation") {
  Halves halves;

  // The mix is of three tasks that shared 10000 to 12000 MiB: 11587 and 12587 MiB are left.
  const auto before = halves.world.Ok(ReadFragmentation{.clusters = {{"default"}, {"none"}}});
  const auto reply = halves.world.Ok(Defrag{.cluster = {"default"}});

  REQUIRE(before.rows.size() == 1);
  CHECK(before.rows[0].figures == reply.plan.before);
  CHECK(before.rows[0].figures.idle_mib == 2 * 22587 - 21000);
  // A third of the mix, the 12000, does not fit on the one with 11587 MiB.
  CHECK(before.rows[0].figures.fragmented_mib() == Approx(11587.0 / 3).margin(0.01));
  CHECK(reply.typical_tasks == 3);
  CHECK(reply.plan.after.fragmented_milli_mib <= reply.plan.before.fragmented_milli_mib);
  REQUIRE(reply.worst.size() == 1);
  CHECK(reply.worst[0].instance == halves.second);
}

TEST_CASE("the mix is learned again from the tasks that are remembered after a restart") {
  Halves halves;
  const auto before = halves.world.Ok(Defrag{.cluster = {"default"}});

  halves.world.Restart();

  CHECK(halves.world.Ok(Defrag{.cluster = {"default"}}).typical_tasks == before.typical_tasks);
}

TEST_CASE("a protected task is not moved") {
  Halves halves;
  // Only tasks of services are protected.
  for (auto& [sequence, task] : halves.world.store.tasks) {
    auto next = std::make_shared<model::Task>(*task);
    next->group = "service:web";
    task = std::move(next);
  }
  halves.world.Restart();
  REQUIRE(halves.world.Ok(halves.Asking()).plan.outcome == PlanOutcome::kMoves);

  halves.world.Ok(UpdateTaskProtection{.cluster = {"default"},
                                       .tasks = {halves.left->id, halves.right->id},
                                       .enabled = true,
                                       .duration = absl::Hours(1)});

  CHECK(halves.world.Ok(halves.Asking()).plan.outcome == PlanOutcome::kNoPlan);
  halves.world.now += absl::Hours(1);
  CHECK(halves.world.Ok(halves.Asking()).plan.outcome == PlanOutcome::kMoves);
}

TEST_CASE("a task that is ending is not moved") {
  Halves halves;
  for (const model::TaskRecord& task : {halves.left, halves.right}) {
    halves.world.Report(task, model::TaskStatus::kRunning);
    halves.world.Ok(StopTask{.cluster = {"default"}, .task = task->id});
  }

  CHECK(halves.world.Ok(halves.Asking()).plan.outcome == PlanOutcome::kNoPlan);
}

TEST_CASE("a draining instance is no place to move to") {
  Halves halves;
  halves.world.Ok(UpdateContainerInstancesState{
      .cluster = {"default"}, .ids = {halves.first}, .status = model::InstanceStatus::kDraining});

  CHECK(halves.world.Ok(halves.Asking()).plan.outcome == PlanOutcome::kNoPlan);
}

TEST_CASE("Defrag refuses what it cannot plan") {
  Halves halves;
  halves.world.Refusal(Defrag{.cluster = {"none"}}, ErrorKind::kClusterNotFound);
  CHECK(halves.world.Refusal(halves.Asking(0)) == "count is 0; it must be from 1 to 100");
  halves.world.Refusal(halves.Asking(placement::kDefragCountMax + 1));
  CHECK(halves.world.Refusal(halves.Asking(1, -1)) == "moves is -1; it must be from 0 to 20");
  halves.world.Refusal(halves.Asking(1, placement::kDefragMovesMax + 1));
}

}  // namespace berth::scheduler

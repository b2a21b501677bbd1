// Defrag: which tasks to move, so that others find room or less GPU memory is fragmented. A
// question: what it tries out on the inventory is undone before it answers.
#include "scheduler/defrag.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/decision.h"
#include "scheduler/explain.h"
#include "scheduler/run_task_plan.h"

namespace berth::scheduler {
namespace {

absl::Status CheckRange(const char* name, int64_t value, int64_t min, int64_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return model::InvalidParameter(
      absl::StrFormat("%s is %d; it must be from %d to %d", name, value, min, max));
}

bool MayMove(const model::Task& task, absl::Time now) {
  return task.desired_status == model::DesiredStatus::kRunning && task.protected_until <= now;
}

// What is to find room, or nothing. Refuses as RunTask does.
absl::StatusOr<std::optional<RunTaskPlan>> ReadWanted(Decision& decision, const Defrag& command) {
  if (!command.task) return std::nullopt;
  RunTask asked = *command.task;
  asked.count = 1;
  asked.client_token.clear();
  FillInForPlan(decision.state(), asked);
  absl::StatusOr<RunTaskPlan> plan = PlanRunTask(decision, asked);
  if (!plan.ok()) return plan.status();
  return *std::move(plan);
}

}  // namespace

Outcome<Defrag::Reply> Decide(State& state, const Defrag& command, Context context) {
  using Reply = Defrag::Reply;
  Decision decision(state);
  ClusterState* cluster = decision.state().FindActiveCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  const int64_t count = command.task ? command.task->count : 1;
  absl::Status status = CheckRange("moves", command.moves_max, 0, placement::kDefragMovesMax);
  if (status.ok()) status = CheckRange("count", count, 1, placement::kDefragCountMax);
  if (!status.ok()) return decision.Refuse<Reply>(std::move(status));
  const absl::StatusOr<std::optional<RunTaskPlan>> wanted = ReadWanted(decision, command);
  if (!wanted.ok()) return decision.Refuse<Reply>(wanted.status());
  decision.Saw(cluster->newest_change());

  const auto movable = [&](const model::InstanceId& id) {
    std::vector<placement::Holder> holders;
    for (const TaskEntry* entry : cluster->FindInstance(id)->live) {
      if (!MayMove(*entry->record, context.now)) continue;
      holders.push_back(HolderOf(decision.state(), *entry->record));
    }
    return holders;
  };
  placement::ClusterFragmentation& fragmentation = cluster->fragmentation();
  placement::Inventory& inventory = cluster->inventory_for_trial();
  Reply reply;
  if (*wanted) {
    const RunTaskPlan& plan = **wanted;
    reply.definition = plan.definition;
    reply.group = plan.group;
    reply.plan = placement::PlanRoom(
        {.demand = plan.demand, .rules = plan.rules, .group = plan.group, .count = count},
        command.moves_max, movable, fragmentation, inventory);
  } else {
    reply.plan =
        placement::PlanLessFragmentation(command.moves_max, movable, fragmentation, inventory);
  }
  for (const placement::DefragMove& move : reply.plan.moves) {
    reply.moved.push_back(cluster->FindTask({move.task})->record);
  }
  reply.worst = fragmentation.Worst(inventory, kDefragWorstMax);
  reply.typical_tasks = fragmentation.mix().covered();
  return decision.Answer(std::move(reply));
}

Outcome<ReadFragmentation::Reply> Decide(State& state, const ReadFragmentation& command, Context) {
  Decision decision(state);
  ReadFragmentation::Reply reply;
  for (const model::ClusterName& name : command.clusters) {
    ClusterState* cluster = decision.state().FindActiveCluster(name);
    if (cluster == nullptr) continue;
    decision.Saw(cluster->newest_change());
    reply.rows.push_back(
        {.cluster = name, .figures = cluster->fragmentation().Read(cluster->inventory())});
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

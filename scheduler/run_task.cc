// RunTask: places `count` tasks one by one, each seeing what the one before took.
//
// A task that finds no place is an answer, not an error: it shows in `failures`, beside those that
// were placed. A clientToken makes the call safe to repeat: SDKs send one with every call and
// repeat it when the answer is lost, and starting twice what was asked for once would be the worst
// of faults.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/errors.h"
#include "placement/explanation.h"
#include "placement/place.h"
#include "scheduler/decision.h"
#include "scheduler/explain.h"
#include "scheduler/new_task.h"
#include "scheduler/run_task_plan.h"

namespace berth::scheduler {
namespace {

constexpr char kNoFargate[] =
    "Capacity is unavailable at this time. Please try again later or in a different availability "
    "zone";

// A token stands for its request until it is too old or the last of its tasks is forgotten.
TokenEntry* FindLiveToken(const State::Impl& state, ClusterState& cluster, const std::string& token,
                          absl::Time now) {
  if (token.empty()) return nullptr;
  TokenEntry* entry = cluster.FindToken(token);
  if (entry == nullptr || now - entry->record.created_at >= state.retention.client_tokens) {
    return nullptr;
  }
  return entry;
}

Outcome<RunTask::Reply> Repeat(Decision& decision, const ClusterState& cluster,
                               const TokenEntry& token, const RunTask& command) {
  decision.Saw(token.change);
  if (token.record.fingerprint != command.fingerprint) {
    return decision.Refuse<RunTask::Reply>(model::TokenConflict(token.record.tasks));
  }
  RunTask::Reply reply;
  for (const model::TaskId& id : token.record.tasks) {
    const TaskEntry* task = cluster.FindTask(id);
    if (task == nullptr) {
      decision.SawNothing();
      continue;
    }
    decision.Saw(task->change);
    reply.tasks.push_back(task->record);
  }
  return decision.Answer(std::move(reply));
}

// What `random`, a strategy or a GPU policy, chooses by: one more draw from the ids, which are all
// the randomness there is.
uint64_t SeedFor(const RunTaskPlan& plan, model::IdSource& ids) {
  const std::vector<placement::Strategy>& strategies = plan.rules.strategies;
  const bool draws =
      plan.cluster->inventory().gpu_policy().kind == placement::GpuPolicyKind::kRandom ||
      std::any_of(strategies.begin(), strategies.end(), [](const auto& strategy) {
        return strategy.kind == placement::Strategy::Kind::kRandom;
      });
  if (!draws) return 0;
  uint64_t seed = 14695981039346656037u;  // FNV-1a
  for (const unsigned char c : ids.NewHex32()) seed = (seed ^ c) * 1099511628211u;
  return seed;
}

// One entry per instance, its first shortfall, however many tasks found no place. Instances that
// are not ACTIVE are no news to who asked.
std::vector<PlacementFailure> Failures(const RunTaskPlan& plan,
                                       const placement::Explanation& explanation) {
  std::vector<PlacementFailure> failures;
  for (const placement::TurnedAway& entry : explanation.turned_away) {
    const InstanceEntry* instance = plan.cluster->FindInstance(entry.instance);
    if (instance->record->status != model::InstanceStatus::kActive) continue;
    failures.push_back({.instance = entry.instance,
                        .reason = std::string(placement::EcsReason(entry.shortfall.dimension)),
                        .detail = explanation.Detail(entry)});
  }
  // Only so many are listed one by one, and those may all have been left out above; that no task
  // was placed is said all the same.
  if (failures.empty()) {
    for (const placement::Explanation::Count& count : explanation.funnel) {
      failures.push_back({.reason = std::string(placement::EcsReason(count.dimension))});
    }
  }
  return failures;
}

}  // namespace

Outcome<RunTask::Reply> Decide(State& state, const RunTask& command, Context context) {
  Decision decision(state);
  absl::StatusOr<RunTaskPlan> plan = PlanRunTask(decision, command);
  if (!plan.ok()) return decision.Refuse<RunTask::Reply>(plan.status());
  ClusterState& cluster = *plan->cluster;

  if (const TokenEntry* token =
          FindLiveToken(decision.state(), cluster, command.client_token, context.now)) {
    return Repeat(decision, cluster, *token, command);
  }
  RunTask::Reply reply;
  if (plan->launch_type == model::LaunchType::kFargate) {
    reply.failures.push_back({.reason = kNoFargate});
    return decision.Answer(std::move(reply));
  }
  if (cluster.active_instances() == 0) {
    decision.Saw(cluster.newest_change());
    return decision.Refuse<RunTask::Reply>(model::NoContainerInstances());
  }

  std::vector<model::TaskId> placed;
  for (int64_t n = 0; n < command.count; ++n) {
    cluster.NoteArrival(plan->demand);
    const std::optional<placement::Placement> placement =
        placement::Place(plan->demand, cluster.inventory(), plan->rules,
                         {.group = plan->group, .seed = SeedFor(*plan, context.ids)});
    if (!placement) {
      // What does not fit now does not fit for the rest of the call either.
      for (int64_t rest = n + 1; rest < command.count; ++rest) cluster.NoteArrival(plan->demand);
      decision.Saw(cluster.newest_change());
      placement::Explanation explanation = ExplainPlan(decision.state(), *plan);
      reply.failures = Failures(*plan, explanation);
      cluster.failures().Note(plan->group, plan->definition->id, std::move(explanation),
                              context.now, decision.state().retention.failed_placement_groups_max);
      break;
    }
    const TaskEntry& task = decision.AddTask(cluster, NewTask(command, *plan, *placement, context));
    decision.Do(StartTaskOnAgent{task.record});
    placed.push_back(task.record->id);
    reply.tasks.push_back(task.record);
  }
  if (!command.client_token.empty() && !placed.empty()) {
    decision.PutToken(cluster, {.cluster = command.cluster,
                                .token = command.client_token,
                                .fingerprint = command.fingerprint,
                                .tasks = std::move(placed),
                                .created_at = context.now});
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

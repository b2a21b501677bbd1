// StartTask: one task on each container instance that the caller names. It has RunTask's checks and
// shares its planning, but nothing is chosen: no strategies, no constraints, and no client token,
// so that a repeated call starts tasks again. Rules: ecs-api.md 7.4.
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "placement/explanation.h"
#include "placement/place_on.h"
#include "scheduler/decision.h"
#include "scheduler/new_task.h"
#include "scheduler/run_task_plan.h"
#include "scheduler/unique_ids.h"

namespace berth::scheduler {
namespace {

using model::InstanceId;
using model::InstanceStatus;
using model::LaunchType;

constexpr size_t kInstancesMax = 10;
constexpr char kMissing[] = "MISSING";
constexpr char kInactive[] = "INACTIVE";
constexpr char kDraining[] = "DRAINING";

absl::Status CheckInstances(const std::vector<InstanceId>& instances) {
  if (instances.empty()) return model::ClientError("Container Instances cannot be empty.");
  if (instances.size() <= kInstancesMax) return absl::OkStatus();
  return model::InvalidParameter(
      absl::StrFormat("instanceIds can have at most %d items.", kInstancesMax));
}

// What keeps every task off the instance, whatever it asks for.
std::optional<PlacementFailure> FindBar(const InstanceEntry* entry, const InstanceId& id) {
  if (entry == nullptr) return PlacementFailure{.instance = id, .reason = kMissing};
  switch (entry->record->status) {
    case InstanceStatus::kActive:
      return std::nullopt;
    case InstanceStatus::kDraining:
      return PlacementFailure{
          .instance = id,
          .reason = kDraining,
          .detail = absl::StrFormat(
              "instance %s is DRAINING and takes no tasks; UpdateContainerInstancesState makes it "
              "ACTIVE again",
              id.value)};
    case InstanceStatus::kInactive:
      break;
  }
  return PlacementFailure{.instance = id, .reason = kInactive};
}

// The machine decides: its tasks are EXTERNAL when it is.
LaunchType LaunchTypeOn(const model::ContainerInstance& instance) {
  return model::FindAttribute(instance, model::kExternalCapability) == nullptr
             ? LaunchType::kEc2
             : LaunchType::kExternal;
}

// The definition as planned, for one instance.
std::optional<PlacementFailure> Adapt(RunTaskPlan& plan, const model::ContainerInstance& instance) {
  plan.launch_type = LaunchTypeOn(instance);
  plan.demand.launch_type = plan.launch_type;
  if (SupportsLaunchType(plan)) return std::nullopt;
  return PlacementFailure{
      .instance = instance.id,
      .reason = std::string(placement::EcsReason(placement::Dimension::kLaunchType)),
      .detail = absl::StrFormat("instance %s is external, and the task definition does not support "
                                "launch type EXTERNAL",
                                instance.id.value)};
}

// Looked at when all tasks are placed, and once: it costs a walk over the cluster.
void ExplainTurnedAway(const RunTaskPlan& plan,
                       const std::vector<placement::TurnedAway>& turned_away,
                       std::vector<PlacementFailure>& failures) {
  if (turned_away.empty()) return;
  const placement::Explanation explanation =
      placement::Explain(plan.demand, plan.cluster->inventory());
  for (const placement::TurnedAway& entry : turned_away) {
    failures.push_back({.instance = entry.instance,
                        .reason = std::string(placement::EcsReason(entry.shortfall.dimension)),
                        .detail = explanation.Detail(entry)});
  }
}

}  // namespace

Outcome<StartTask::Reply> Decide(State& state, const StartTask& command, Context context) {
  using Reply = StartTask::Reply;
  Decision decision(state);
  RunTask asked = command.task;
  asked.count = 1;
  asked.launch_type = std::nullopt;
  asked.client_token.clear();
  asked.rules = {};
  if (absl::Status status = CheckInstances(command.instances); !status.ok()) {
    asked.later_refusal = std::move(status);
  }
  absl::StatusOr<RunTaskPlan> plan = PlanRunTask(decision, asked);
  if (!plan.ok()) return decision.Refuse<Reply>(plan.status());

  ClusterState& cluster = *plan->cluster;
  Reply reply;
  std::vector<placement::TurnedAway> turned_away;
  for (const InstanceId& id : WithoutRepeats(command.instances)) {
    cluster.NoteArrival(plan->demand);
    const InstanceEntry* entry = cluster.FindInstance(id);
    if (entry == nullptr) {
      decision.SawNothing();
    } else {
      decision.Saw(entry->change);
    }
    std::optional<PlacementFailure> failure = FindBar(entry, id);
    if (!failure) failure = Adapt(*plan, *entry->record);
    if (failure) {
      reply.failures.push_back(*std::move(failure));
      continue;
    }
    auto place = placement::PlaceOn(id, plan->demand, cluster.inventory());
    if (const auto* shortfall = std::get_if<placement::Shortfall>(&place)) {
      turned_away.push_back({.instance = id, .shortfall = *shortfall});
      continue;
    }
    const TaskEntry& task = decision.AddTask(
        cluster, NewTask(asked, *plan, std::get<placement::Placement>(place), context));
    decision.Do(StartTaskOnAgent{task.record});
    reply.tasks.push_back(task.record);
  }
  ExplainTurnedAway(*plan, turned_away, reply.failures);
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

// Explain and Plan: questions about placement. They start nothing; what they try out on the
// inventory is undone before they answer.
//
// The rules of a task that runs are its definition's alone: the constraints and strategies of the
// RunTask that started it are not kept.
#include "scheduler/explain.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/errors.h"
#include "placement/choice.h"
#include "placement/place.h"
#include "scheduler/decision.h"
#include "scheduler/reservation.h"

namespace berth::scheduler {
namespace {

using model::TaskStatus;
using placement::Inventory;
using placement::Placement;

placement::Rules RulesOf(const State::Impl& state, const model::Task& task) {
  const DefinitionEntry* entry = state.definitions.Find(task.definition->id);
  placement::Rules rules;
  if (entry != nullptr && entry->member_of.ok()) rules.member_of = *entry->member_of;
  return rules;
}

placement::Demand DemandOf(const model::Task& task) {
  return DemandFor(*task.spec, *task.definition, task.overrides != nullptr, task.launch_type);
}

// What is placed for trial goes again, the latest first.
class Trial {
 public:
  explicit Trial(Inventory& inventory) : inventory_(inventory) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    for (auto placed = placed_.rbegin(); placed != placed_.rend(); ++placed) {
      inventory_.Release(placed->instance, placed->reservation);
    }
  }

  void Reserve(Placement placement) {
    inventory_.Reserve(placement.instance, placement.reservation);
    placed_.push_back(std::move(placement));
  }

 private:
  Inventory& inventory_;
  std::vector<Placement> placed_;
};

// A task that runs is taken away, and comes back.
class Absence {
 public:
  Absence(Inventory& inventory, const model::Task& task)
      : inventory_(inventory), instance_(task.instance), reservation_(ReservationOf(task)) {
    inventory_.Release(instance_, reservation_);
  }
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;
  // Not Reserve: the machine may have registered with less since.
  ~Absence() { BERTH_CHECK(inventory_.Restore(instance_, reservation_)); }

 private:
  Inventory& inventory_;
  const model::InstanceId instance_;
  const placement::Reservation reservation_;
};

std::optional<PlannedTask> PlanOne(const placement::Demand& demand, Inventory& inventory,
                                   const placement::Rules& rules,
                                   const placement::TaskToPlace& task, bool with_reason) {
  std::optional<Placement> placement = placement::Place(demand, inventory, rules, task);
  if (!placement) return std::nullopt;
  PlannedTask planned{.placement = *std::move(placement)};
  if (with_reason) {
    std::optional<Placement> other =
        placement::PlaceElsewhere(demand, inventory, rules, task, planned.placement.instance);
    planned.choice =
        placement::Compare(demand, inventory, rules, task, planned.placement, std::move(other));
  }
  return planned;
}

absl::Status CheckPlanCount(int64_t count) {
  if (count >= 1 && count <= kPlanCountMax) return absl::OkStatus();
  return model::InvalidParameter(
      absl::StrFormat("count is %d; it must be from 1 to %d", count, kPlanCountMax));
}

std::optional<FailedPlacement> FailureOf(const ClusterState& cluster, const std::string& group) {
  const FailedPlacement* failure = cluster.failures().Find(group);
  if (failure == nullptr) return std::nullopt;
  return *failure;
}

}  // namespace

void FillInForPlan(const State::Impl& state, RunTask& asked) {
  const DefinitionEntry* entry = state.definitions.Resolve(asked.definition);
  if (entry == nullptr) return;
  const model::TaskDefinition& definition = *entry->record;
  if (!asked.has_network_configuration &&
      model::EffectiveNetworkMode(*definition.spec) == model::NetworkMode::kAwsvpc) {
    asked.has_network_configuration = true;
    asked.subnets = 1;
  }
  const std::vector<model::LaunchType>& possible = definition.compatibilities;
  const bool takes_ec2 =
      std::find(possible.begin(), possible.end(), model::LaunchType::kEc2) != possible.end();
  if (!asked.launch_type && !takes_ec2 && !possible.empty()) asked.launch_type = possible.front();
}

placement::Holder HolderOf(const State::Impl& state, const model::Task& task) {
  return {.id = task.id.value,
          .reservation = ReservationOf(task),
          .demand = DemandOf(task),
          .rules = RulesOf(state, task)};
}

placement::Explanation ExplainPlan(const State::Impl& state, const RunTaskPlan& plan) {
  const ClusterState& cluster = *plan.cluster;
  placement::Explanation why =
      placement::Explain(plan.demand, cluster.inventory(), plan.rules, plan.group);
  const auto holders_on = [&](const model::InstanceId& id) {
    std::vector<placement::Holder> holders;
    for (const TaskEntry* entry : cluster.FindInstance(id)->live) {
      holders.push_back(HolderOf(state, *entry->record));
    }
    return holders;
  };
  placement::AddTaskRemedies(cluster.inventory(), plan.rules, holders_on, why);
  return why;
}

Outcome<Explain::Reply> Decide(State& state, const Explain& command, Context) {
  using Reply = Explain::Reply;
  Decision decision(state);
  ClusterState* cluster = decision.state().FindActiveCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  decision.Saw(cluster->newest_change());
  Reply reply{.group = command.group, .gpu_policy = cluster->inventory().gpu_policy()};
  if (command.task) {
    const TaskEntry* entry = cluster->FindTask(*command.task);
    if (entry == nullptr) {
      decision.SawNothing();
      return decision.Refuse<Reply>(model::TaskNotFound());
    }
    reply.task = entry->record;
    reply.group = reply.task->group;
    if (reply.task->last_status != TaskStatus::kStopped) {
      Inventory& inventory = cluster->inventory_for_trial();
      const Absence absence(inventory, *reply.task);
      reply.today = PlanOne(DemandOf(*reply.task), inventory,
                            RulesOf(decision.state(), *reply.task), {.group = reply.group},
                            /*with_reason=*/true);
    }
  }
  reply.failure = FailureOf(*cluster, reply.group);
  return decision.Answer(std::move(reply));
}

Outcome<Plan::Reply> Decide(State& state, const Plan& command, Context) {
  using Reply = Plan::Reply;
  Decision decision(state);
  RunTask asked = command.task;
  const int64_t count = std::exchange(asked.count, 1);
  asked.client_token.clear();
  FillInForPlan(decision.state(), asked);
  if (absl::Status status = CheckPlanCount(count); !status.ok() && asked.later_refusal.ok()) {
    asked.later_refusal = std::move(status);
  }
  absl::StatusOr<RunTaskPlan> plan = PlanRunTask(decision, asked);
  if (!plan.ok()) return decision.Refuse<Reply>(plan.status());
  ClusterState& cluster = *plan->cluster;
  decision.Saw(cluster.newest_change());
  Reply reply{.definition = plan->definition,
              .group = plan->group,
              .demand = plan->demand,
              .gpu_policy = cluster.inventory().gpu_policy()};
  Inventory& inventory = cluster.inventory_for_trial();
  Trial trial(inventory);
  const int64_t copies_max = count + (command.count_more ? kPlanMoreMax : 0);
  for (int64_t copy = 0; copy < copies_max; ++copy) {
    const placement::TaskToPlace task{.group = plan->group, .seed = static_cast<uint64_t>(copy)};
    std::optional<PlannedTask> planned =
        PlanOne(plan->demand, inventory, plan->rules, task, copy < kPlanReasonsMax);
    if (!planned) {
      reply.refusal =
          std::make_shared<const placement::Explanation>(ExplainPlan(decision.state(), *plan));
      break;
    }
    trial.Reserve(planned->placement);
    if (copy < count) {
      reply.tasks.push_back(*std::move(planned));
    } else {
      ++reply.more;
    }
  }
  reply.failure = FailureOf(cluster, plan->group);
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler

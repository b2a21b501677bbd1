#include "placement/choice.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/enum_table.h"
#include "placement/inventory_impl.h"
#include "placement/task_groups.h"

namespace berth::placement {
namespace {

using Criterion = Choice::Criterion;
using Kind = GpuDemand::Kind;

constexpr model::EnumEntry<Criterion> kNames[] = {
    {Criterion::kOnlyOne, "ONLY_ONE"},
    {Criterion::kSpread, "SPREAD"},
    {Criterion::kBinpack, "BINPACK"},
    {Criterion::kRandom, "RANDOM"},
    {Criterion::kSharedGpu, "SHARED_GPU"},
    {Criterion::kTightestGpu, "TIGHTEST_GPU"},
    {Criterion::kFewestIdleGpus, "FEWEST_IDLE_GPUS"},
    {Criterion::kWithoutGpus, "WITHOUT_GPUS"},
    {Criterion::kLeastMemory, "LEAST_MEMORY"},
    {Criterion::kGpuPolicy, "GPU_POLICY"},
    {Criterion::kLowestId, "LOWEST_ID"},
};

// One of the two places.
struct Spot {
  const Instance& instance;
  const Device* gpu = nullptr;  // the one that a demand that shares gets
};

// What the criteria measure on each of the two.
class Scales {
 public:
  Scales(const Demand& demand, const Inventory::Impl& impl, int32_t group)
      : demand_(demand), impl_(impl), group_(group) {}

  Spot At(const Placement& placement) const {
    const Instance* instance = impl_.Find(placement.instance);
    BERTH_CHECK(instance != nullptr);
    const bool shares = demand_.gpu.kind == Kind::kShared;
    return {*instance,
            shares ? FindDevice(*instance, placement.reservation.gpus.front()) : nullptr};
  }

  int64_t Spread(const Strategy& strategy, const Spot& place) const {
    if (group_ == TaskGroups::kNone) return 0;
    if (strategy.field != Strategy::Field::kAttribute) {
      return TasksOf(group_, place.instance.groups);
    }
    const auto value = AttributeValue(place.instance, strategy.attribute);
    int64_t tasks = 0;
    for (const auto& instance : impl_.instances) {
      if (instance == nullptr) continue;
      const int64_t here = TasksOf(group_, instance->groups);
      if (here > 0 && AttributeValue(*instance, strategy.attribute) == value) tasks += here;
    }
    return tasks;
  }

  int64_t Binpack(Strategy::Field field, const Spot& place) const {
    if (field == Strategy::Field::kCpu) return place.instance.remaining_cpu_units();
    if (field == Strategy::Field::kMemory) return place.instance.remaining_memory_mib();
    if (place.gpu != nullptr) return place.gpu->remaining_memory_mib();
    return demand_.gpu.kind == Kind::kNone ? 0 : IdleGpus(place.instance);
  }

 private:
  const Demand& demand_;
  const Inventory::Impl& impl_;
  const int32_t group_;
};

// What the GPU policy says, among what rules leave equal.
Choice ByPolicy(const Demand& demand, const Inventory::Impl& impl, const Spot& a, const Spot& b) {
  GpuOrder& order = impl.gpu_order;
  if (order.draws()) return {.criterion = Criterion::kRandom};
  order.CatchUp(impl);
  const ShapeUse shape(order, demand);
  const Choice choice{.criterion = Criterion::kGpuPolicy,
                      .policy = order.policy(),
                      .chosen = order.Score(a.instance, shape.id(), demand),
                      .other = order.Score(b.instance, shape.id(), demand)};
  if (choice.chosen == choice.other) return {.criterion = Criterion::kLowestId};
  return choice;
}

// The order that holds without rules, and among what rules leave equal.
Choice ByPreference(const Demand& demand, const Inventory::Impl& impl, const Spot& a,
                    const Spot& b) {
  const bool on_gpus = demand.gpu.kind != Kind::kNone ||
                       (RegisteredGpus(a.instance) > 0 && RegisteredGpus(b.instance) > 0);
  if (impl.gpu_order.active() && on_gpus) return ByPolicy(demand, impl, a, b);
  Choice choice;
  const auto decides = [&choice](Criterion criterion, int64_t of_a, int64_t of_b) {
    choice.criterion = criterion;
    choice.chosen = of_a;
    choice.other = of_b;
    return of_a != of_b;
  };
  switch (demand.gpu.kind) {
    case Kind::kShared:
      if (decides(Criterion::kSharedGpu, a.gpu->IsIdle(), b.gpu->IsIdle())) return choice;
      if (decides(Criterion::kTightestGpu, a.gpu->remaining_memory_mib(),
                  b.gpu->remaining_memory_mib())) {
        return choice;
      }
      break;
    case Kind::kDedicated:
    case Kind::kAll:
      if (decides(Criterion::kFewestIdleGpus, IdleGpus(a.instance), IdleGpus(b.instance))) {
        return choice;
      }
      break;
    case Kind::kNone:
      if (decides(Criterion::kWithoutGpus, RegisteredGpus(a.instance) > 0,
                  RegisteredGpus(b.instance) > 0)) {
        return choice;
      }
      if (decides(Criterion::kLeastMemory, a.instance.remaining_memory_mib(),
                  b.instance.remaining_memory_mib())) {
        return choice;
      }
      break;
  }
  return {.criterion = Criterion::kLowestId};
}

// What a higher score means.
std::string_view Meaning(GpuPolicyKind kind) {
  switch (kind) {
    case GpuPolicyKind::kRandom:
    case GpuPolicyKind::kFirstFit:
      break;  // all score the same
    case GpuPolicyKind::kWorstFit:
      return "more of it is left";
    case GpuPolicyKind::kBestFit:
      return "less of it is left";
    case GpuPolicyKind::kDotProduct:
      return "what is left of it is less like what the task asks for";
    case GpuPolicyKind::kGpuPacking:
      return "its GPUs are in use more";
    case GpuPolicyKind::kGpuClustering:
      return "its tasks are more of the same kind";
    case GpuPolicyKind::kFgd:
      return "it becomes less fragmented";
    case GpuPolicyKind::kWorth:
      return "it loses less of what recent tasks could use";
  }
  return "";
}

std::string DescribePolicy(const Choice& choice, const std::string& other) {
  const auto score = [](int64_t points) {
    return points == GpuOrder::kUnseen ? "none, having too many GPUs"
                                       : absl::StrFormat("%d", points);
  };
  return absl::StrFormat("%s: %s (score %s, against %s of instance %s)", ToString(choice.policy),
                         choice.policy.kind ? Meaning(*choice.policy.kind) : "",
                         score(choice.chosen), score(choice.other), other);
}

std::string DescribeSpread(const Choice& choice, const std::string& other) {
  if (choice.strategy.field == Strategy::Field::kAttribute) {
    return absl::StrFormat(
        "spread over %s: %d tasks of the group are with its value, %d with that of instance %s",
        choice.strategy.attribute, choice.chosen, choice.other, other);
  }
  return absl::StrFormat("spread: %d tasks of the group are there, %d on instance %s",
                         choice.chosen, choice.other, other);
}

std::string DescribeBinpack(const Choice& choice, const std::string& other) {
  std::string_view of = "GPU memory (MiB) or idle GPUs";
  if (choice.strategy.field == Strategy::Field::kCpu) of = "CPU units";
  if (choice.strategy.field == Strategy::Field::kMemory) of = "MiB of memory";
  return absl::StrFormat("binpack: %d %s are left there, %d on instance %s", choice.chosen, of,
                         choice.other, other);
}

}  // namespace

std::string_view ToString(Criterion criterion) { return NameOf(kNames, criterion); }

std::optional<Placement> PlaceElsewhere(const Demand& demand, Inventory& inventory,
                                        const Rules& rules, const TaskToPlace& task,
                                        const model::InstanceId& instance) {
  inventory.SetEligible(instance, false);
  std::optional<Placement> placement = Place(demand, inventory, rules, task);
  inventory.SetEligible(instance, true);
  return placement;
}

Choice Compare(const Demand& demand, const Inventory& inventory, const Rules& rules,
               const TaskToPlace& task, const Placement& chosen,
               std::optional<Placement> runner_up) {
  if (!runner_up) return {.criterion = Criterion::kOnlyOne};
  const Inventory::Impl& impl = inventory.impl();
  const Scales scales(demand, impl, impl.groups.NumberOf(task.group));
  const Spot a = scales.At(chosen);
  const Spot b = scales.At(*runner_up);
  Choice choice;
  const auto decided = [&] {
    for (const Strategy& strategy : rules.strategies) {
      if (strategy.kind == Strategy::Kind::kRandom) {
        choice = {.criterion = Criterion::kRandom, .strategy = strategy};
        return true;
      }
      const bool spreads = strategy.kind == Strategy::Kind::kSpread;
      const int64_t of_a = spreads ? scales.Spread(strategy, a) : scales.Binpack(strategy.field, a);
      const int64_t of_b = spreads ? scales.Spread(strategy, b) : scales.Binpack(strategy.field, b);
      if (of_a == of_b) continue;
      choice = {.criterion = spreads ? Criterion::kSpread : Criterion::kBinpack,
                .strategy = strategy,
                .chosen = of_a,
                .other = of_b};
      return true;
    }
    return false;
  }();
  if (!decided) choice = ByPreference(demand, impl, a, b);
  choice.runner_up = std::move(runner_up);
  return choice;
}

std::string Describe(const Choice& choice) {
  const std::string other = choice.runner_up ? choice.runner_up->instance.value : std::string();
  switch (choice.criterion) {
    case Criterion::kOnlyOne:
      return "no other instance has room";
    case Criterion::kSpread:
      return DescribeSpread(choice, other);
    case Criterion::kBinpack:
      return DescribeBinpack(choice, other);
    case Criterion::kRandom:
      return absl::StrFormat("drawn at random; instance %s would do as well", other);
    case Criterion::kSharedGpu:
      return absl::StrFormat("its GPU is shared already, that of instance %s is idle", other);
    case Criterion::kTightestGpu:
      return absl::StrFormat("%d MiB are left on its GPU, %d MiB on that of instance %s",
                             choice.chosen, choice.other, other);
    case Criterion::kFewestIdleGpus:
      return absl::StrFormat("%d of its GPUs are idle, %d of instance %s", choice.chosen,
                             choice.other, other);
    case Criterion::kWithoutGpus:
      return absl::StrFormat("it has no GPU, instance %s has", other);
    case Criterion::kLeastMemory:
      return absl::StrFormat("%d MiB of memory are left there, %d MiB on instance %s",
                             choice.chosen, choice.other, other);
    case Criterion::kGpuPolicy:
      return DescribePolicy(choice, other);
    case Criterion::kLowestId:
      return absl::StrFormat("instance %s is as good; the lowest id goes first", other);
  }
  return "";
}

}  // namespace berth::placement

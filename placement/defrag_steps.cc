#include "placement/defrag_steps.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/check.h"
#include "placement/feasibility.h"
#include "placement/inventory_impl.h"

namespace berth::placement {
namespace {

int64_t WholeGpus(const Reservation& reservation) {
  return reservation.gpu_use == model::GpuUse::kDedicated ? std::ssize(reservation.gpus) : 0;
}

// Of two tasks that are each enough, the one that loses less; the id makes the order total.
bool IsSmaller(const Holder& a, const Holder& b) {
  const Reservation& x = a.reservation;
  const Reservation& y = b.reservation;
  const int64_t x_gpus = WholeGpus(x);
  const int64_t y_gpus = WholeGpus(y);
  return std::tie(x_gpus, x.gpu_memory_mib, x.memory_mib, x.cpu_units, x.gpus, x.group, a.id) <
         std::tie(y_gpus, y.gpu_memory_mib, y.memory_mib, y.cpu_units, y.gpus, y.group, b.id);
}

}  // namespace

std::string_view ToString(DefragPlan::Outcome outcome) {
  switch (outcome) {
    case DefragPlan::Outcome::kNoMoveNeeded:
      return "NO_MOVE_NEEDED";
    case DefragPlan::Outcome::kMoves:
      return "MOVES";
    case DefragPlan::Outcome::kNoPlan:
      return "NO_PLAN";
  }
  BERTH_CHECK(false);
}

DefragMove MoveOf(const Relocation& relocation) {
  return {.task = relocation.holder.id,
          .from = relocation.from,
          .from_gpus = relocation.holder.reservation.gpus,
          .to = relocation.to.instance,
          .to_gpus = relocation.to.reservation.gpus};
}

bool AreAlikeElsewhere(const Holder& a, const Holder& b) {
  const Reservation& x = a.reservation;
  const Reservation& y = b.reservation;
  return std::tie(x.cpu_units, x.memory_mib, x.tcp_ports, x.udp_ports, x.gpu_use, x.gpu_memory_mib,
                  x.gpu_containers, x.group, a.demand.required_attributes, a.demand.gpu.kind,
                  a.demand.gpu.count, a.demand.launch_type, a.rules.member_of,
                  a.rules.distinct_instance) ==
         std::tie(y.cpu_units, y.memory_mib, y.tcp_ports, y.udp_ports, y.gpu_use, y.gpu_memory_mib,
                  y.gpu_containers, y.group, b.demand.required_attributes, b.demand.gpu.kind,
                  b.demand.gpu.count, b.demand.launch_type, b.rules.member_of,
                  b.rules.distinct_instance);
}

bool AreAlike(const Holder& a, const Holder& b) {
  return a.reservation.gpus == b.reservation.gpus && AreAlikeElsewhere(a, b);
}

Movable Arrange(std::vector<Holder> holders, int64_t equal_max) {
  std::sort(holders.begin(), holders.end(), IsSmaller);
  Movable movable;
  int64_t equal = 0;
  for (Holder& holder : holders) {
    const bool again = !movable.holders.empty() && AreAlike(movable.holders.back(), holder);
    equal = again ? equal + 1 : 1;
    if (equal > equal_max) continue;
    if (std::ssize(movable.holders) == kDefragTasksMax) {
      movable.limited = true;
      break;
    }
    movable.holders.push_back(std::move(holder));
  }
  return movable;
}

bool FitsOn(const model::InstanceId& instance, const Demand& demand, const Rules& rules,
            const std::string& group, const Inventory& inventory) {
  const Inventory::Impl& impl = inventory.impl();
  return Fits(demand, *impl.Find(instance), rules, impl.groups.NumberOf(group), impl.groups);
}

bool CanTake(const Holder& holder, const Placement& to, const Inventory& inventory) {
  return FitsOn(to.instance, holder.demand, holder.rules, holder.reservation.group, inventory) &&
         IsFree(*inventory.impl().Find(to.instance), to.reservation);
}

bool Move(const Relocation& relocation, const Inventory& inventory, Trial& trial) {
  const size_t mark = trial.mark();
  trial.Release(relocation.from, relocation.holder.reservation);
  if (!CanTake(relocation.holder, relocation.to, inventory)) {
    trial.BackTo(mark);
    return false;
  }
  trial.Reserve(relocation.to.instance, relocation.to.reservation);
  return true;
}

}  // namespace berth::placement

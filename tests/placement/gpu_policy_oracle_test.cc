// Each GPU policy in the live inventory against a scan that asks a policy of its own for a score of
// every instance that has room, on random clusters: the same place and the same GPUs.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "model/rng.h"
#include "naive.h"
#include "random_rules.h"

namespace berth::placement {
namespace {

using model::GpuUse;
using model::Rng;
using Kind = GpuDemand::Kind;

// A policy shown every node each time, and made anew as the inventory's must be.
class Scan {
 public:
  explicit Scan(GpuPolicyKind kind) : kind_(kind) {}

  void Add(const model::InstanceId& id) {
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<int32_t>(nodes_.size()));
      nodes_.emplace_back();
    }
    slots_[id] = free_slots_.back();
    free_slots_.pop_back();
  }
  void Remove(const model::InstanceId& id) {
    free_slots_.push_back(slots_.at(id));
    slots_.erase(id);
  }

  void Look(const naive::Cluster& cluster) {
    for (Node& node : nodes_) node = {};
    for (const auto& [id, instance] : cluster) nodes_[slots_.at(id)] = NodeOf(instance);
    const FleetScale before = scale_;
    for (const auto& [id, instance] : cluster) {
      int64_t units = 0;
      for (const DeviceState& device : nodes_[slots_.at(id)].devices) units += device.total;
      scale_.node_cpu = std::max(scale_.node_cpu, instance.record.resources.cpu_units);
      scale_.node_units = std::max(scale_.node_units, units);
    }
    const bool measures = kind_ != GpuPolicyKind::kWorth && kind_ != GpuPolicyKind::kRandom &&
                          kind_ != GpuPolicyKind::kFirstFit;
    const bool grown = scale_.node_cpu != before.node_cpu || scale_.node_units != before.node_units;
    if (policy_ == nullptr || (measures && grown)) return Make();
    for (size_t slot = 0; slot < nodes_.size(); ++slot) policy_->NodeChanged(ViewOf(slot));
  }

  void Arrive(const Demand& demand) {
    const TaskShape shape = ShapeOf(demand);
    policy_->TaskArrived(Number(shape), shape);
    if (kind_ != GpuPolicyKind::kFgd) return;
    mix_.Add(shape);
    if (++arrived_ < next_mix_) return;
    next_mix_ = arrived_ + std::min<int64_t>(arrived_ / 4, 1000) + 1;
    Make();
  }

  int64_t Score(const naive::Instance& instance, const Demand& demand) {
    const TaskShape shape = ShapeOf(demand);
    const size_t slot = slots_.at(instance.record.id);
    const Node as_it_is = nodes_[slot];
    Narrow(nodes_[slot], instance, demand);
    policy_->NodeChanged(ViewOf(slot));
    REQUIRE(IsFeasible(nodes_[slot].state, shape));
    const int64_t score = policy_->Score(ViewOf(slot), Number(shape), shape);
    nodes_[slot] = as_it_is;
    policy_->NodeChanged(ViewOf(slot));
    return score;
  }

  std::vector<model::GpuId> Choose(const naive::Instance& instance, const Demand& demand) {
    const TaskShape shape = ShapeOf(demand);
    const size_t slot = slots_.at(instance.record.id);
    const Node as_it_is = nodes_[slot];
    Narrow(nodes_[slot], instance, demand);
    policy_->NodeChanged(ViewOf(slot));
    DeviceSet chosen = policy_->ChooseDevices(ViewOf(slot), Number(shape), shape);
    nodes_[slot] = as_it_is;
    policy_->NodeChanged(ViewOf(slot));
    std::vector<model::GpuId> gpus;
    for (; chosen != 0; chosen &= chosen - 1) {
      gpus.push_back(instance.record.resources.gpus[std::countr_zero(chosen)].id);
    }
    return gpus;
  }

 private:
  struct Node {
    NodeState state = {};
    std::vector<DeviceState> devices = {};
  };

  static TaskShape ShapeOf(const Demand& demand) {
    TaskShape shape{.cpu = demand.cpu_units, .memory = demand.memory_mib};
    if (demand.gpu.kind == Kind::kShared) {
      shape.gpu = GpuNeed::kShared;
      shape.units = static_cast<int32_t>(demand.gpu.memory_mib);
      shape.models = 1;
    } else if (demand.gpu.kind == Kind::kDedicated) {
      shape.gpu = GpuNeed::kWhole;
      shape.devices = static_cast<int32_t>(demand.gpu.count);
    } else if (demand.gpu.kind == Kind::kAll) {
      shape.gpu = GpuNeed::kAll;
    }
    return shape;
  }

  static void Sum(Node& node) {
    node.state.idle_devices = 0;
    node.state.largest_left = 0;
    node.state.units_left = 0;
    for (const DeviceState& device : node.devices) {
      node.state.idle_devices = static_cast<uint8_t>(node.state.idle_devices + device.IsIdle());
      node.state.largest_left = std::max(node.state.largest_left, device.left);
      node.state.units_left += device.left;
    }
    const bool alike = std::all_of(
        node.devices.begin(), node.devices.end(),
        [&](const DeviceState& device) { return device.total == node.devices[0].total; });
    node.state.total_each = node.devices.empty() || !alike ? 0 : node.devices[0].total;
  }

  static Node NodeOf(const naive::Instance& instance) {
    const InstanceState state = naive::StateOf(instance);
    const model::RegisteredResources& resources = instance.record.resources;
    bool shares = !resources.gpus.empty() && instance.record.resources.gpus[0].memory_mib > 0;
    for (const model::Gpu& gpu : resources.gpus) shares = shares && gpu.memory_mib > 0;
    Node node;
    node.state = {.cpu_left = state.remaining_cpu_units,
                  .memory_left = state.remaining_memory_mib,
                  .cpu_total = resources.cpu_units,
                  .tasks_left = 1 << 30,
                  .model = static_cast<uint8_t>(shares ? 0 : 1),
                  .present = true,
                  .eligible = instance.eligible,
                  .devices = static_cast<uint8_t>(resources.gpus.size())};
    for (size_t i = 0; i < resources.gpus.size(); ++i) {
      const GpuState& gpu = state.gpus[i];
      const bool is_stuck =
          gpu.use == GpuUse::kNvidiaMps && gpu.containers >= resources.mps_clients_max;
      node.devices.push_back(
          {.left = is_stuck ? 0 : static_cast<int32_t>(gpu.remaining_memory_mib),
           .total = static_cast<int32_t>(gpu.total_memory_mib),
           .tasks = gpu.use == GpuUse::kDedicated ? -1 : static_cast<int32_t>(gpu.containers)});
    }
    for (const auto& [number, task] : instance.tasks) {
      if (task.gpus.empty()) continue;
      node.state.kinds |= uint64_t{1}
                          << (task.gpu_use == GpuUse::kDedicated ? task.gpus.size() : 0);
    }
    Sum(node);
    return node;
  }

  static void Narrow(Node& node, const naive::Instance& instance, const Demand& demand) {
    if (demand.gpu.kind != Kind::kShared) return;
    const InstanceState state = naive::StateOf(instance);
    for (size_t i = 0; i < node.devices.size(); ++i) {
      const int64_t clients = state.gpus[i].containers + demand.gpu.containers;
      if (clients > instance.record.resources.mps_clients_max) node.devices[i].left = 0;
    }
    Sum(node);
  }

  NodeView ViewOf(size_t slot) const {
    return {.slot = static_cast<int32_t>(slot),
            .node = nodes_[slot].state,
            .devices = nodes_[slot].devices};
  }

  ShapeId Number(const TaskShape& shape) {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i] == shape) return static_cast<ShapeId>(i);
    }
    shapes_.push_back(shape);
    policy_->ShapeAdded(static_cast<ShapeId>(shapes_.size()) - 1, shape);
    return static_cast<ShapeId>(shapes_.size()) - 1;
  }

  void Make() {
    std::map<int32_t, int64_t> totals;
    for (const Node& node : nodes_) {
      for (const DeviceState& device : node.devices) totals[device.total] += device.total > 0;
    }
    scale_.device_units = 1;
    int64_t most = 0;
    for (const auto& [total, count] : totals) {
      if (count > most) scale_.device_units = total;
      most = std::max(most, count);
    }
    TaskMix mix = mix_.Typical();
    if (arrived_ == 0) {
      mix = TaskMix({{.shape = {.gpu = GpuNeed::kWhole, .devices = 1}, .count = 1}});
    }
    policy_ = MakeGpuPolicy(kind_, {.scale = scale_, .mix = mix});
    for (size_t slot = 0; slot < nodes_.size(); ++slot) policy_->NodeChanged(ViewOf(slot));
    for (size_t id = 0; id < shapes_.size(); ++id) {
      policy_->ShapeAdded(static_cast<ShapeId>(id), shapes_[id]);
    }
  }

  const GpuPolicyKind kind_;
  std::unique_ptr<GpuPolicy> policy_;
  std::map<model::InstanceId, int32_t> slots_;
  std::vector<int32_t> free_slots_;  // the latest first
  std::vector<Node> nodes_;
  std::vector<TaskShape> shapes_;
  FleetScale scale_ = {.node_cpu = 1, .node_units = 1, .device_units = 1};
  ArrivalMix mix_;
  int64_t arrived_ = 0;
  int64_t next_mix_ = 8;
};

class Walk {
 public:
  Walk(GpuPolicyKind kind, uint64_t seed) : kind_(kind), rng_(seed), scan_(kind) {
    inventory_.SetGpuPolicy({.kind = kind});
    for (int i = 0; i < 8; ++i) Put(RandomId());
  }

  std::string Run(int64_t steps) {
    for (int64_t step = 0; step < steps; ++step) {
      std::string wrong = Step();
      if (wrong.empty() && step % 50 == 0) {
        scan_.Look(cluster_);
        const std::vector<std::string> violations = inventory_.FindViolations();
        if (!violations.empty()) wrong = violations.front();
      }
      if (!wrong.empty()) return "step " + std::to_string(step) + ": " + wrong;
    }
    return "";
  }

  int64_t placed() const { return placed_; }
  int64_t with_gpus() const { return with_gpus_; }
  int64_t turned_away() const { return turned_away_; }

 private:
  bool Chance(uint64_t percent) { return rng_.Below(100) < percent; }
  std::string RandomId() { return "i-" + std::to_string(rng_.Below(24) * 7 % 24 + 10); }

  std::string Step() {
    const uint64_t dice = rng_.Below(100);
    if (dice < 3) return Put(RandomId());
    if (dice < 5) return ToggleEligible();
    if (dice < 7) return Remove();
    if (dice < 45) return StopTask();
    return RunTask();
  }

  naive::Cluster::iterator RandomInstance() {
    auto found = cluster_.begin();
    std::advance(found, rng_.Below(cluster_.size()));
    return found;
  }

  // A new instance, or one that registers anew, with more or with less.
  std::string Put(const std::string& id) {
    Machine machine{.id = id,
                    .cpu_units = static_cast<int64_t>(1 + rng_.Below(6)) * 1024,
                    .memory_mib = static_cast<int64_t>(2 + rng_.Below(3)) * 1024,
                    .mps_clients_max = static_cast<int64_t>(2 + rng_.Below(3))};
    const bool knows_memory = !Chance(10);
    for (uint64_t i = rng_.Below(5); i > 0; --i) {
      machine.gpus.push_back(
          Gpu("g" + std::to_string(i * 2 % 5),
              knows_memory ? static_cast<int64_t>(1 + rng_.Below(3)) * 8000 : 0));
    }
    const bool is_new = !cluster_.contains({id});
    if (is_new) scan_.Add({id});
    naive::Instance& instance = cluster_[{id}];
    instance.record = Record(machine);
    AddRuledAttributes(rng_, instance.record);
    inventory_.Put(instance.record);
    if (is_new) {
      instance.eligible = true;
      inventory_.SetEligible({id}, true);
    }
    return "";
  }

  std::string ToggleEligible() {
    const auto found = RandomInstance();
    found->second.eligible = !found->second.eligible || Chance(30);
    inventory_.SetEligible(found->first, found->second.eligible);
    return "";
  }

  std::string Remove() {
    const auto found = RandomInstance();
    if (!found->second.tasks.empty() || cluster_.size() < 4) return "";
    inventory_.Remove(found->first);
    scan_.Remove(found->first);
    cluster_.erase(found);
    return "";
  }

  std::string StopTask() {
    const auto found = RandomInstance();
    auto& tasks = found->second.tasks;
    if (tasks.empty()) return "";
    auto task = tasks.begin();
    std::advance(task, rng_.Below(tasks.size()));
    inventory_.Release(found->first, task->second);
    tasks.erase(task);
    return "";
  }

  Demand RandomDemand() {
    Demand demand{.cpu_units = static_cast<int64_t>(rng_.Below(4)) * 256,
                  .memory_mib = static_cast<int64_t>(rng_.Below(4)) * 64};
    switch (rng_.Below(8)) {
      case 0:
        demand.gpu = {.kind = Kind::kAll};
        break;
      case 1:
      case 2:
        demand.gpu = {.kind = Kind::kDedicated, .count = static_cast<int64_t>(1 + rng_.Below(3))};
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        demand.gpu = {.kind = Kind::kShared,
                      .memory_mib = static_cast<int64_t>(1 + rng_.Below(6)) * 1500,
                      .containers = static_cast<int64_t>(1 + rng_.Below(3))};
        demand.required_attributes.push_back(model::kGpuSharingCapability);
        break;
      default:
        break;
    }
    if (Chance(5)) demand.tcp_ports.push_back(60000 + static_cast<int64_t>(rng_.Below(3)));
    return demand;
  }

  std::string RunTask() {
    const Demand demand = RandomDemand();
    const BothRules rules = Chance(50) ? RandomRules(rng_) : BothRules{};
    const TaskToPlace task{.group = "g" + std::to_string(rng_.Below(4)), .seed = rng_.Next()};
    scan_.Look(cluster_);
    scan_.Arrive(demand);
    inventory_.NoteArrival(demand);

    const std::vector<Placement> best = naive::FindBest(
        demand, cluster_, rules.scan, task.group, [&](const naive::Instance& instance) {
          if (demand.gpu.kind != Kind::kNone)
            return std::pair(int64_t{0}, -Score(instance, demand));
          if (!instance.record.resources.gpus.empty()) {
            return std::pair(int64_t{1}, -Score(instance, demand));
          }
          return std::pair(int64_t{0}, naive::StateOf(instance).remaining_memory_mib);
        });
    const auto chosen = Place(demand, inventory_, rules.engine, task);

    if (!chosen && best.empty()) {
      ++turned_away_;
      return "";
    }
    if (std::string wrong = Compare(demand, rules.engine, chosen, best); !wrong.empty()) {
      return wrong;
    }
    if (Chance(5)) return "";
    ++placed_;
    with_gpus_ += chosen->reservation.gpus.empty() ? 0 : 1;
    inventory_.Reserve(chosen->instance, chosen->reservation);
    cluster_[chosen->instance].tasks[++last_task_] = chosen->reservation;
    return "";
  }

  int64_t Score(const naive::Instance& instance, const Demand& demand) {
    return scan_.Score(instance, demand);
  }

  // One of those that are equally good: the first, unless something draws.
  std::string Compare(const Demand& demand, const Rules& rules,
                      const std::optional<Placement>& chosen, std::vector<Placement> best) {
    const auto is = [](Strategy::Kind kind) {
      return [kind](const Strategy& strategy) { return strategy.kind == kind; };
    };
    const auto& strategies = rules.strategies;
    const auto random =
        std::find_if(strategies.begin(), strategies.end(), is(Strategy::Kind::kRandom));
    const bool packs_gpus = std::any_of(strategies.begin(), random, [&](const Strategy& strategy) {
      return strategy.field == Strategy::Field::kGpuMemory && demand.gpu.kind != Kind::kNone;
    });
    const bool policy_draws =
        kind_ == GpuPolicyKind::kRandom &&
        (demand.gpu.kind != Kind::kNone ||
         (!best.empty() && !cluster_[best[0].instance].record.resources.gpus.empty()));
    const bool draws = random != strategies.end() || policy_draws;
    if (!draws && !best.empty()) best.resize(1);
    const bool draws_gpu =
        kind_ == GpuPolicyKind::kRandom && demand.gpu.kind == Kind::kShared && !packs_gpus;
    for (Placement& place : best) {
      if (packs_gpus || draws_gpu || demand.gpu.kind == Kind::kNone) continue;
      place.reservation.gpus = scan_.Choose(cluster_[place.instance], demand);
    }
    const bool is_one_of_them = std::any_of(best.begin(), best.end(), [&](const Placement& place) {
      if (!chosen) return false;
      return draws_gpu ? place.instance == chosen->instance : Where(place) == Where(chosen);
    });
    if (is_one_of_them) return "";
    return "the engine chose " + Where(chosen) + ", the scan " +
           (best.empty() ? "nowhere" : Where(best.front()));
  }

  const GpuPolicyKind kind_;
  Rng rng_;
  Scan scan_;
  Inventory inventory_;
  naive::Cluster cluster_;
  int64_t last_task_ = 0;
  int64_t placed_ = 0;
  int64_t with_gpus_ = 0;
  int64_t turned_away_ = 0;
};

TEST_CASE("a GPU policy chooses what a scan with its scores chooses", "[placement]") {
  constexpr int64_t kSteps = 2500;
  const GpuPolicyKind kind = GENERATE(from_range(GpuPolicyKinds()));
  const char* seed_text = std::getenv("BERTH_SEED");
  const uint64_t first = seed_text == nullptr ? 1 : std::strtoull(seed_text, nullptr, 10);
  for (uint64_t seed = first; seed < first + 2; ++seed) {
    INFO(ToString(kind) << "; repeat with BERTH_SEED=" << seed);
    Walk walk(kind, seed);

    CHECK(walk.Run(kSteps) == "");

    CHECK(walk.placed() > kSteps / 10);
    CHECK(walk.with_gpus() > kSteps / 20);
    CHECK(walk.turned_away() > 0);
  }
}

}  // namespace
}  // namespace berth::placement

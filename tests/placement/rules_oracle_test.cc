// Constraints and strategies against the naive scan, on random clusters: the same place, or the
// same reasons for none.
#include <algorithm>
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
#include "placement/explanation.h"
#include "random_rules.h"

namespace berth::placement {
namespace {

using model::Rng;

struct Setting {
  std::string why;
  int64_t instances = 0;
  int64_t shapes = 0;  // the fewer, the more ties
  int64_t groups = 0;
  uint64_t stop_percent = 0;
};

class Walk {
 public:
  Walk(const Setting& setting, uint64_t seed) : setting_(setting), rng_(seed) {
    for (int64_t i = 0; i < setting.instances; ++i) Put("i-" + std::to_string(i * 7 % 30 + 10));
  }

  std::string Run(int64_t steps) {
    for (int64_t step = 0; step < steps; ++step) {
      std::string wrong = Step();
      if (wrong.empty() && step % 100 == 0) {
        const std::vector<std::string> violations = inventory_.FindViolations();
        if (!violations.empty()) wrong = violations.front();
      }
      if (!wrong.empty()) return "step " + std::to_string(step) + ": " + wrong;
    }
    return "";
  }

  int64_t placed() const { return placed_; }
  const std::map<Dimension, int64_t>& reasons() const { return reasons_; }

 private:
  bool Chance(uint64_t percent) { return rng_.Below(100) < percent; }
  std::string RandomGroup() { return "g" + std::to_string(rng_.Below(setting_.groups)); }

  std::string Step() {
    const uint64_t dice = rng_.Below(100);
    if (dice < 3) return Put(RandomInstance().value);
    if (dice < 6) return ToggleEligible();
    if (dice < 10) return SetRunningTasks();
    if (dice < 10 + setting_.stop_percent) return StopTask();
    return RunTask();
  }

  model::InstanceId RandomInstance() {
    auto found = cluster_.begin();
    std::advance(found, rng_.Below(cluster_.size()));
    return found->first;
  }

  // A new instance, or one with the same resources and other attributes.
  std::string Put(const std::string& id) {
    Rng shape(std::hash<std::string>()(id) % static_cast<size_t>(setting_.shapes));
    Machine machine{.id = id,
                    .cpu_units = static_cast<int64_t>(2 + shape.Below(3)) * 1024,
                    .memory_mib = static_cast<int64_t>(2 + shape.Below(3)) * 1024,
                    .attributes = {}};
    const uint64_t gpus = shape.Below(4);
    for (uint64_t i = 0; i < gpus; ++i) {
      machine.gpus.push_back(Gpu("g" + std::to_string((i * 2 + 1) % 5),
                                 static_cast<int64_t>(1 + shape.Below(2)) * 8000));
    }
    if (gpus > 0) machine.attributes.push_back(model::kGpuSharingCapability);
    naive::Instance& instance = cluster_[{id}];
    const bool is_new = instance.record.id.empty();
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
    const model::InstanceId id = RandomInstance();
    naive::Instance& instance = cluster_[id];
    instance.eligible = !instance.eligible || Chance(30);
    inventory_.SetEligible(id, instance.eligible);
    return "";
  }

  std::string SetRunningTasks() {
    const model::InstanceId id = RandomInstance();
    cluster_[id].running_tasks = static_cast<int64_t>(rng_.Below(4));
    inventory_.SetRunningTasks(id, cluster_[id].running_tasks);
    return "";
  }

  std::string StopTask() {
    const model::InstanceId id = RandomInstance();
    auto& tasks = cluster_[id].tasks;
    if (tasks.empty()) return "";
    auto task = tasks.begin();
    std::advance(task, rng_.Below(tasks.size()));
    inventory_.Release(id, task->second);
    tasks.erase(task);
    return CompareGroups(id);
  }

  Demand RandomDemand() {
    Demand demand{.cpu_units = static_cast<int64_t>(rng_.Below(4)) * 128,
                  .memory_mib = static_cast<int64_t>(rng_.Below(4)) * 128};
    switch (rng_.Below(6)) {
      case 0:
        demand.gpu = {.kind = GpuDemand::Kind::kAll};
        break;
      case 1:
        demand.gpu = {.kind = GpuDemand::Kind::kDedicated,
                      .count = static_cast<int64_t>(1 + rng_.Below(2))};
        break;
      case 2:
      case 3:
        demand.gpu = {.kind = GpuDemand::Kind::kShared,
                      .memory_mib = static_cast<int64_t>(1 + rng_.Below(5)) * 1000,
                      .containers = 1};
        break;
      default:
        break;
    }
    if (Chance(5)) demand.required_attributes.push_back("color");
    if (Chance(10)) demand.tcp_ports.push_back(60000 + static_cast<int64_t>(rng_.Below(3)));
    return demand;
  }

  std::string RunTask() {
    const Demand demand = RandomDemand();
    const auto [rules, naive_rules] = RandomRules(rng_);
    const TaskToPlace task{.group = RandomGroup(), .seed = rng_.Next()};

    const std::vector<Placement> best = naive::FindBest(demand, cluster_, naive_rules, task.group);
    const auto chosen = Place(demand, inventory_, rules, task);

    if (!chosen && best.empty()) return CompareExplanation(demand, rules, naive_rules, task.group);
    const bool is_one_of_the_best = std::any_of(
        best.begin(), best.end(),
        [&chosen](const Placement& placement) { return Where(placement) == Where(chosen); });
    if (!is_one_of_the_best) {
      return "the engine chose " + Where(chosen) + ", the scan " +
             (best.empty() ? "nowhere" : Where(best.front()));
    }
    if (chosen->reservation.group != task.group) return "the reservation is of another group";
    ++placed_;
    inventory_.Reserve(chosen->instance, chosen->reservation);
    cluster_[chosen->instance].tasks[++last_task_] = chosen->reservation;
    return CompareGroups(chosen->instance);
  }

  std::string CompareExplanation(const Demand& demand, const Rules& rules,
                                 const naive::Rules& naive_rules, const std::string& group) {
    const Explanation why = Explain(demand, inventory_, rules, group);
    if (why.turned_away.size() != cluster_.size()) return "not every instance has a reason";
    for (const TurnedAway& entry : why.turned_away) {
      const Dimension dimension = entry.shortfall.dimension;
      const naive::Instance& instance = cluster_[entry.instance];
      if (naive::FindShortfall(demand, instance, naive_rules, group) != dimension) {
        return "the reason of " + entry.instance.value + " is wrong";
      }
      if (why.Detail(entry).empty()) return "a reason has no words";
      ++reasons_[dimension];
    }
    return "";
  }

  std::string CompareGroups(const model::InstanceId& id) {
    std::map<std::string, int64_t> expected;
    for (const auto& [number, task] : cluster_[id].tasks) ++expected[task.group];
    return inventory_.Facts(id).tasks_by_group == expected ? "" : "the groups differ";
  }

  Setting setting_;
  Rng rng_;
  Inventory inventory_;
  naive::Cluster cluster_;
  int64_t last_task_ = 0;
  int64_t placed_ = 0;
  std::map<Dimension, int64_t> reasons_;
};

TEST_CASE("rules choose what a scan of everything chooses", "[placement]") {
  constexpr int64_t kSteps = 7000;
  const std::vector<Setting> settings = {{"few machines, often full", 4, 10, 3, 30},
                                         {"alike machines: ties everywhere", 12, 1, 4, 35},
                                         {"many shapes and groups", 20, 50, 12, 40}};
  const char* seed_text = std::getenv("BERTH_SEED");
  const uint64_t first = seed_text == nullptr ? 1 : std::strtoull(seed_text, nullptr, 10);
  for (const Setting& setting : settings) {
    for (uint64_t seed = first; seed < first + 2; ++seed) {
      INFO(setting.why << "; repeat with BERTH_SEED=" << seed);
      Walk walk(setting, seed);

      CHECK(walk.Run(kSteps) == "");

      CHECK(walk.placed() > kSteps / 20);
      CHECK(walk.reasons().contains(Dimension::kDistinctInstance));
      CHECK(walk.reasons().contains(Dimension::kMemberOf));
    }
  }
}

}  // namespace
}  // namespace berth::placement

// The engine against the naive scan, on random clusters: same answer, same state, after every step.
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "model/rng.h"
#include "naive.h"
#include "placement/explanation.h"
#include "random_rules.h"

namespace berth::placement {
namespace {

using model::Rng;

// What one run looks like: how many instances at most, how large, how crowded.
struct Setting {
  std::string why;
  int64_t instances_max = 0;
  int64_t machine_shapes = 0;  // the fewer, the more ties
  int64_t demand_scale = 1;    // the larger, the fuller; 0: ports alone matter
  int64_t ports = 0;           // how many static ports are in fashion
  uint64_t port_percent = 30;  // of the tasks
  uint64_t stop_percent = 0;
  uint64_t rule_percent = 0;  // of the tasks
  bool full_ids = false;      // as in production; short ones tie in their first eight bytes
};

const char* const kCapabilities[] = {"ecs.capability.task-eni",
                                     "com.amazonaws.ecs.capability.docker-remote-api.1.21",
                                     "ecs.capability.external", "rack.one"};

class Walk {
 public:
  Walk(const Setting& setting, uint64_t seed) : setting_(setting), rng_(seed) {}

  // Steps until something differs. Returns what, or nothing.
  std::string Run(int64_t steps, int64_t check_every) {
    for (int64_t step = 0; step < steps; ++step) {
      const std::string wrong = Step();
      if (!wrong.empty()) return "step " + std::to_string(step) + ": " + wrong;
      if (step % check_every != 0) continue;
      const std::vector<std::string> violations = inventory_.FindViolations();
      if (!violations.empty()) return "step " + std::to_string(step) + ": " + violations.front();
    }
    return "";
  }

  int64_t placed() const { return placed_; }
  int64_t turned_away() const { return turned_away_; }
  // What was placed where, in a number.
  uint64_t digest() const { return digest_; }

 private:
  bool Chance(uint64_t percent) { return rng_.Below(100) < percent; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[rng_.Below(from.size())];
  }

  std::string Step() {
    const uint64_t dice = rng_.Below(100);
    if (cluster_.empty() || dice < 2) return PutNew();
    if (dice < 4) return PutAgain();
    if (dice < 7) return ToggleEligible();
    if (dice < 8) return RemoveOne();
    if (dice < 9) return SetRunningTasks();
    if (dice < 9 + setting_.stop_percent) return StopTask();
    return RunTask();
  }

  Machine RandomMachine(const std::string& id) {
    // A shape is drawn from its own seed, so that machines of one shape are alike.
    Rng shape(rng_.Below(setting_.machine_shapes));
    Machine machine{.id = id,
                    .cpu_units = static_cast<int64_t>(1 + shape.Below(16)) * 1024,
                    .memory_mib = static_cast<int64_t>(1 + shape.Below(32)) * 1024,
                    .attributes = {},
                    .mps_clients_max = static_cast<int64_t>(4 + shape.Below(8))};
    const int64_t gpus = static_cast<int64_t>(shape.Below(6));
    const int64_t gpu_mib = static_cast<int64_t>(1 + shape.Below(4)) * 8000;
    for (int64_t i = 0; i < gpus; ++i) {
      const bool is_odd = shape.Below(8) == 0;
      // Registered order is not id order.
      machine.gpus.push_back(Gpu("g" + std::to_string((i * 5 + 3) % 7),
                                 is_odd ? static_cast<int64_t>(shape.Below(3)) * 5000 : gpu_mib));
    }
    if (shape.Below(8) != 0) machine.attributes.push_back(model::kGpuSharingCapability);
    for (const char* capability : kCapabilities) {
      if (shape.Below(4) == 0) machine.attributes.push_back(capability);
    }
    machine.reserved_tcp_ports = {22, 51678};
    if (Chance(20)) machine.reserved_tcp_ports.push_back(RandomPort());
    std::sort(machine.reserved_tcp_ports.begin(), machine.reserved_tcp_ports.end());
    return machine;
  }

  int64_t RandomPort() { return 60000 + static_cast<int64_t>(rng_.Below(setting_.ports + 1)); }

  std::vector<int64_t> RandomPorts() {
    std::vector<int64_t> ports;
    if (!Chance(setting_.port_percent)) return ports;
    ports.push_back(Chance(5) ? 22 : RandomPort());
    while (Chance(setting_.port_percent)) ports.push_back(ports.back() + 1);
    return ports;
  }

  Demand RandomDemand() {
    const int64_t scale = setting_.demand_scale;
    Demand demand{.cpu_units = static_cast<int64_t>(rng_.Below(8)) * 128 * scale,
                  .memory_mib = static_cast<int64_t>(rng_.Below(8)) * 128 * scale,
                  .tcp_ports = RandomPorts(),
                  .udp_ports = Chance(10) ? RandomPorts() : std::vector<int64_t>{}};
    switch (rng_.Below(8)) {
      case 0:
        break;
      case 1:
        demand.gpu = {.kind = GpuDemand::Kind::kAll};
        break;
      case 2:
      case 3:
        demand.gpu = {.kind = GpuDemand::Kind::kDedicated,
                      .count = static_cast<int64_t>(1 + rng_.Below(4))};
        break;
      default:
        if (scale == 0) break;
        demand.gpu = {.kind = GpuDemand::Kind::kShared,
                      .memory_mib = static_cast<int64_t>(1 + rng_.Below(12)) * 500 * scale,
                      .containers = static_cast<int64_t>(1 + rng_.Below(3))};
        if (Chance(80)) demand.required_attributes.push_back(model::kGpuSharingCapability);
    }
    for (const char* capability : kCapabilities) {
      if (Chance(8)) demand.required_attributes.push_back(capability);
    }
    if (Chance(1)) demand.required_attributes.push_back("ecs.capability.of-nobody");
    std::sort(demand.required_attributes.begin(), demand.required_attributes.end());
    const uint64_t launch_type = rng_.Below(40);
    if (launch_type == 0) demand.launch_type = model::LaunchType::kFargate;
    if (launch_type <= 8) demand.launch_type = model::LaunchType::kManagedInstances;
    if (launch_type >= 30) demand.launch_type = model::LaunchType::kExternal;
    return demand;
  }

  model::InstanceId RandomInstance() {
    auto found = cluster_.begin();
    std::advance(found, rng_.Below(cluster_.size()));
    return found->first;
  }

  std::string PutNew() {
    if (static_cast<int64_t>(cluster_.size()) >= setting_.instances_max) return "";
    std::string id;
    for (int i = 0; i < (setting_.full_ids ? 32 : 3); ++i) {
      id += "0123456789abcdef"[rng_.Below(16)];
    }
    id = setting_.full_ids ? id : "instance-" + id;
    if (cluster_.contains({id})) return "";
    naive::Instance instance{.record = Record(RandomMachine(id)), .eligible = true};
    AddRuledAttributes(rng_, instance.record);
    inventory_.Put(instance.record);
    if (!inventory_.Contains({id})) return "Contains denies what was put";
    inventory_.SetEligible({id}, true);
    cluster_[{id}] = std::move(instance);
    return Compare({id});
  }

  std::string PutAgain() {
    const model::InstanceId id = RandomInstance();
    naive::Instance& instance = cluster_[id];
    instance.record = Record(RandomMachine(id.value));
    AddRuledAttributes(rng_, instance.record);
    inventory_.Put(instance.record);
    // From here on it may hold more than it has.
    if (!naive::FindOverCommitments(instance).empty()) shrunk_.insert(id);
    return Compare(id);
  }

  std::string ToggleEligible() {
    const model::InstanceId id = RandomInstance();
    naive::Instance& instance = cluster_[id];
    instance.eligible = !instance.eligible || Chance(50);
    inventory_.SetEligible(id, instance.eligible);
    return Compare(id);
  }

  std::string RemoveOne() {
    const model::InstanceId id = RandomInstance();
    while (!cluster_[id].tasks.empty()) {
      const std::string wrong = Release(id, cluster_[id].tasks.begin()->first);
      if (!wrong.empty()) return wrong;
    }
    inventory_.Remove(id);
    cluster_.erase(id);
    shrunk_.erase(id);
    if (inventory_.Contains(id)) return "Contains affirms what was removed";
    if (inventory_.size() != static_cast<int64_t>(cluster_.size())) return "size() is wrong";
    return "";
  }

  std::string StopTask() {
    const model::InstanceId id = RandomInstance();
    const auto& tasks = cluster_[id].tasks;
    if (tasks.empty()) return "";
    auto task = tasks.begin();
    std::advance(task, rng_.Below(tasks.size()));
    return Release(id, task->first);
  }

  std::string Release(const model::InstanceId& id, int64_t task) {
    naive::Instance& instance = cluster_[id];
    inventory_.Release(id, instance.tasks[task]);
    instance.tasks.erase(task);
    if (naive::FindOverCommitments(instance).empty()) shrunk_.erase(id);
    return Compare(id);
  }

  std::string SetRunningTasks() {
    const model::InstanceId id = RandomInstance();
    cluster_[id].running_tasks = static_cast<int64_t>(rng_.Below(4));
    inventory_.SetRunningTasks(id, cluster_[id].running_tasks);
    return "";
  }

  std::string RunTask() {
    const Demand demand = RandomDemand();
    const BothRules rules = Chance(setting_.rule_percent) ? RandomRules(rng_) : BothRules{};
    const TaskToPlace task{.group = "g" + std::to_string(rng_.Below(4)), .seed = rng_.Next()};
    const std::vector<Placement> best = naive::FindBest(demand, cluster_, rules.scan, task.group);
    const std::optional<Placement> chosen = Place(demand, inventory_, rules.engine, task);
    const bool is_one_of_the_best = std::any_of(
        best.begin(), best.end(),
        [&chosen](const Placement& placement) { return Where(placement) == Where(chosen); });
    if (chosen ? !is_one_of_the_best : !best.empty()) {
      return "the engine chose " + Where(chosen) + ", the scan " +
             (best.empty() ? "nowhere" : Where(best.front()));
    }
    if (chosen) return Start(*chosen);
    ++turned_away_;
    // The explanation is a scan itself, so now and then will do.
    return rules.engine.empty() && Chance(10) ? CompareExplanation(demand) : "";
  }

  std::string Start(const Placement& placement) {
    ++placed_;
    for (const char c : Where(placement)) digest_ = digest_ * 1099511628211u + c;
    inventory_.Reserve(placement.instance, placement.reservation);
    naive::Instance& instance = cluster_[placement.instance];
    instance.tasks[++last_task_] = placement.reservation;
    if (!shrunk_.contains(placement.instance)) {
      const std::vector<std::string> over = naive::FindOverCommitments(instance);
      if (!over.empty()) return "over-committed: " + over.front();
    }
    return Compare(placement.instance);
  }

  std::string CompareExplanation(const Demand& demand) {
    const Explanation why = Explain(demand, inventory_);
    std::map<Dimension, int64_t> expected;
    for (const auto& [id, instance] : cluster_) {
      const std::optional<Dimension> shortfall = naive::FindShortfall(demand, instance);
      if (!shortfall) return "nothing was found although " + id.value + " has room";
      ++expected[*shortfall];
    }
    std::map<Dimension, int64_t> funnel;
    for (const Explanation::Count& count : why.funnel) funnel[count.dimension] = count.instances;
    if (funnel != expected) return "the funnel is wrong";
    for (const TurnedAway& entry : why.turned_away) {
      if (entry.shortfall.dimension != naive::FindShortfall(demand, cluster_[entry.instance])) {
        return "the shortfall of " + entry.instance.value + " is wrong";
      }
      if (why.Detail(entry).empty()) return "a shortfall has no words";
    }
    return "";
  }

  std::string Compare(const model::InstanceId& id) {
    const InstanceState expected = naive::StateOf(cluster_[id]);
    InstanceState state = inventory_.Find(id);
    // Devices that are gone come last, in the order in which that was seen.
    const auto gone = state.gpus.begin() + cluster_[id].record.resources.gpus.size();
    std::sort(gone, state.gpus.end(),
              [](const GpuState& a, const GpuState& b) { return a.id < b.id; });
    const bool same_gpus = std::equal(
        state.gpus.begin(), state.gpus.end(), expected.gpus.begin(), expected.gpus.end(),
        [](const GpuState& a, const GpuState& b) { return a.id == b.id && Text(a) == Text(b); });
    if (!same_gpus) return "the GPUs of " + id.value + " differ";
    if (state.remaining_cpu_units != expected.remaining_cpu_units) return "the CPU differs";
    if (state.remaining_memory_mib != expected.remaining_memory_mib) return "the memory differs";
    if (state.tcp_ports_in_use != expected.tcp_ports_in_use) return "the TCP ports differ";
    if (state.udp_ports_in_use != expected.udp_ports_in_use) return "the UDP ports differ";
    return "";
  }

  Setting setting_;
  Rng rng_;
  Inventory inventory_;
  naive::Cluster cluster_;
  std::set<model::InstanceId> shrunk_;
  int64_t last_task_ = 0;
  int64_t placed_ = 0;
  int64_t turned_away_ = 0;
  uint64_t digest_ = 0;
};

const std::vector<Setting> kSettings = {
    {"few machines, often full", 4, 100, 4, 3, 30, 30, 30, false},
    {"alike machines: ties everywhere", 30, 3, 1, 5, 30, 35, 30, false},
    {"many shapes", 40, 1000, 2, 5, 30, 35, 30, true},
    {"ports in fashion, so that many have a bit", 60, 10, 0, 12, 60, 25, 0, true},
    {"more busy ports than there are bits", 60, 10, 0, 100, 75, 10, 30, false},
};

// The most steps where the scan is cheap. The whole is checked now and then: after each step the
// instance that it touched is.
struct Stretch {
  Setting setting = {};
  int64_t steps = 0;
};
const std::vector<Stretch> kHalfAMillion = {
    {{"two machines", 2, 100, 4, 3, 30, 30, 40, false}, 230'000},
    {{"few machines, often full", 5, 100, 4, 3, 30, 30, 40, false}, 200'000},
    {{"alike machines: ties everywhere", 16, 3, 1, 5, 30, 40, 40, false}, 40'000},
    {{"many shapes", 30, 1000, 2, 5, 30, 40, 40, true}, 25'000},
    {{"ports in fashion", 60, 10, 0, 12, 60, 40, 20, true}, 4'000},
    {{"a large inventory", 300, 200, 4, 40, 30, 40, 40, true}, 1'000},
};

// BERTH_SEED=n repeats one seed.
uint64_t FirstSeed() {
  const char* seed = std::getenv("BERTH_SEED");
  return seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
}

TEST_CASE("the indexes find what a scan of everything finds", "[placement]") {
  constexpr int64_t kSteps = 5000;
  for (const Setting& setting : kSettings) {
    for (uint64_t seed = FirstSeed(); seed < FirstSeed() + 2; ++seed) {
      INFO(setting.why << "; repeat with BERTH_SEED=" << seed);
      Walk walk(setting, seed);

      CHECK(walk.Run(kSteps, 50) == "");

      // A walk that places all or nothing would prove little.
      CHECK(walk.placed() > kSteps / 20);
      CHECK(walk.turned_away() > kSteps / 40);
    }
  }
}

TEST_CASE("the engine finds what a scan finds, half a million times", "[.][slow][placement]") {
  for (const Stretch& stretch : kHalfAMillion) {
    INFO(stretch.setting.why << "; repeat with BERTH_SEED=" << FirstSeed());

    CHECK(Walk(stretch.setting, FirstSeed()).Run(stretch.steps, stretch.steps / 25) == "");
  }
}

TEST_CASE("the same steps lead to the same places", "[placement]") {
  const Setting setting = kSettings[2];
  Walk first(setting, 7);
  Walk second(setting, 7);
  Walk other(setting, 8);

  CHECK(first.Run(3000, 3000) == "");
  CHECK(second.Run(3000, 3000) == "");
  CHECK(other.Run(3000, 3000) == "");

  CHECK(first.placed() == second.placed());
  CHECK(first.digest() == second.digest());
  CHECK(first.digest() != other.digest());
}

}  // namespace
}  // namespace berth::placement

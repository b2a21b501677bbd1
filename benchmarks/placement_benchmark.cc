// How long a placement takes, and how that grows with the cluster, 80 % full as a rule. Each round
// places a task and reserves it, after the oldest has ended, so that all rounds see the same load.
// Machines are alike and ids random; the tasks come from definitions of different sizes, from a
// seed. `bytes_per_instance` is what the inventory itself takes, counted at the allocator.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "model/rng.h"
#include "placement/explanation.h"
#include "placement/inventory_impl.h"
#include "placement/place.h"
#include "placement/query.h"

namespace berth::placement {
namespace {

constexpr int kGpusPerInstance = 8;
constexpr int64_t kGpuMib = 22587;
constexpr int64_t kCpuUnits = 96 * 1024;
constexpr int64_t kMemoryMib = 768 * 1024;
constexpr int64_t kPercentFull = 80;
constexpr char kTaskEni[] = "ecs.capability.task-eni";

std::string HexId(model::Rng& rng) {
  std::string id;
  for (int i = 0; i < 32; ++i) id += "0123456789abcdef"[rng.Below(16)];
  return id;
}

model::ContainerInstance Record(int64_t number, model::Rng& rng) {
  model::ContainerInstance record;
  record.id.value = HexId(rng);
  record.resources = {.cpu_units = kCpuUnits,
                      .memory_mib = kMemoryMib,
                      .reserved_tcp_ports = {22, 2375, 2376, 51678, 51679, 51680}};
  for (int gpu = 0; gpu < kGpusPerInstance; ++gpu) {
    record.resources.gpus.push_back({.id = {"GPU-" + HexId(rng)}, .memory_mib = kGpuMib});
  }
  record.attributes = {
      {.name = model::kGpuSharingCapability},
      {.name = kTaskEni},
      {.name = "host", .value = record.id.value},
      {.name = "slice", .value = std::to_string(number % 100)},
      {.name = "zone", .value = std::string(1, static_cast<char>('a' + number % 3))}};
  return record;
}

Inventory Cluster(int64_t instances, model::Rng& rng) {
  Inventory inventory;
  for (int64_t i = 0; i < instances; ++i) {
    const model::ContainerInstance record = Record(i, rng);
    inventory.Put(record);
    inventory.SetEligible(record.id, true);
  }
  return inventory;
}

enum class Kind { kNone, kShared, kDedicated, kMixed };

Demand RandomDemand(Kind kind, model::Rng& rng) {
  Demand demand{.cpu_units = static_cast<int64_t>(1 + rng.Below(16)) * 128,
                .memory_mib = static_cast<int64_t>(1 + rng.Below(32)) * 256,
                .required_attributes = {kTaskEni}};
  if (kind == Kind::kMixed) {
    const uint64_t dice = rng.Below(10);
    kind = dice < 7 ? Kind::kShared : dice < 9 ? Kind::kNone : Kind::kDedicated;
  }
  if (kind == Kind::kShared) {
    demand.gpu = {.kind = GpuDemand::Kind::kShared,
                  .memory_mib = static_cast<int64_t>(512 + rng.Below(8000)),
                  .containers = static_cast<int64_t>(1 + rng.Below(2))};
    demand.required_attributes = {model::kGpuSharingCapability, kTaskEni};
  }
  if (kind == Kind::kDedicated) {
    demand.gpu = {.kind = GpuDemand::Kind::kDedicated,
                  .count = static_cast<int64_t>(1 + rng.Below(4))};
  }
  return demand;
}

std::vector<Demand> Definitions(Kind kind, int64_t count, model::Rng& rng) {
  std::vector<Demand> definitions;
  for (int64_t i = 0; i < count; ++i) definitions.push_back(RandomDemand(kind, rng));
  return definitions;
}

// How much of the whole a task of this demand takes: of what it takes most of.
double ShareOf(const Demand& demand, int64_t instances) {
  const auto share = [instances](int64_t asked, int64_t of_each) {
    return static_cast<double>(asked) / static_cast<double>(of_each * instances);
  };
  const double cpu = share(demand.cpu_units, kCpuUnits);
  const double memory = share(demand.memory_mib, kMemoryMib);
  const double gpus = demand.gpu.kind == GpuDemand::Kind::kShared
                          ? share(demand.gpu.memory_mib, kGpuMib * kGpusPerInstance)
                          : share(demand.gpu.count, kGpusPerInstance);
  return std::max({cpu, memory, gpus});
}

// A cluster with tasks on it.
struct World {
  World(int64_t instances, Kind kind, int64_t percent_full)
      : rng(42), inventory(Cluster(instances, rng)), definitions(Definitions(kind, 4096, rng)) {
    double full = 0;
    while (full * 100 < static_cast<double>(percent_full)) {
      const Demand& demand = definitions[rng.Below(definitions.size())];
      std::optional<Placement> placement = Place(demand, inventory);
      if (!placement) break;
      Start(*std::move(placement));
      full += ShareOf(demand, instances);
    }
  }

  void Start(Placement placement) {
    inventory.Reserve(placement.instance, placement.reservation);
    tasks.push_back(std::move(placement));
  }
  void EndOldest() {
    inventory.Release(tasks.front().instance, tasks.front().reservation);
    tasks.pop_front();
  }

  model::Rng rng;
  Inventory inventory;
  std::vector<Demand> definitions;
  std::deque<Placement> tasks;
};

// Filled once for all benchmarks of a kind, since that takes longer than they do: each leaves it as
// it was.
World& FullWorld(int64_t instances, Kind kind) {
  static std::map<int64_t, std::unique_ptr<World>> worlds;
  static Kind kind_there = kind;
  if (kind != kind_there) worlds.clear();
  kind_there = kind;
  std::unique_ptr<World>& world = worlds[instances];
  if (world == nullptr) world = std::make_unique<World>(instances, kind, kPercentFull);
  return *world;
}

void Report(benchmark::State& state, const World& world, int64_t turned_away) {
  state.SetItemsProcessed(state.iterations());
  state.counters["turned_away"] = static_cast<double>(turned_away);
  state.counters["tasks"] = static_cast<double>(world.tasks.size());
}

// Rounds with tasks of these definitions in turn, of which so many run at a time beside the others.
constexpr size_t kRunning = 64;

void PlaceAndRelease(benchmark::State& state, World& world, const std::vector<Demand>& definitions,
                     const Rules& rules, const std::string& group) {
  std::deque<Placement> others;
  others.swap(world.tasks);
  size_t next = 0;
  int64_t turned_away = 0;
  const auto start = [&] {
    std::optional<Placement> placement =
        Place(definitions[next % definitions.size()], world.inventory, rules,
              {.group = group, .seed = next});
    ++next;
    if (placement) {
      world.Start(*std::move(placement));
    } else {
      ++turned_away;
    }
  };
  // The rankings are there already, as they are in a server that runs.
  while (next < kRunning) start();
  for (auto _ : state) {
    if (!world.tasks.empty()) world.EndOldest();
    start();
  }
  Report(state, world, turned_away);
  state.counters["tasks"] += static_cast<double>(others.size());
  while (!world.tasks.empty()) world.EndOldest();
  world.tasks.swap(others);
}

void Plain(benchmark::State& state, Kind kind) {
  World& world = FullWorld(state.range(0), kind);
  PlaceAndRelease(state, world, world.definitions, Rules{}, "web");
}

// --- rules and GPU policies: sixteen definitions, each with its ranking
// ---------------------------

constexpr int64_t kRuledDefinitions = 16;

// Without arrivals, so that no epoch ends on the way.
void UnderPolicy(benchmark::State& state, GpuPolicyKind kind) {
  World& world = FullWorld(state.range(0), Kind::kShared);
  const std::vector<Demand> definitions(world.definitions.begin(),
                                        world.definitions.begin() + kRuledDefinitions);
  world.inventory.SetGpuPolicy({.kind = kind});
  PlaceAndRelease(state, world, definitions, Rules{}, "web");
  world.inventory.SetGpuPolicy({});
}

// A new epoch and what follows: the first placement of a definition looks at every instance.
void NewEpoch(benchmark::State& state, GpuPolicyKind kind) {
  World& world = FullWorld(state.range(0), Kind::kShared);
  world.inventory.SetGpuPolicy({.kind = kind});
  for (int i = 0; i < 1000; ++i) world.inventory.NoteArrival(world.definitions[i]);
  for (auto _ : state) {
    GpuOrder& order = world.inventory.impl().gpu_order;
    const uint64_t before = order.epoch();
    size_t next = 0;
    while (order.epoch() == before) {
      world.inventory.NoteArrival(world.definitions[next++ % world.definitions.size()]);
    }
    benchmark::DoNotOptimize(Place(world.definitions[0], world.inventory));
  }
  world.inventory.SetGpuPolicy({});
}

std::shared_ptr<const Query> Compiled(const std::string& text) { return *Query::Compile(text); }

Strategy Spread(const std::string& attribute) {
  return {.kind = Strategy::Kind::kSpread,
          .field = Strategy::Field::kAttribute,
          .attribute = attribute};
}
const Strategy kSpreadInstances = {.kind = Strategy::Kind::kSpread,
                                   .field = Strategy::Field::kInstanceId};
const Strategy kBinpackCpu = {.kind = Strategy::Kind::kBinpack, .field = Strategy::Field::kCpu};
const Strategy kRandom = {};

void Ruled(benchmark::State& state, const Rules& rules) {
  World& world = FullWorld(state.range(0), Kind::kShared);
  const std::vector<Demand> definitions(world.definitions.begin(),
                                        world.definitions.begin() + kRuledDefinitions);
  PlaceAndRelease(state, world, definitions, rules, "web");
  state.counters["rankings_mib"] =
      static_cast<double>(world.inventory.impl().rankings.bytes()) / (1 << 20);
}

void RuledPlain(benchmark::State& state) { Ruled(state, {}); }
void MemberOfOnePercent(benchmark::State& state) {
  Ruled(state, {.member_of = {Compiled("attribute:slice == 7")}});
}
void MemberOfByTasks(benchmark::State& state) {
  Ruled(state, {.member_of = {Compiled("attribute:slice in [7, 8] and not(task:group == db)")}});
}
void SpreadZonesAndInstances(benchmark::State& state) {
  Ruled(state, {.strategies = {Spread("zone"), kSpreadInstances}});
}
void BinpackCpu(benchmark::State& state) { Ruled(state, {.strategies = {kBinpackCpu}}); }
void DistinctInstance(benchmark::State& state) {
  Ruled(state, {.distinct_instance = true, .strategies = {kBinpackCpu}});
}
void RandomChoice(benchmark::State& state) { Ruled(state, {.strategies = {kRandom}}); }

// --- adversarial states --------------------------------------------------------------------------

// Every instance has a value of its own, which the tasks spread over and the query names: those
// with the highest ids, which are filled last.
void SpreadOverHosts(benchmark::State& state) { Ruled(state, {.strategies = {Spread("host")}}); }
void MemberOfHosts(benchmark::State& state) {
  Ruled(state, {.member_of = {Compiled("attribute:host =~ 'f.*'")}});
}

// All GPUs are half free, and no instance but the last has CPU left.
void CpuExhausted(benchmark::State& state) {
  World world(state.range(0), Kind::kShared, 0);
  const Demand fill{.cpu_units = kCpuUnits - 64};
  for (int64_t i = 1; i < state.range(0); ++i) world.Start(*Place(fill, world.inventory));
  PlaceAndRelease(state, world, world.definitions, Rules{}, "web");
}

// Half of the instances have CPU and no memory left, the other half memory and no CPU, in turn by
// what remains of their GPUs: a bound over several of them says that there is room.
void RoomOnlyApart(benchmark::State& state) {
  World world(state.range(0), Kind::kShared, 0);
  int64_t number = 0;
  for (const auto& instance : world.inventory.impl().instances) {
    if (++number == state.range(0)) break;  // the last one has room
    const bool no_cpu = number % 2 == 0;
    world.inventory.Reserve(instance->id, {.cpu_units = no_cpu ? kCpuUnits - 64 : 0,
                                           .memory_mib = no_cpu ? 0 : kMemoryMib - 64,
                                           .gpu_use = model::GpuUse::kNvidiaMps,
                                           .gpus = {instance->devices[0].id},
                                           .gpu_memory_mib = 1 + number % 4001,
                                           .gpu_containers = 1});
  }
  world.definitions.resize(kRuledDefinitions);
  PlaceAndRelease(state, world, world.definitions, Rules{}, "web");
}

// --- the rest ------------------------------------------------------------------------------------

// The search alone.
void PlaceOnly(benchmark::State& state, Kind kind) {
  World& world = FullWorld(state.range(0), kind);
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Place(world.definitions[next++ % world.definitions.size()], world.inventory));
  }
}

// A hundred equal tasks in one call, then their end. Items are tasks.
void Batch(benchmark::State& state) {
  World& world = FullWorld(state.range(0), Kind::kShared);
  constexpr int64_t kCount = 100;
  for (auto _ : state) {
    const std::vector<Placement> placements =
        PlaceMany(world.definitions[0], world.inventory, Rules{}, {.group = "web"}, kCount);
    for (const Placement& placement : placements) {
      world.inventory.Release(placement.instance, placement.reservation);
    }
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}

// A ranking from nothing: what the first task of a definition costs.
void FirstOfItsKind(benchmark::State& state) {
  World& world = FullWorld(state.range(0), Kind::kShared);
  const Rules rules{.strategies = {Spread("zone"), kSpreadInstances}};
  static int64_t next = 0;  // a repetition must not find the one before it
  for (auto _ : state) {
    Demand demand = world.definitions[0];
    demand.cpu_units = ++next;
    benchmark::DoNotOptimize(Place(demand, world.inventory, rules, {.group = "web"}));
  }
}

void Memory(benchmark::State& state) {
  const auto in_use = [] { return static_cast<double>(mallinfo2().uordblks); };
  for (auto _ : state) {
    const double before = in_use();
    model::Rng rng(42);
    const Inventory inventory = Cluster(state.range(0), rng);
    const double each = (in_use() - before) / static_cast<double>(state.range(0));
    state.counters["bytes_per_instance"] = each;
    state.counters["bytes_per_gpu"] = each / kGpusPerInstance;
  }
}

void ExplainFullCluster(benchmark::State& state) {
  model::Rng rng(42);
  Inventory inventory = Cluster(state.range(0), rng);
  Demand demand = RandomDemand(Kind::kShared, rng);
  demand.gpu.memory_mib = kGpuMib + 1;

  for (auto _ : state) benchmark::DoNotOptimize(Explain(demand, inventory));
}

#define BERTH_SIZES ->Arg(1'000)->Arg(10'000)->Arg(100'000)
BENCHMARK_CAPTURE(Plain, shared, Kind::kShared) BERTH_SIZES;
BENCHMARK_CAPTURE(Plain, dedicated, Kind::kDedicated) BERTH_SIZES;
BENCHMARK_CAPTURE(Plain, none, Kind::kNone) BERTH_SIZES;
BENCHMARK_CAPTURE(Plain, mixed, Kind::kMixed) BERTH_SIZES;
BENCHMARK_CAPTURE(UnderPolicy, best_fit, GpuPolicyKind::kBestFit) BERTH_SIZES;
BENCHMARK_CAPTURE(UnderPolicy, fgd, GpuPolicyKind::kFgd) BERTH_SIZES;
BENCHMARK_CAPTURE(UnderPolicy, worth, GpuPolicyKind::kWorth) BERTH_SIZES;
BENCHMARK_CAPTURE(NewEpoch, worth, GpuPolicyKind::kWorth)->Arg(1'000)->Arg(10'000);
BENCHMARK(RuledPlain) BERTH_SIZES;
BENCHMARK(MemberOfOnePercent) BERTH_SIZES;
BENCHMARK(MemberOfByTasks) BERTH_SIZES;
BENCHMARK(SpreadZonesAndInstances) BERTH_SIZES;
BENCHMARK(BinpackCpu) BERTH_SIZES;
BENCHMARK(DistinctInstance) BERTH_SIZES;
BENCHMARK(RandomChoice) BERTH_SIZES;
BENCHMARK(SpreadOverHosts) BERTH_SIZES;
BENCHMARK(MemberOfHosts) BERTH_SIZES;
BENCHMARK(CpuExhausted) BERTH_SIZES;
BENCHMARK(RoomOnlyApart) BERTH_SIZES;
BENCHMARK(Batch) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceOnly, shared, Kind::kShared) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceOnly, dedicated, Kind::kDedicated) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceOnly, none, Kind::kNone) BERTH_SIZES;
BENCHMARK(FirstOfItsKind) BERTH_SIZES;
BENCHMARK(Memory)->Iterations(1) BERTH_SIZES;
BENCHMARK(ExplainFullCluster) BERTH_SIZES;

}  // namespace
}  // namespace berth::placement

// How long one placement takes, and how that grows with the cluster. Each round places a task and
// reserves it; once the cluster is as full as it should be, the oldest task ends first, so that all
// rounds see the same load. Shapes of tasks and machines vary, from a seed.
#include <deque>
#include <string>

#include <benchmark/benchmark.h>

#include "model/rng.h"
#include "placement/explanation.h"
#include "placement/place.h"

namespace berth::placement {
namespace {

constexpr int kGpusPerInstance = 8;
constexpr int64_t kGpuMib = 22587;
constexpr char kTaskEni[] = "ecs.capability.task-eni";

std::string HexId(model::Rng& rng) {
  std::string id;
  for (int i = 0; i < 32; ++i) id += "0123456789abcdef"[rng.Below(16)];
  return id;
}

Inventory Cluster(int64_t instances, model::Rng& rng) {
  Inventory inventory;
  for (int64_t i = 0; i < instances; ++i) {
    model::ContainerInstance record;
    record.id.value = HexId(rng);
    record.resources = {.cpu_units = 96 * 1024,
                        .memory_mib = 768 * 1024,
                        .reserved_tcp_ports = {22, 2375, 2376, 51678, 51679, 51680}};
    for (int gpu = 0; gpu < kGpusPerInstance; ++gpu) {
      record.resources.gpus.push_back({.id = {"GPU-" + HexId(rng)}, .memory_mib = kGpuMib});
    }
    record.attributes = {{.name = model::kGpuSharingCapability}, {.name = kTaskEni}};
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

// Fills the cluster until a task finds no place, then ends a tenth of the tasks, the oldest.
std::deque<Placement> Fill(Inventory& inventory, Kind kind, int64_t tasks_max, model::Rng& rng) {
  std::deque<Placement> tasks;
  while (static_cast<int64_t>(tasks.size()) < tasks_max) {
    std::optional<Placement> placement = Place(RandomDemand(kind, rng), inventory);
    if (!placement) break;
    inventory.Reserve(placement->instance, placement->reservation);
    tasks.push_back(*std::move(placement));
  }
  for (size_t end = tasks.size() / 10; end > 0; --end) {
    inventory.Release(tasks.front().instance, tasks.front().reservation);
    tasks.pop_front();
  }
  return tasks;
}

void PlaceAndRelease(benchmark::State& state, Kind kind) {
  model::Rng rng(42);
  Inventory inventory = Cluster(state.range(0), rng);
  std::deque<Placement> tasks = Fill(inventory, kind, state.range(0) * 40, rng);
  std::vector<Demand> demands;
  for (int i = 0; i < 4096; ++i) demands.push_back(RandomDemand(kind, rng));
  size_t next = 0;
  int64_t turned_away = 0;

  for (auto _ : state) {
    inventory.Release(tasks.front().instance, tasks.front().reservation);
    tasks.pop_front();
    std::optional<Placement> placement = Place(demands[next++ % demands.size()], inventory);
    if (!placement) {
      // No room for this one: the next takes the place.
      ++turned_away;
      if (tasks.size() < 2) state.SkipWithError("the cluster ran empty");
      continue;
    }
    inventory.Reserve(placement->instance, placement->reservation);
    tasks.push_back(*std::move(placement));
  }

  state.SetItemsProcessed(state.iterations());
  state.counters["turned_away"] = static_cast<double>(turned_away);
  state.counters["tasks"] = static_cast<double>(tasks.size());
}

// The search alone.
void PlaceOnly(benchmark::State& state, Kind kind) {
  model::Rng rng(42);
  Inventory inventory = Cluster(state.range(0), rng);
  Fill(inventory, kind, state.range(0) * 40, rng);
  std::vector<Demand> demands;
  for (int i = 0; i < 4096; ++i) demands.push_back(RandomDemand(kind, rng));
  size_t next = 0;

  for (auto _ : state) {
    benchmark::DoNotOptimize(Place(demands[next++ % demands.size()], inventory));
  }
}

void ExplainFullCluster(benchmark::State& state) {
  model::Rng rng(42);
  Inventory inventory = Cluster(state.range(0), rng);
  Demand demand = RandomDemand(Kind::kShared, rng);
  demand.gpu.memory_mib = kGpuMib + 1;

  for (auto _ : state) benchmark::DoNotOptimize(Explain(demand, inventory));
}

#define BERTH_SIZES ->Arg(100)->Arg(1'000)->Arg(10'000)
BENCHMARK_CAPTURE(PlaceAndRelease, shared, Kind::kShared) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceAndRelease, dedicated, Kind::kDedicated) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceAndRelease, none, Kind::kNone) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceAndRelease, mixed, Kind::kMixed) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceOnly, shared, Kind::kShared) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceOnly, dedicated, Kind::kDedicated) BERTH_SIZES;
BENCHMARK_CAPTURE(PlaceOnly, none, Kind::kNone) BERTH_SIZES;
BENCHMARK(ExplainFullCluster) BERTH_SIZES;

}  // namespace
}  // namespace berth::placement

// How long the cluster's loop is held up to plan moves, at up to 10,000 instances of 8 GPUs. The
// search is bounded by counts (placement/defrag.h); this is what their worst costs, aimed at 100
// ms.
//
//   stuck    every GPU has a task of more than half of it; a whole one is wanted, and no move helps
//   crumbs   64 small tasks an instance, almost no room; a whole GPU is wanted
//   many     half of what was placed has ended; whole GPUs for 100 tasks are wanted
//   chosen   as many, and a memberOf that each instance has to be asked about
//   less     as many, and the moves that lower fragmentation most are wanted
//   mixed    the same with 64 typical tasks
//   read     the figures of /metrics after the mix was taken anew: every instance is looked at
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "model/check.h"
#include "model/rng.h"
#include "scheduler/defrag.h"

namespace berth::scheduler {
namespace {

constexpr int kGpus = 8;
constexpr int64_t kGpuMib = 22587;
constexpr int64_t kTasksPerCall = 10;

class Cluster {
 private:
  template <class Command>
  auto Do(const Command& command) {
    auto outcome = Decide(state_, command, {.now = now_, .ids = ids_});
    BERTH_CHECK(outcome.reply.ok());
    return *std::move(outcome.reply);
  }

 public:
  explicit Cluster(int64_t instances) {
    Do(CreateCluster{.name = name_});
    for (int64_t i = 0; i < instances; ++i) {
      RegisterContainerInstance one{
          .cluster = name_,
          .resources = {.cpu_units = 96 * 1024, .memory_mib = 768 * 1024},
          .attributes = {{.name = model::kGpuSharingCapability},
                         {.name = "host", .value = "h" + std::to_string(i)}},
          .emulated = true};
      for (int gpu = 0; gpu < kGpus; ++gpu) {
        one.resources.gpus.push_back({.id = {std::to_string(gpu)}, .memory_mib = kGpuMib});
      }
      Do(std::move(one));
    }
  }

  // A task that shares a GPU, or has a whole one where `mib` is 0.
  model::DefinitionRef Define(int64_t mib, const std::string& member_of = "") {
    model::ResourceRequirement gpu{.type = "GPU"};
    if (mib == 0) {
      gpu.value = "1";
    } else {
      gpu.sharing_strategy =
          model::ResourceRequirement::SharingStrategy{.has_nvidia_mps = true, .memory_mib = mib};
    }
    model::TaskSpec spec{.family = "f" + std::to_string(mib),
                         .containers = {{.name = "app", .memory_mib = 1}}};
    spec.containers[0].resource_requirements = {gpu};
    if (!member_of.empty()) {
      spec.placement_constraints = {{.type = "memberOf", .expression = member_of}};
    }
    const DefinitionRecord record =
        Do(RegisterTaskDefinition{.family = spec.family,
                                  .document = std::make_shared<const std::string>("{}"),
                                  .spec = std::make_shared<const model::TaskSpec>(spec)});
    return {.family = spec.family, .revision = record->id.revision};
  }

  // As many as it is asked for, or as find room.
  void Run(const model::DefinitionRef& definition, int64_t tasks) {
    for (; tasks > 0; tasks -= kTasksPerCall) {
      const auto reply =
          Do(RunTask{.cluster = name_, .definition = definition, .count = kTasksPerCall});
      for (const model::TaskRecord& task : reply.tasks) running_.push_back(task->id);
      if (!reply.failures.empty()) return;
    }
  }
  void EndHalf() {
    for (const model::TaskId& task : running_) {
      if (rng_.Below(2) == 0) continue;
      Do(ReportTask{.cluster = name_, .task = task, .status = model::TaskStatus::kStopped});
    }
  }

  ReadFragmentation::Reply Read() { return Do(ReadFragmentation{.clusters = {name_}}); }
  Defrag::Reply Plan(std::optional<model::DefinitionRef> definition, int64_t count) {
    Defrag command{.cluster = name_, .moves_max = placement::kDefragMovesMax};
    if (definition) {
      command.task = RunTask{.cluster = name_, .definition = *definition, .count = count};
    }
    return Do(command);
  }

 private:
  const model::ClusterName name_ = {"default"};
  model::RandomIdSource ids_{model::Rng(7)};
  model::Rng rng_{42};
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  State state_;
  std::vector<model::TaskId> running_;
};

void Measure(benchmark::State& bench, Cluster& cluster,
             const std::optional<model::DefinitionRef>& definition, int64_t count) {
  Defrag::Reply reply;
  for (auto _ : bench) benchmark::DoNotOptimize(reply = cluster.Plan(definition, count));
  bench.counters["moves"] = static_cast<double>(reply.plan.moves.size());
  bench.counters["limited"] = reply.plan.limited ? 1 : 0;
  bench.SetLabel(std::string(placement::ToString(reply.plan.outcome)));
}

void Stuck(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  cluster.Run(cluster.Define(12'000), bench.range(0) * kGpus);
  Measure(bench, cluster, cluster.Define(0), 1);
}

void Crumbs(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  for (int64_t mib = 2790; mib < 2820; mib += 5) {
    cluster.Run(cluster.Define(mib), bench.range(0) * kGpus * kGpus / 6);
  }
  Measure(bench, cluster, cluster.Define(0), 1);
}

// Every GPU shared by tasks of that many sizes, then half of them gone.
void FillAndEndHalf(Cluster& cluster, int64_t instances, int64_t sizes) {
  std::vector<model::DefinitionRef> definitions;
  for (int64_t i = 0; i < sizes; ++i) {
    definitions.push_back(cluster.Define(2000 + 8000 * i / sizes));
  }
  for (int64_t n = 0; n < instances * kGpus * 3; n += kTasksPerCall) {
    cluster.Run(definitions[n / kTasksPerCall * 7 % sizes], kTasksPerCall);
  }
  cluster.EndHalf();
}

void Many(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  FillAndEndHalf(cluster, bench.range(0), 5);
  const model::DefinitionRef whole = cluster.Define(0);
  cluster.Run(whole, bench.range(0) * kGpus);
  Measure(bench, cluster, whole, placement::kDefragCountMax);
}

void Chosen(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  FillAndEndHalf(cluster, bench.range(0), 5);
  cluster.Run(cluster.Define(0), bench.range(0) * kGpus);
  Measure(bench, cluster, cluster.Define(0, "attribute:host =~ h.*7"), placement::kDefragCountMax);
}

void Less(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  FillAndEndHalf(cluster, bench.range(0), 5);
  Measure(bench, cluster, std::nullopt, 1);
}

void Mixed(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  FillAndEndHalf(cluster, bench.range(0), placement::ClusterFragmentation::kTypicalShapesMax);
  Measure(bench, cluster, std::nullopt, 1);
}

// The mix is taken anew after so many placements, which are not measured.
void Read(benchmark::State& bench) {
  constexpr int64_t kSizes = placement::ClusterFragmentation::kTypicalShapesMax;
  Cluster cluster(bench.range(0));
  FillAndEndHalf(cluster, bench.range(0), kSizes);
  const model::DefinitionRef least = cluster.Define(1);
  for (auto _ : bench) {
    bench.PauseTiming();
    cluster.Run(least, placement::ClusterFragmentation::kMixStep + kTasksPerCall);
    bench.ResumeTiming();
    benchmark::DoNotOptimize(cluster.Read());
  }
}

BENCHMARK(Stuck)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Crumbs)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Many)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Chosen)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Less)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Mixed)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Read)->Arg(1'000)->Arg(10'000)->Iterations(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::scheduler

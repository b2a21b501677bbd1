// How long one tick holds up the cluster loop when it forgets as many STOPPED tasks as it may, in a
// cluster that remembers very many.
#include <utility>

#include <benchmark/benchmark.h>

#include "model/check.h"
#include "model/rng.h"
#include "scheduler/decide.h"

namespace berth::scheduler {
namespace {

constexpr int kInstances = 1000;
constexpr int64_t kTasksPerCall = 10;

class Cluster {
 public:
  explicit Cluster(int64_t tasks) {
    Do(CreateCluster{.name = name_});
    const model::TaskSpec spec{.family = "web", .containers = {{.name = "app", .memory_mib = 1}}};
    Do(RegisterTaskDefinition{.family = "web",
                              .document = std::make_shared<const std::string>("{}"),
                              .spec = std::make_shared<const model::TaskSpec>(spec)});
    for (int i = 0; i < kInstances; ++i) {
      Do(RegisterContainerInstance{
          .cluster = name_, .resources = {.memory_mib = 1'000'000}, .emulated = true});
    }
    for (int64_t n = 0; n < tasks; n += kTasksPerCall) RunToEnd();
  }

  // What ten tasks more leave behind.
  void RunToEnd() {
    const RunTask run{.cluster = name_, .definition = {.family = "web"}, .count = kTasksPerCall};
    for (const model::TaskRecord& task : Do(run).tasks) {
      Do(ReportTask{.cluster = name_, .task = task->id, .status = model::TaskStatus::kStopped});
    }
  }

  size_t Tick() {
    now_ += absl::Hours(24);
    return Decide(state_, scheduler::Tick{}, {.now = now_, .ids = ids_}).changes.size();
  }

 private:
  template <class Command>
  typename Command::Reply Do(const Command& command) {
    auto outcome = Decide(state_, command, {.now = now_, .ids = ids_});
    BERTH_CHECK(outcome.reply.ok());
    return *std::move(outcome.reply);
  }

  const model::ClusterName name_ = {"default"};
  model::RandomIdSource ids_{model::Rng(7)};
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  State state_;
};

void FullTick(benchmark::State& bench) {
  Cluster cluster(bench.range(0));
  int64_t changes = 0;
  for (auto _ : bench) changes += static_cast<int64_t>(cluster.Tick());
  bench.counters["changes"] =
      benchmark::Counter(static_cast<double>(changes), benchmark::Counter::kAvgIterations);
}
// As many ticks as find work to do.
BENCHMARK(FullTick)->Arg(100'000)->Iterations(90)->Unit(benchmark::kMillisecond);
BENCHMARK(FullTick)->Arg(1'000'000)->Iterations(900)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::scheduler

// The experiment on small traces made here. On the published ones: published_table_test.cc.
#include "simulator/experiment.h"

#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "simulator/arrivals.h"
#include "simulator/report.h"

namespace berth::simulator {
namespace {

std::vector<TraceNode> Nodes(int count) {
  std::vector<TraceNode> nodes;
  for (int i = 0; i < count; ++i) {
    nodes.push_back({.name = "n" + std::to_string(i),
                     .cpu_milli = 32000,
                     .memory_mib = 65536,
                     .gpus = 4,
                     .model = i % 2 == 0 ? "T4" : "P100"});
  }
  return nodes;
}

std::vector<TraceTask> Tasks(int count, int64_t gpu_milli) {
  std::vector<TraceTask> tasks;
  for (int i = 0; i < count; ++i) {
    tasks.push_back({.name = "t" + std::to_string(i),
                     .cpu_milli = 1000 + 500 * (i % 3),
                     .memory_mib = 1024,
                     .gpus = 1,
                     .gpu_milli = gpu_milli});
  }
  return tasks;
}

Trace Prepared(std::vector<TraceNode> nodes, std::vector<TraceTask> tasks) {
  absl::StatusOr<Trace> trace = PrepareTrace(std::move(nodes), std::move(tasks));
  REQUIRE(trace.ok());
  return *std::move(trace);
}

}  // namespace

TEST_CASE("tasks that ask for too little come again until the load is there", "[arrivals]") {
  const Trace trace = Prepared(Nodes(5), Tasks(20, 500));

  const auto arrivals = DrawArrivals(trace, 42);

  REQUIRE(arrivals.ok());
  // 20,000 milli: 130 % are 26,000, of 500 each.
  CHECK(arrivals->tasks.size() == 52);
  CHECK(std::set<int32_t>(arrivals->tasks.begin(), arrivals->tasks.begin() + 20).size() == 20);
  CHECK(ArrivalName(trace, *arrivals, 20).ends_with("-tuned-0"));
  CHECK(std::set<int32_t>(arrivals->node_order.begin(), arrivals->node_order.end()).size() == 5);
}

TEST_CASE("of tasks that ask for too much some are left out", "[arrivals]") {
  const Trace trace = Prepared(Nodes(1), Tasks(50, 500));

  const auto arrivals = DrawArrivals(trace, 42);

  REQUIRE(arrivals.ok());
  CHECK(arrivals->tasks.size() == 10);
  CHECK(std::set<int32_t>(arrivals->tasks.begin(), arrivals->tasks.end()).size() == 10);
}

TEST_CASE("models that tasks want and no node has are named", "[arrivals]") {
  std::vector<TraceTask> tasks = Tasks(3, 500);
  tasks[0].gpu_models = "V100|A10";
  tasks[1].gpu_models = "V100|T4";

  CHECK(Prepared(Nodes(2), tasks).models_missing == std::set<std::string>{"V100|A10"});
}

TEST_CASE("a trace that can never bring the load is refused", "[arrivals]") {
  CHECK_FALSE(PrepareTrace(Nodes(1), {{.name = "t", .cpu_milli = 1, .memory_mib = 1}}).ok());
  std::vector<TraceNode> without_gpu = Nodes(1);
  without_gpu[0].gpus = 0;
  CHECK_FALSE(PrepareTrace(without_gpu, Tasks(1, 500)).ok());
}

TEST_CASE("a run repeats from its seed, and another seed is another run", "[experiment]") {
  const placement::GpuPolicyKind policy = GENERATE(from_range(placement::GpuPolicyKinds()));
  std::vector<TraceTask> tasks = Tasks(40, 460);
  for (TraceTask& task : Tasks(40, 810)) {
    task.name = "u" + task.name;
    task.cpu_milli *= 3;
    tasks.push_back(task);
  }
  const Trace trace = Prepared(Nodes(9), tasks);

  const auto once = RunExperiment(trace, policy, 42);
  const auto again = RunExperiment(trace, policy, 42);
  const auto other = RunExperiment(trace, policy, 43);

  REQUIRE((once.ok() && again.ok() && other.ok()));
  CHECK(once->decision_hash == again->decision_hash);
  CHECK(once->decision_hash != other->decision_hash);
}

TEST_CASE("what was placed is what the curve says is allocated", "[experiment]") {
  const Trace trace = Prepared(Nodes(4), Tasks(64, 500));

  const auto run = RunExperiment(trace, placement::GpuPolicyKind::kBestFit, 1);

  REQUIRE(run.ok());
  CHECK(run->arrived == 41);
  CHECK(run->failed == 9);
  CHECK(run->alloc_pct_at_130 == Approx(100));  // as it stood at 128 %, the last that arrived
  CHECK(run->curve.size() == 131);
  CHECK(run->curve[50].alloc_pct == Approx(50).margin(1));
}

TEST_CASE("reports have a line for each run, and a well-formed drawing", "[report]") {
  const Trace trace = Prepared(Nodes(4), Tasks(64, 500));
  TraceResults results = {.name = "a<b", .nodes = 4, .gpus = 16, .tasks = 64};
  for (const int64_t seed : {1, 2}) {
    results.runs.push_back(*RunExperiment(trace, placement::GpuPolicyKind::kFgd, seed));
  }

  const std::string csv = FormatCsv({results});
  const std::string svg = DrawSvg({results});

  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  CHECK_THAT(csv, Catch::StartsWith("policy,seed,arrived,failed,alloc_pct_at_100,alloc_pct_at_130,"
                                    "decision_hash\nfgd,1,41,"));
  CHECK_THAT(FormatCsv({results, results}), Catch::StartsWith("tasks,policy,"));
  CHECK_THAT(FormatTable({results}), Catch::Contains("fgd                 2      41.0"));
  CHECK_THAT(svg, Catch::Contains("a&lt;b"));
  CHECK_THAT(svg, !Catch::Contains("nan"));
  CHECK_THAT(svg, Catch::EndsWith("</svg>\n"));
}

}  // namespace berth::simulator

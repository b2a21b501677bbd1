// Traces of Berth's own format: what is read of them, what is refused, and how they are run.
#include "simulator/berth_trace.h"

#include <catch2/catch.hpp>

#include "simulator/arrivals.h"
#include "simulator/experiment.h"
#include "simulator/trace.h"

namespace berth::simulator {
namespace {

const std::string kNodes = std::string(kBerthNodeColumns) + "\n";
const std::string kTasks = std::string(kBerthTaskColumns) + "\n";

std::vector<TraceNode> TwoNodes() {
  const auto nodes = ReadTraceNodes(kNodes +
                                    "b,4096,8192,1000|1000,g5,yes\n"
                                    "a,2048,4096,4000,g6,no\n");
  REQUIRE(nodes.ok());
  return *nodes;
}

}  // namespace

TEST_CASE("a trace of Berth's own is known by its columns", "[simulator]") {
  const std::vector<TraceNode> nodes = TwoNodes();
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].device_mib == std::vector<int32_t>{1000, 1000});
  CHECK(nodes[0].gpu_mib == 2000);
  CHECK(nodes[1].device_mib == std::vector<int32_t>{0});  // not to be shared
  CHECK(nodes[1].gpu_mib == 4000);

  const auto tasks = ReadTraceTasks(kTasks +
                                    "t,10.5,20,256,512,shared,1,700\n"
                                    "u,9,,256,512,dedicated,2,0\n"
                                    "v,11,,1,2,none,0,0\n");
  REQUIRE(tasks.ok());
  CHECK((*tasks)[0].gpu_milli == 700);
  CHECK((*tasks)[0].arrived_at == 10.5);
  CHECK((*tasks)[0].ended_at == 20.0);
  CHECK((*tasks)[1].ended_at == std::nullopt);
  CHECK((*tasks)[1].need == placement::GpuNeed::kWhole);
}

TEST_CASE("tasks arrive in the order of their times, whatever the seed", "[simulator]") {
  const auto tasks = ReadTraceTasks(kTasks +
                                    "a,30,,1,1,shared,1,400\n"
                                    "b,10,,1,1,dedicated,1,0\n"
                                    "c,20,,1,1,shared,1,700\n");
  REQUIRE(tasks.ok());
  const auto trace = PrepareTrace(TwoNodes(), *tasks);
  REQUIRE(trace.ok());
  CHECK(trace->gpu_milli == 6000);
  CHECK(trace->gpus == 3);
  CHECK(trace->milli_per_gpu == 2000);
  CHECK(trace->gpu_milli_asked == 400 + 2000 + 700);

  for (const int64_t seed : {1, 2, 3}) {
    const auto arrivals = DrawArrivals(*trace, seed);
    REQUIRE(arrivals.ok());
    REQUIRE(arrivals->tasks.size() > 3);  // with copies, to 130 %
    CHECK(ArrivalName(*trace, *arrivals, 0) == "b");
    CHECK(ArrivalName(*trace, *arrivals, 1) == "c");
    CHECK(ArrivalName(*trace, *arrivals, 2) == "a");
  }
}

TEST_CASE("a task shares only GPUs that have the MiB, whatever their size", "[simulator]") {
  // 1500 MiB fit on no device: two of 1000, and one of 4000 that is not to be shared.
  const auto tasks = ReadTraceTasks(kTasks + "t,1,,1,1,shared,1,1500\n");
  REQUIRE(tasks.ok());
  const auto trace = PrepareTrace(TwoNodes(), *tasks);
  REQUIRE(trace.ok());

  const auto run = RunExperiment(*trace, placement::GpuPolicyKind::kBestFit, 42);

  REQUIRE(run.ok());
  CHECK(run->arrived > 0);
  CHECK(run->failed == run->arrived);
}

TEST_CASE("lines of Berth's own traces that make no sense are named", "[simulator]") {
  struct Case {
    std::string text;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {"t,x,,1,1,none,0,0\n", "line 2: arrived_at is 'x', not seconds since 1970"},
           {"t,1,,1,1,some,0,0\n",
            "line 2: gpu_kind is 'some', not none, shared, dedicated or all"},
           {"t,1,,1,1,shared,2,5\n", "line 2: 2 GPUs do not go with that gpu_kind"},
           {"t,1,,1,1,shared,1,0\n",
            "line 2: gpu_memory_mib is for tasks that share a GPU, and for all of them"},
       }) {
    CHECK(std::string(ReadTraceTasks(kTasks + c.text).status().message()) == c.message);
  }
  CHECK(std::string(ReadTraceNodes(kNodes + "a,1,1,9|x,m,yes\n").status().message()) ==
        "line 2: gpu_memory_mib is '9|x', not the MiB of each GPU joined by |");
  CHECK(std::string(ReadTraceNodes(kNodes + "a,1,1,9,m,maybe\n").status().message()) ==
        "line 2: gpu_sharing is 'maybe', not yes or no");
}

TEST_CASE("nodes of one format and tasks of the other do not go together", "[simulator]") {
  const auto tasks = ReadTraceTasks("name,cpu_milli,memory_mib,num_gpu,gpu_milli\nt,1,1,1,500\n");
  REQUIRE(tasks.ok());

  CHECK_FALSE(PrepareTrace(TwoNodes(), *tasks).ok());
}

}  // namespace berth::simulator

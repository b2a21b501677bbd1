// The published experiment, where its data is: the environment variable BERTH_OPENB names the
// folder (docs/placement.md says where it comes from). Without it this is counted as skipped.
//
// Here one seed of two variants, for every build; tests/end_to_end runs all of it.
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "simulator/arrivals.h"
#include "simulator/experiment.h"
#include "simulator/fnv.h"

namespace berth::simulator {
namespace {

std::string ReadFile(const std::string& name) {
  const char* folder = std::getenv("BERTH_OPENB");
  std::ifstream file(std::string(folder == nullptr ? "" : folder) + "/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The last field of the line that starts so.
std::string Expected(const std::string& file, const std::string& start) {
  std::istringstream lines(ReadFile(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start + ",")) return line.substr(start.size() + 1);
  }
  return "";
}

const std::map<std::string, placement::GpuPolicyKind> kPublished = {
    {"DotProd", placement::GpuPolicyKind::kDotProduct},
    {"GpuClustering", placement::GpuPolicyKind::kGpuClustering},
    {"GpuPacking", placement::GpuPolicyKind::kGpuPacking},
    {"BestFit", placement::GpuPolicyKind::kBestFit},
    {"FGD", placement::GpuPolicyKind::kFgd},
};

}  // namespace

TEST_CASE("a published run is made again, decision by decision", "[openb]") {
  if (std::getenv("BERTH_OPENB") == nullptr) {
    WARN("skipped: BERTH_OPENB names no folder");
    return;
  }
  const std::string variant = GENERATE("default", "multigpu50");
  const auto nodes = ReadTraceNodes(ReadFile("openb_node_list_gpu_node.csv"));
  const auto tasks = ReadTraceTasks(ReadFile("openb_pod_list_" + variant + ".csv"));
  REQUIRE((nodes.ok() && tasks.ok()));
  const auto trace = PrepareTrace(*nodes, *tasks);
  REQUIRE(trace.ok());

  const auto arrivals = DrawArrivals(*trace, 44);
  REQUIRE(arrivals.ok());
  Fnv names;
  for (size_t i = 0; i < arrivals->tasks.size(); ++i) {
    names.Add(ArrivalName(*trace, *arrivals, i) + "\n");
  }
  Fnv order;
  for (const int32_t node : arrivals->node_order) order.Add(trace->nodes[node].name + "\n");
  std::ostringstream found;
  found << arrivals->tasks.size() << std::hex << std::setfill('0') << ',' << std::setw(16)
        << names.hash() << ',' << std::setw(16) << order.hash() << ',';
  CHECK_THAT(Expected("order_check.csv", variant + ",44"), Catch::StartsWith(found.str()));

  for (const auto& [name, policy] : kPublished) {
    INFO(variant << " " << name);
    const auto run = RunExperiment(*trace, policy, 44);
    REQUIRE(run.ok());
    CHECK(run->decision_hash == Expected("decision_check.csv", variant + "," + name + ",44"));
  }
}

}  // namespace berth::simulator

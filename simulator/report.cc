#include "simulator/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace berth::simulator {
namespace {

// Of a sample; 0 for a single run.
double Deviation(double sum, double sum_of_squares, double count) {
  if (count < 2) return 0;
  const double mean = sum / count;
  return std::sqrt(std::max(0.0, sum_of_squares - count * mean * mean) / (count - 1));
}

PolicyMeans MeansOf(const std::vector<const RunResult*>& runs) {
  PolicyMeans means = {.policy = runs[0]->policy,
                       .seeds = std::ssize(runs),
                       .curve = std::vector<CurvePoint>(runs[0]->curve.size())};
  const auto count = static_cast<double>(runs.size());
  double squares_at_100 = 0;
  double squares_at_130 = 0;
  for (const RunResult* run : runs) {
    means.arrived += static_cast<double>(run->arrived) / count;
    means.failed += static_cast<double>(run->failed) / count;
    means.alloc_pct_at_100 += run->alloc_pct_at_100;
    means.alloc_pct_at_130 += run->alloc_pct_at_130;
    squares_at_100 += run->alloc_pct_at_100 * run->alloc_pct_at_100;
    squares_at_130 += run->alloc_pct_at_130 * run->alloc_pct_at_130;
    for (size_t i = 0; i < means.curve.size(); ++i) {
      means.curve[i].alloc_pct += run->curve[i].alloc_pct / count;
      means.curve[i].frag_pct_of_capacity += run->curve[i].frag_pct_of_capacity / count;
      means.curve[i].frag_pct_of_idle += run->curve[i].frag_pct_of_idle / count;
    }
  }
  means.alloc_pct_at_100_deviation = Deviation(means.alloc_pct_at_100, squares_at_100, count);
  means.alloc_pct_at_130_deviation = Deviation(means.alloc_pct_at_130, squares_at_130, count);
  means.alloc_pct_at_100 /= count;
  means.alloc_pct_at_130 /= count;
  return means;
}

}  // namespace

std::vector<PolicyMeans> MeansByPolicy(const std::vector<RunResult>& runs) {
  std::vector<PolicyMeans> means;
  for (size_t begin = 0; begin < runs.size();) {
    std::vector<const RunResult*> same;
    size_t end = begin;
    for (; end < runs.size() && runs[end].policy == runs[begin].policy; ++end) {
      same.push_back(&runs[end]);
    }
    means.push_back(MeansOf(same));
    begin = end;
  }
  return means;
}

std::string FormatTable(const std::vector<TraceResults>& traces) {
  constexpr size_t kAt100 = 100;
  std::string table;
  for (const TraceResults& trace : traces) {
    if (!table.empty()) table += '\n';
    absl::StrAppendFormat(&table, "%s: %d nodes, %d GPUs, %d tasks\n", trace.name, trace.nodes,
                          trace.gpus, trace.tasks);
    absl::StrAppendFormat(&table, "%-15s %5s %9s %8s  %16s  %16s  %17s\n", "", "", "", "",
                          "% allocated when", "% allocated when", "% fragmented when");
    absl::StrAppendFormat(&table, "%-15s %5s %9s %8s  %16s  %16s  %17s\n", "policy", "seeds",
                          "arrived", "failed", "100 % arrived", "130 % arrived", "100 % arrived");
    for (const PolicyMeans& means : MeansByPolicy(trace.runs)) {
      absl::StrAppendFormat(&table, "%-15s %5d %9.1f %8.1f  %8.3f ± %5.3f  %8.3f ± %5.3f  %17.3f\n",
                            means.policy, means.seeds, means.arrived, means.failed,
                            means.alloc_pct_at_100, means.alloc_pct_at_100_deviation,
                            means.alloc_pct_at_130, means.alloc_pct_at_130_deviation,
                            means.curve[kAt100].frag_pct_of_capacity);
    }
  }
  return table;
}

std::string FormatCsv(const std::vector<TraceResults>& traces) {
  const bool several = traces.size() > 1;
  std::string csv = several ? "tasks," : "";
  csv += "policy,seed,arrived,failed,alloc_pct_at_100,alloc_pct_at_130,decision_hash\n";
  for (const TraceResults& trace : traces) {
    for (const RunResult& run : trace.runs) {
      if (several) csv += trace.name + ',';
      absl::StrAppendFormat(&csv, "%s,%d,%d,%d,%.4f,%.4f,%s\n", run.policy, run.seed, run.arrived,
                            run.failed, run.alloc_pct_at_100, run.alloc_pct_at_130,
                            run.decision_hash);
    }
  }
  return csv;
}

}  // namespace berth::simulator

// What came of the runs, for people and for programs: a table, CSV, and a drawing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/experiment.h"

namespace berth::simulator {

// All runs of one trace.
struct TraceResults {
  std::string name = {};
  int64_t nodes = 0;
  int64_t gpus = 0;
  int64_t tasks = 0;
  std::vector<RunResult> runs = {};  // a policy's stand together
};

// The means of one policy over its seeds, and the standard deviations of a sample.
struct PolicyMeans {
  std::string policy = {};
  int64_t seeds = 0;
  double arrived = 0;
  double failed = 0;
  double alloc_pct_at_100 = 0;
  double alloc_pct_at_100_deviation = 0;
  double alloc_pct_at_130 = 0;
  double alloc_pct_at_130_deviation = 0;
  std::vector<CurvePoint> curve = {};
};
std::vector<PolicyMeans> MeansByPolicy(const std::vector<RunResult>& runs);

std::string FormatTable(const std::vector<TraceResults>& traces);
// One line a run; the trace's name is a column when there are several.
std::string FormatCsv(const std::vector<TraceResults>& traces);
// Allocation and fragmentation against arrived load, each policy's mean a line; a row of charts for
// each trace. A whole SVG document.
std::string DrawSvg(const std::vector<TraceResults>& traces);

}  // namespace berth::simulator

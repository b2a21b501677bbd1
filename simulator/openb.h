// The CSV files of the openb traces (alibaba/clusterdata, cluster-trace-gpu-v2023) and any that
// have the same columns. Text in, values out: reading files is the caller's.
//
// Columns are found by their names in the first line, in any order; others are not looked at.
//   nodes: sn, cpu_milli, memory_mib, gpu, model
//   tasks: name, cpu_milli, memory_mib, num_gpu, gpu_milli; gpu_spec where there is one
// Fields are not quoted. A line that makes no sense is an error that names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/fleet/task_shape.h"

namespace berth::simulator {

inline constexpr int64_t kTraceNodesMax = 1'000'000;
inline constexpr int64_t kTraceTasksMax = 10'000'000;
inline constexpr int64_t kMilliPerGpu = 1000;

struct TraceNode {
  std::string name = {};
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int gpus = 0;
  std::string model = {};
  // Of a trace of Berth's own (berth_trace.h): what each device has, 0 where it cannot be shared,
  // and what they have together.
  std::vector<int32_t> device_mib = {};
  int64_t gpu_mib = 0;

  bool operator==(const TraceNode&) const = default;
};

struct TraceTask {
  std::string name = {};
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int gpus = 0;
  int64_t gpu_milli = 0;        // of each; kMilliPerGpu when there are several, 0 without any
  std::string gpu_models = {};  // joined by '|'; empty: any
  // Of a trace of Berth's own: what of a GPU, and when. gpu_milli is then in MiB, 0 for whole ones.
  std::optional<placement::GpuNeed> need = std::nullopt;
  double arrived_at = 0;  // seconds since 1970
  std::optional<double> ended_at = std::nullopt;

  bool operator==(const TraceTask&) const = default;
};

// In the order of the lines. A trace of Berth's own is known by its columns, and read as such.
absl::StatusOr<std::vector<TraceNode>> ReadTraceNodes(std::string_view csv);
absl::StatusOr<std::vector<TraceTask>> ReadTraceTasks(std::string_view csv);

}  // namespace berth::simulator

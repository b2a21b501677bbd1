#include "simulator/openb.h"

#include "absl/strings/str_format.h"
#include "placement/fleet/node.h"
#include "simulator/berth_trace.h"
#include "simulator/csv_rows.h"

namespace berth::simulator {

absl::StatusOr<std::vector<TraceNode>> ReadTraceNodes(std::string_view csv) {
  if (IsBerthTrace(csv)) return ReadBerthNodes(csv);
  std::vector<TraceNode> nodes;
  const auto read = [&](const Row& row, const std::vector<size_t>& columns) -> absl::Status {
    absl::StatusOr<Amounts> amounts = ReadAmounts(row, columns);
    if (!amounts.ok()) return amounts.status();
    const absl::StatusOr<int64_t> gpus = row.Integer(columns[3], placement::kDevicesMax);
    if (!gpus.ok()) return gpus.status();
    absl::StatusOr<std::string> model = row.Name(columns[4]);
    if (!model.ok()) return model.status();
    nodes.push_back({.name = std::move(amounts->name),
                     .cpu_milli = amounts->cpu,
                     .memory_mib = amounts->memory_mib,
                     .gpus = static_cast<int>(*gpus),
                     .model = *std::move(model)});
    return absl::OkStatus();
  };
  const absl::Status status =
      ForEachRow(csv, {"sn", "cpu_milli", "memory_mib", "gpu", "model"}, 0, kTraceNodesMax, read);
  if (!status.ok()) return status;
  return nodes;
}

absl::StatusOr<std::vector<TraceTask>> ReadTraceTasks(std::string_view csv) {
  if (IsBerthTrace(csv)) return ReadBerthTasks(csv);
  std::vector<TraceTask> tasks;
  const auto read = [&](const Row& row, const std::vector<size_t>& columns) -> absl::Status {
    absl::StatusOr<Amounts> amounts = ReadAmounts(row, columns);
    if (!amounts.ok()) return amounts.status();
    const absl::StatusOr<int64_t> gpus = row.Integer(columns[3], placement::kDevicesMax);
    if (!gpus.ok()) return gpus.status();
    const absl::StatusOr<int64_t> milli = row.Integer(columns[4], kMilliPerGpu);
    if (!milli.ok()) return milli.status();
    TraceTask task = {.name = std::move(amounts->name),
                      .cpu_milli = amounts->cpu,
                      .memory_mib = amounts->memory_mib,
                      .gpus = static_cast<int>(*gpus)};
    if (task.gpus > 0) {
      if (*milli == 0) return Malformed(row.line(), "num_gpu without gpu_milli");
      if (task.gpus > 1 && *milli != kMilliPerGpu) {
        return Malformed(row.line(),
                         absl::StrFormat("%d GPUs of %d milli: several GPUs are whole ones, of %d",
                                         task.gpus, *milli, kMilliPerGpu));
      }
      task.gpu_milli = *milli;
      if (columns[5] != std::string_view::npos) {
        task.gpu_models = std::string(row.fields()[columns[5]]);
      }
    }
    tasks.push_back(std::move(task));
    return absl::OkStatus();
  };
  const absl::Status status =
      ForEachRow(csv, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"}, 1,
                 kTraceTasksMax, read);
  if (!status.ok()) return status;
  return tasks;
}

}  // namespace berth::simulator

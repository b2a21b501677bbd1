#include "simulator/berth_trace.h"

#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "placement/fleet/node.h"
#include "simulator/csv_rows.h"

namespace berth::simulator {
namespace {

using placement::GpuNeed;

constexpr double kSecondsMax = 1e12;

// "22587|22587", or nothing where there is no GPU.
absl::StatusOr<std::vector<int32_t>> DeviceMemory(const Row& row, size_t column) {
  std::vector<int32_t> devices;
  const std::string_view field = row.fields()[column];
  if (field.empty()) return devices;
  for (const auto& part : absl::StrSplit(std::string(field), '|')) {
    int32_t mib = 0;
    if (!absl::SimpleAtoi(part, &mib) || mib < 0) {
      return Malformed(
          row.line(), absl::StrFormat("gpu_memory_mib is '%s', not the MiB of each GPU joined by |",
                                      field.substr(0, 40)));
    }
    devices.push_back(mib);
  }
  if (devices.size() > static_cast<size_t>(placement::kDevicesMax)) {
    return Malformed(row.line(), absl::StrFormat("%d GPUs; a node has at most %d", devices.size(),
                                                 placement::kDevicesMax));
  }
  return devices;
}

absl::StatusOr<double> Seconds(const Row& row, size_t column, std::string_view name) {
  double seconds = 0;
  const std::string_view field = row.fields()[column];
  if (!absl::SimpleAtod(std::string(field), &seconds) || !(seconds >= 0) || seconds > kSecondsMax) {
    return Malformed(row.line(), absl::StrFormat("%s is '%s', not seconds since 1970", name,
                                                 field.substr(0, 40)));
  }
  return seconds;
}

absl::StatusOr<GpuNeed> NeedOf(const Row& row, size_t column) {
  const std::string_view field = row.fields()[column];
  if (field == "none") return GpuNeed::kNone;
  if (field == "shared") return GpuNeed::kShared;
  if (field == "dedicated") return GpuNeed::kWhole;
  if (field == "all") return GpuNeed::kAll;
  return Malformed(
      row.line(),
      absl::StrFormat("gpu_kind is '%s', not none, shared, dedicated or all", field.substr(0, 40)));
}

absl::Status CheckGpus(const Row& row, const TraceTask& task) {
  const bool none = *task.need == GpuNeed::kNone;
  const bool shared = *task.need == GpuNeed::kShared;
  if (none ? task.gpus != 0 : shared ? task.gpus != 1 : task.gpus < 1) {
    return Malformed(row.line(),
                     absl::StrFormat("%d GPUs do not go with that gpu_kind", task.gpus));
  }
  if (shared ? task.gpu_milli < 1 : task.gpu_milli != 0) {
    return Malformed(row.line(),
                     "gpu_memory_mib is for tasks that share a GPU, and for all of them");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsBerthTrace(std::string_view csv) { return HasColumn(csv, "gpu_memory_mib"); }

absl::StatusOr<std::vector<TraceNode>> ReadBerthNodes(std::string_view csv) {
  std::vector<TraceNode> nodes;
  const auto read = [&](const Row& row, const std::vector<size_t>& columns) -> absl::Status {
    absl::StatusOr<Amounts> amounts = ReadAmounts(row, columns);
    if (!amounts.ok()) return amounts.status();
    absl::StatusOr<std::vector<int32_t>> devices = DeviceMemory(row, columns[3]);
    if (!devices.ok()) return devices.status();
    const std::string_view sharing = row.fields()[columns[5]];
    if (sharing != "yes" && sharing != "no") {
      return Malformed(
          row.line(), absl::StrFormat("gpu_sharing is '%s', not yes or no", sharing.substr(0, 40)));
    }
    TraceNode& node = nodes.emplace_back(TraceNode{.name = std::move(amounts->name),
                                                   .cpu_milli = amounts->cpu,
                                                   .memory_mib = amounts->memory_mib,
                                                   .gpus = static_cast<int>(devices->size()),
                                                   .model = std::string(row.fields()[columns[4]]),
                                                   .device_mib = *std::move(devices)});
    for (int32_t& mib : node.device_mib) {
      node.gpu_mib += mib;
      if (sharing == "no") mib = 0;
    }
    return absl::OkStatus();
  };
  const absl::Status status = ForEachRow(
      csv, {"name", "cpu_units", "memory_mib", "gpu_memory_mib", "gpu_model", "gpu_sharing"}, 0,
      kTraceNodesMax, read);
  if (!status.ok()) return status;
  return nodes;
}

absl::StatusOr<std::vector<TraceTask>> ReadBerthTasks(std::string_view csv) {
  std::vector<TraceTask> tasks;
  const auto read = [&](const Row& row, const std::vector<size_t>& columns) -> absl::Status {
    absl::StatusOr<Amounts> amounts = ReadAmounts(row, columns);
    if (!amounts.ok()) return amounts.status();
    const absl::StatusOr<double> arrived_at = Seconds(row, columns[3], "arrived_at");
    if (!arrived_at.ok()) return arrived_at.status();
    const absl::StatusOr<GpuNeed> need = NeedOf(row, columns[5]);
    if (!need.ok()) return need.status();
    const absl::StatusOr<int64_t> gpus = row.Integer(columns[6], placement::kDevicesMax);
    if (!gpus.ok()) return gpus.status();
    const absl::StatusOr<int64_t> mib =
        row.Integer(columns[7], std::numeric_limits<int32_t>::max());
    if (!mib.ok()) return mib.status();
    TraceTask task{.name = std::move(amounts->name),
                   .cpu_milli = amounts->cpu,
                   .memory_mib = amounts->memory_mib,
                   .gpus = static_cast<int>(*gpus),
                   .gpu_milli = *mib,
                   .need = *need,
                   .arrived_at = *arrived_at};
    if (!row.fields()[columns[4]].empty()) {
      const absl::StatusOr<double> ended_at = Seconds(row, columns[4], "ended_at");
      if (!ended_at.ok()) return ended_at.status();
      task.ended_at = *ended_at;
    }
    if (absl::Status status = CheckGpus(row, task); !status.ok()) return status;
    tasks.push_back(std::move(task));
    return absl::OkStatus();
  };
  const absl::Status status = ForEachRow(csv,
                                         {"name", "cpu_units", "memory_mib", "arrived_at",
                                          "ended_at", "gpu_kind", "gpus", "gpu_memory_mib"},
                                         0, kTraceTasksMax, read);
  if (!status.ok()) return status;
  return tasks;
}

}  // namespace berth::simulator

// The CSV of Berth's own traces, which `berth export` writes from a live server and `berth
// simulate` reads. docs/placement.md has the columns. Text in, values out, as openb.h.
//
//   nodes: name, cpu_units, memory_mib, gpu_memory_mib, gpu_model, gpu_sharing
//   tasks: name, arrived_at, ended_at, cpu_units, memory_mib, gpu_kind, gpus, gpu_memory_mib
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "simulator/openb.h"

namespace berth::simulator {

inline constexpr char kBerthNodeColumns[] =
    "name,cpu_units,memory_mib,gpu_memory_mib,gpu_model,gpu_sharing";
inline constexpr char kBerthTaskColumns[] =
    "name,arrived_at,ended_at,cpu_units,memory_mib,gpu_kind,gpus,gpu_memory_mib";

// By its columns: openb's have no gpu_memory_mib.
bool IsBerthTrace(std::string_view csv);

absl::StatusOr<std::vector<TraceNode>> ReadBerthNodes(std::string_view csv);
absl::StatusOr<std::vector<TraceTask>> ReadBerthTasks(std::string_view csv);

}  // namespace berth::simulator

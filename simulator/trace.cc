#include "simulator/trace.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace berth::simulator {
namespace {

using placement::GpuNeed;
using placement::TaskShape;

// Fewer tasks may be on a node of the published experiment than this.
constexpr int32_t kTasksPerNodeMax = 1001;

// Models by number, in the order they are met.
class Models {
 public:
  int NumberOf(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<int>(numbers_.size())).first->second;
  }
  // The ones that are joined by '|'. One that no node has is a model too.
  uint64_t SetOf(const std::string& joined) {
    if (joined.empty()) return placement::kAnyModel;
    uint64_t set = 0;
    for (const auto& name : absl::StrSplit(joined, '|')) {
      const int number = NumberOf(std::string(name));
      if (number < placement::kModelsMax) set |= uint64_t{1} << number;
    }
    return set;
  }
  size_t size() const { return numbers_.size(); }

 private:
  absl::flat_hash_map<std::string, int> numbers_ = {};
};

TaskShape ShapeOf(const TraceTask& task, Models& models) {
  TaskShape shape = {.cpu = task.cpu_milli, .memory = task.memory_mib};
  if (task.gpus == 0) return shape;
  shape.models = models.SetOf(task.gpu_models);
  const bool shares =
      task.need ? *task.need == GpuNeed::kShared : task.gpus == 1 && task.gpu_milli < kMilliPerGpu;
  if (shares) {
    shape.gpu = GpuNeed::kShared;
    shape.units = static_cast<int32_t>(task.gpu_milli);
  } else {
    shape.gpu = task.need.value_or(GpuNeed::kWhole);
    shape.devices = task.gpus;
  }
  return shape;
}

// By count and, among equals, by what they ask for, the most first: the published order.
std::vector<placement::CountedShape> CountShapes(const Trace& trace) {
  using Key = std::tuple<int64_t, int64_t, int, std::string>;
  std::map<Key, placement::CountedShape, std::greater<>> counts;
  for (size_t i = 0; i < trace.tasks.size(); ++i) {
    const TraceTask& task = trace.tasks[i];
    placement::CountedShape& counted =
        counts[{task.cpu_milli, task.gpu_milli, task.gpus, task.gpu_models}];
    counted.shape = trace.shapes[trace.shape_of_task[i]];
    ++counted.count;
  }
  std::vector<placement::CountedShape> shapes;
  for (auto& [key, counted] : counts) shapes.push_back(counted);
  return shapes;
}

// Whether the trace is one of Berth's own, all of it; then by arrival, and what a whole device
// counts.
absl::Status TakeUnits(Trace& trace) {
  const auto of_berth = std::count_if(trace.tasks.begin(), trace.tasks.end(),
                                      [](const TraceTask& task) { return task.need.has_value(); });
  int64_t gpus = 0;
  int64_t mib = 0;
  bool nodes_of_berth = false;
  for (const TraceNode& node : trace.nodes) {
    gpus += node.gpus;
    mib += node.gpu_mib;
    nodes_of_berth = nodes_of_berth || !node.device_mib.empty();
  }
  trace.timed = of_berth > 0;
  if (gpus > 0 && trace.timed != nodes_of_berth) {
    return absl::InvalidArgumentError(
        "nodes and tasks are of different formats: openb's and Berth's own do not go together");
  }
  if (!trace.timed) return absl::OkStatus();
  if (gpus > 0) trace.milli_per_gpu = std::max<int64_t>(1, mib / gpus);
  for (TraceTask& task : trace.tasks) {
    if (task.gpus > 0 && task.gpu_milli == 0) task.gpu_milli = trace.milli_per_gpu;
  }
  std::stable_sort(
      trace.tasks.begin(), trace.tasks.end(),
      [](const TraceTask& a, const TraceTask& b) { return a.arrived_at < b.arrived_at; });
  return absl::OkStatus();
}

}  // namespace

int64_t GpuMilli(const TaskShape& shape, int64_t milli_per_gpu) {
  return shape.gpu == GpuNeed::kShared ? shape.units : shape.devices * milli_per_gpu;
}

absl::StatusOr<Trace> PrepareTrace(std::vector<TraceNode> nodes, std::vector<TraceTask> tasks) {
  Trace trace;
  trace.nodes = std::move(nodes);
  trace.tasks = std::move(tasks);
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(trace.nodes.begin(), trace.nodes.end(), by_name);
  std::sort(trace.tasks.begin(), trace.tasks.end(), by_name);
  if (absl::Status status = TakeUnits(trace); !status.ok()) return status;

  Models models;
  for (const TraceNode& node : trace.nodes) {
    trace.resources.push_back(
        {.cpu = node.cpu_milli,
         .memory = node.memory_mib,
         .tasks_max = kTasksPerNodeMax,
         .model = models.NumberOf(node.model),
         .device_totals =
             trace.timed ? node.device_mib
                         : std::vector<int32_t>(node.gpus, static_cast<int32_t>(kMilliPerGpu))});
    trace.gpu_milli += trace.timed ? node.gpu_mib : node.gpus * kMilliPerGpu;
    trace.gpus += node.gpus;
  }
  const size_t models_there = models.size();
  const uint64_t there = models_there < placement::kModelsMax ? (uint64_t{1} << models_there) - 1
                                                              : placement::kAnyModel;
  absl::flat_hash_map<TaskShape, int32_t> numbers;
  for (const TraceTask& task : trace.tasks) {
    const TaskShape shape = ShapeOf(task, models);
    if ((shape.models & there) == 0) trace.models_missing.insert(task.gpu_models);
    const auto [known, added] =
        numbers.try_emplace(shape, static_cast<int32_t>(trace.shapes.size()));
    if (added) trace.shapes.push_back(shape);
    trace.shape_of_task.push_back(known->second);
    trace.gpu_milli_asked += GpuMilli(shape, trace.milli_per_gpu);
  }
  if (models.size() > placement::kModelsMax) {
    return absl::InvalidArgumentError(absl::StrFormat("%d GPU models; %d can be told apart",
                                                      models.size(), placement::kModelsMax));
  }
  if (trace.gpu_milli == 0) return absl::InvalidArgumentError("no node has a GPU");
  if (trace.gpu_milli_asked == 0) return absl::InvalidArgumentError("no task asks for a GPU");
  trace.counted_shapes = CountShapes(trace);
  trace.mix = placement::TaskMix(trace.counted_shapes);
  return trace;
}

}  // namespace berth::simulator

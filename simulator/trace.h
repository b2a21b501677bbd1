// A trace made ready for runs: sorted, its shapes numbered, its task mix taken. Made once, then
// shared by any number of runs on any threads; never changes.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/fleet/fleet.h"
#include "placement/fleet/task_mix.h"
#include "simulator/openb.h"

namespace berth::simulator {

// Units: CPU in 1/1000 of a core, memory in MiB, devices in 1/1000: a sharing task asks for its
// gpu_milli of one device, others for whole ones. A trace of Berth's own (berth_trace.h) has CPU
// units and MiB of GPU memory instead, and a whole device counts as much as the mean device has.
struct Trace {
  std::vector<TraceNode> nodes = {};                         // by name
  std::vector<placement::NodeResources> resources = {};      // of each node
  std::vector<TraceTask> tasks = {};                         // by name; timed: by arrival
  std::vector<int32_t> shape_of_task = {};                   // of each task, in shapes
  std::vector<placement::TaskShape> shapes = {};             // the distinct ones
  std::vector<placement::CountedShape> counted_shapes = {};  // of all tasks, as the mix has them
  placement::TaskMix mix = {};                               // of all tasks
  int64_t gpu_milli = 0;                                     // the devices' capacity
  int64_t gpu_milli_asked = 0;                               // by all tasks
  int64_t gpus = 0;
  int64_t milli_per_gpu = kMilliPerGpu;
  bool timed = false;  // tasks arrive in their order, by no seed
  // What tasks want of models where no node has any of them: nowhere can they be placed.
  std::set<std::string> models_missing = {};
};

// GPU milli that a task of this shape holds.
int64_t GpuMilli(const placement::TaskShape& shape, int64_t milli_per_gpu = kMilliPerGpu);

// An error where it makes no sense to run: no GPU, no task that asks for one, more models than a
// fleet can tell apart.
absl::StatusOr<Trace> PrepareTrace(std::vector<TraceNode> nodes, std::vector<TraceTask> tasks);

}  // namespace berth::simulator

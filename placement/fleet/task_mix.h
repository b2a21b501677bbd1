// What tasks are typically asked for: the mix that fragmentation is measured against.
//
// From a trace's distribution, or learned from the tasks that arrived. A typical task has no
// memory: fragmentation is about devices, and CPU to use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/fleet/task_shape.h"

namespace berth::placement {

struct CountedShape {
  TaskShape shape = {};
  int64_t count = 0;
};

struct TypicalTask {
  TaskShape shape = {};
  int64_t count = 0;
  // count / covered(), as the published experiment rounds it: (count / all) / (covered / all).
  double share = 0;
};

class TaskMix {
 public:
  static constexpr double kCoverage = 0.95;

  TaskMix() = default;
  // The most frequent shapes that together cover kCoverage of all tasks, the most frequent first;
  // equally frequent ones stay in the order given.
  explicit TaskMix(std::vector<CountedShape> shapes);

  const std::vector<TypicalTask>& tasks() const { return tasks_; }
  int64_t covered() const { return covered_; }  // the sum of the counts

 private:
  std::vector<TypicalTask> tasks_ = {};
  int64_t covered_ = 0;
};

// At most so many of the mix's shapes, the most frequent.
TaskMix MostFrequent(TaskMix mix, size_t shapes_max);

// The mix of recent arrivals. Counts are halved whenever kWindow tasks have come, so that what was
// asked for long ago fades; a shape whose count falls to 0 is forgotten.
class ArrivalMix {
 public:
  static constexpr int64_t kWindow = 8192;

  void Add(const TaskShape& shape);
  TaskMix Typical() const;

 private:
  struct Count {
    int64_t count = 0;
    int64_t first_arrival = 0;  // among equally frequent shapes the one known longest goes first
  };

  void Halve();

  absl::flat_hash_map<TaskShape, Count> counts_ = {};
  int64_t arrivals_ = 0;
};

}  // namespace berth::placement

#include "placement/fleet/task_mix.h"

#include <algorithm>
#include <utility>

namespace berth::placement {

TaskMix::TaskMix(std::vector<CountedShape> shapes) {
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const CountedShape& a, const CountedShape& b) { return a.count > b.count; });
  int64_t all_tasks = 0;
  for (const CountedShape& counted : shapes) all_tasks += counted.count;
  const auto all = static_cast<double>(all_tasks);
  double coverage = 0;
  for (const CountedShape& counted : shapes) {
    if (coverage >= kCoverage) break;
    covered_ += counted.count;
    coverage = static_cast<double>(covered_) / all;
    tasks_.push_back({.shape = counted.shape, .count = counted.count});
  }
  for (TypicalTask& task : tasks_) {
    task.shape.memory = 0;
    task.share = static_cast<double>(task.count) / all / coverage;
  }
}

TaskMix MostFrequent(TaskMix mix, size_t shapes_max) {
  if (mix.tasks().size() <= shapes_max) return mix;
  std::vector<CountedShape> shapes;
  for (size_t i = 0; i < shapes_max; ++i) {
    shapes.push_back({.shape = mix.tasks()[i].shape, .count = mix.tasks()[i].count});
  }
  return TaskMix(std::move(shapes));
}

void ArrivalMix::Add(const TaskShape& shape) {
  TaskShape key = shape;
  key.memory = 0;
  Count& count = counts_.try_emplace(key, Count{.first_arrival = arrivals_}).first->second;
  ++count.count;
  if (++arrivals_ % kWindow == 0) Halve();
}

void ArrivalMix::Halve() {
  absl::erase_if(counts_, [](auto& entry) { return (entry.second.count /= 2) == 0; });
}

TaskMix ArrivalMix::Typical() const {
  std::vector<std::pair<int64_t, CountedShape>> known;
  for (const auto& [shape, count] : counts_) {
    known.push_back({count.first_arrival, {.shape = shape, .count = count.count}});
  }
  // The map's order is another in every process.
  std::sort(known.begin(), known.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<CountedShape> shapes;
  for (auto& [first_arrival, counted] : known) shapes.push_back(counted);
  return TaskMix(std::move(shapes));
}

}  // namespace berth::placement

#include "placement/fleet/worth/demand_classes.h"

#include <algorithm>
#include <iterator>

namespace berth::placement {
namespace {

// What merged classes have in common: units in the same sixteenth of a device, CPU in the same
// quarter of an octave.
struct Likeness {
  int32_t devices = 1;
  bool whole = false;
  int64_t sixteenth = 0;
  int octave = 0;
  int64_t quarter = 0;

  auto operator<=>(const Likeness&) const = default;
};

Likeness LikenessOf(const DemandClass& demand, int32_t smallest_device) {
  int octave = 0;
  while ((demand.cpu >> octave) > 7) ++octave;
  return {.devices = demand.devices,
          .whole = demand.whole,
          .sixteenth = int64_t{demand.units} * 16 / smallest_device,
          .octave = octave,
          .quarter = demand.cpu >> octave};
}

struct Merged {
  int64_t count = 0;
  int64_t units = 0;  // these two over all tasks
  int64_t cpu = 0;
};

// Classes of less demand than one part in `parts` are merged.
std::vector<DemandClass> MergeRare(const std::vector<DemandClass>& all, int64_t demand,
                                   int64_t parts, int32_t smallest_device) {
  std::vector<DemandClass> classes;
  std::map<Likeness, Merged> rare;
  for (const DemandClass& each : all) {
    if (DemandOf(each, smallest_device) * parts >= demand) {
      classes.push_back(each);
      continue;
    }
    Merged& merged = rare[LikenessOf(each, smallest_device)];
    merged.count += each.count;
    merged.units += each.count * each.units;
    merged.cpu += each.count * each.cpu;
  }
  for (const auto& [likeness, merged] : rare) {
    classes.push_back(
        {.devices = likeness.devices,
         .units = static_cast<int32_t>((merged.units + merged.count - 1) / merged.count),
         .whole = likeness.whole,
         .cpu = merged.cpu / merged.count,
         .count = merged.count});
  }
  return classes;
}

int64_t TotalDemand(const std::vector<DemandClass>& classes, int32_t smallest_device) {
  int64_t demand = 0;
  for (const DemandClass& each : classes) demand += DemandOf(each, smallest_device);
  return demand;
}

}  // namespace

int64_t DemandOf(const DemandClass& demand, int32_t smallest_device) {
  return demand.count * demand.devices * SizeOf(demand.units, smallest_device);
}

void KeepMostDemanded(std::vector<DemandClass>& classes, int32_t smallest_device, size_t count) {
  std::stable_sort(classes.begin(), classes.end(),
                   [smallest_device](const DemandClass& a, const DemandClass& b) {
                     return DemandOf(a, smallest_device) > DemandOf(b, smallest_device);
                   });
  if (classes.size() > count) classes.resize(count);
}

void DemandClasses::Learn(const TaskShape& shape, int64_t count, int32_t smallest_device) {
  if (shape.gpu == GpuNeed::kShared || shape.gpu == GpuNeed::kWhole) {
    const bool whole = shape.gpu == GpuNeed::kWhole;
    const Key key = {
        .devices = whole ? shape.devices : 1, .units = whole ? 0 : shape.units, .cpu = shape.cpu};
    counts_[key] += count;
    const int64_t size =
        whole ? key.devices * kWholeDeviceSize : SizeOf(shape.units, smallest_device);
    size_by_models_[shape.models] += count * size;
  }
  tasks_ += count;
  while (tasks_ >= kWindow) Halve();
}

void DemandClasses::Halve() {
  tasks_ /= 2;
  for (auto it = counts_.begin(); it != counts_.end();) {
    it = (it->second /= 2) > 0 ? std::next(it) : counts_.erase(it);
  }
  for (auto it = size_by_models_.begin(); it != size_by_models_.end();) {
    it = (it->second /= 2) > 0 ? std::next(it) : size_by_models_.erase(it);
  }
}

std::vector<DemandClass> DemandClasses::Pick(int32_t smallest_device) const {
  std::vector<DemandClass> all;
  for (const auto& [key, count] : counts_) {
    all.push_back({.devices = key.devices,
                   .units = key.units == 0 ? smallest_device : key.units,
                   .whole = key.units == 0,
                   .cpu = key.cpu,
                   .count = count});
  }
  if (all.empty()) all.push_back({.units = smallest_device, .whole = true, .count = 1});

  const int64_t demand = TotalDemand(all, smallest_device);
  std::vector<DemandClass> classes = all;
  KeepMostDemanded(classes, smallest_device, kClassesMax);
  if (TotalDemand(classes, smallest_device) * 10 < demand * kCoveredTenths) {
    for (int64_t parts = 4096; parts > 0; parts /= 2) {
      classes = MergeRare(all, demand, parts, smallest_device);
      if (classes.size() <= kClassesMax) break;
    }
    KeepMostDemanded(classes, smallest_device, kClassesMax);
  }
  std::stable_sort(classes.begin(), classes.end(), [](const DemandClass& a, const DemandClass& b) {
    return a.Order() < b.Order();
  });
  return classes;
}

}  // namespace berth::placement

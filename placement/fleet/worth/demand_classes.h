// What recent tasks with GPUs asked for, as few classes: what the prices of `worth` are made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "placement/fleet/task_shape.h"

namespace berth::placement {

// Sizes are in thousandths of the smallest device of the fleet, whatever its units.
inline constexpr int64_t kWholeDeviceSize = 1000;

// Tasks that ask for the same. Models are left out: model_rents.h.
struct DemandClass {
  int32_t devices = 1;
  int32_t units = 0;   // on each device
  bool whole = false;  // devices that nobody uses; `units` is then the smallest device
  int64_t cpu = 0;
  int64_t count = 0;  // of tasks

  auto Order() const { return std::tie(devices, units, whole, cpu); }
};

class DemandClasses {
 public:
  static constexpr int64_t kWindow = 65536;  // tasks until all counts are halved
  static constexpr int kClassesMax = 40;
  // The most frequent classes are taken as they are if they make up so much of the demand;
  // otherwise rare ones are merged with their likes.
  static constexpr int64_t kCoveredTenths = 9;

  // So many tasks of the shape. One that asks for all devices of a node tells nothing of a size,
  // and counts as one without.
  void Learn(const TaskShape& shape, int64_t count, int32_t smallest_device);

  // At most kClassesMax, in the order of DemandClass::Order. Before any task with a GPU came: one
  // whole device.
  std::vector<DemandClass> Pick(int32_t smallest_device) const;

  int64_t tasks() const { return tasks_; }  // learned, those without GPUs included
  // By the set of models that a task accepts: the devices asked for, as sizes.
  const std::map<uint64_t, int64_t>& size_by_models() const { return size_by_models_; }

 private:
  struct Key {
    int32_t devices = 1;
    int32_t units = 0;  // 0: whole devices
    int64_t cpu = 0;

    auto operator<=>(const Key&) const = default;
  };

  void Halve();

  std::map<Key, int64_t> counts_ = {};
  std::map<uint64_t, int64_t> size_by_models_ = {};
  int64_t tasks_ = 0;
};

inline int64_t SizeOf(int64_t units, int32_t smallest_device) {
  return units * kWholeDeviceSize / smallest_device;
}

// The size of the devices that its tasks asked for.
int64_t DemandOf(const DemandClass& demand, int32_t smallest_device);

// The `count` classes of the greatest demand, the greatest first.
void KeepMostDemanded(std::vector<DemandClass>& classes, int32_t smallest_device, size_t count);

}  // namespace berth::placement

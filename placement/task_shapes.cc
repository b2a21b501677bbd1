#include "placement/task_shapes.h"

#include <algorithm>

#include "placement/fleet/node.h"

namespace berth::placement {
namespace {

TaskShape Plain(int64_t cpu_units, int64_t memory_mib) {
  return {.cpu = std::min(cpu_units, kShapeCpuMax), .memory = memory_mib};
}

void Share(TaskShape& shape, int64_t memory_mib) {
  shape.gpu = GpuNeed::kShared;
  shape.units = static_cast<int32_t>(std::clamp<int64_t>(memory_mib, 1, kShapeUnitsMax));
  shape.models = uint64_t{1} << kSharingModel;
}

void TakeWhole(TaskShape& shape, int64_t gpus) {
  shape.gpu = GpuNeed::kWhole;
  shape.devices = static_cast<int32_t>(std::clamp<int64_t>(gpus, 1, kDevicesMax));
}

}  // namespace

TaskShape ShapeOf(const Demand& demand) {
  TaskShape shape = Plain(demand.cpu_units, demand.memory_mib);
  switch (demand.gpu.kind) {
    case GpuDemand::Kind::kNone:
      break;
    case GpuDemand::Kind::kDedicated:
      TakeWhole(shape, demand.gpu.count);
      break;
    case GpuDemand::Kind::kAll:
      shape.gpu = GpuNeed::kAll;
      break;
    case GpuDemand::Kind::kShared:
      Share(shape, demand.gpu.memory_mib);
      break;
  }
  return shape;
}

TaskShape ShapeOf(const Reservation& reservation) {
  TaskShape shape = Plain(reservation.cpu_units, reservation.memory_mib);
  switch (reservation.gpu_use) {
    case model::GpuUse::kIdle:
      break;
    case model::GpuUse::kDedicated:
      TakeWhole(shape, std::ssize(reservation.gpus));
      break;
    case model::GpuUse::kNvidiaMps:
      Share(shape, reservation.gpu_memory_mib);
      break;
  }
  return shape;
}

}  // namespace berth::placement

// A task as the compact engine sees it (fleet/task_shape.h): in MiB of GPU memory, CPU units, MiB.
// Inside placement/ only.
//
// Ports and attributes are left out: they decide whether a task fits, which is settled before a
// policy is asked.
#pragma once

#include "placement/demand.h"
#include "placement/fleet/task_shape.h"
#include "placement/inventory.h"

namespace berth::placement {

// The classes of instances that shapes accept (TaskShape::models).
inline constexpr int kSharingModel = 0;  // offers GPU sharing
inline constexpr int kWholeModel = 1;    // does not

// Amounts beyond these count as these, on both sides, so that no policy's arithmetic overflows.
inline constexpr int64_t kShapeCpuMax = int64_t{1} << 24;    // CPU units: 16,384 cores
inline constexpr int64_t kShapeUnitsMax = int64_t{1} << 26;  // MiB of one GPU: 64 TiB

TaskShape ShapeOf(const Demand& demand);
// Of a task with all GPUs of an instance: one with as many as it got.
TaskShape ShapeOf(const Reservation& reservation);

}  // namespace berth::placement

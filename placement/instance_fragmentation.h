// The fragmentation of one container instance, in MiB of GPU memory: fleet/fragmentation.h's
// measure, of an instance that registered and of its devices. Inside placement/ only.
//
// What counts as what: only what is left of registered devices whose memory is known counts. A
// task that shares a device finds one only where sharing is offered. What is left of a device that
// has no MPS client to give away any more is of no use to anyone.
#pragma once

#include <vector>

#include "placement/fleet/task_mix.h"
#include "placement/fragmentation_figures.h"
#include "placement/instance.h"

namespace berth::placement {

// Nothing is fragmented where no task is typical, or the instance is not eligible; what is left
// there is not idle either: nobody can have it.
FragmentationFigures FiguresOf(const Instance& instance, const TaskMix& mix);

// The same for each registered device, in registered order; their sum is the instance's, but for
// rounding.
std::vector<FragmentationFigures> FiguresByDevice(const Instance& instance, const TaskMix& mix);

}  // namespace berth::placement

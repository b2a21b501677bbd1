// How much GPU memory is idle, and how much of that a typical task could not use: of a device, an
// instance or a cluster.
#pragma once

#include <cstdint>

namespace berth::placement {

// Thousandths of a MiB for what is a mean over typical tasks: integers, so that a sum that is kept
// while its parts change is the sum taken afresh.
struct FragmentationFigures {
  int64_t fragmented_milli_mib = 0;
  int64_t idle_mib = 0;

  double fragmented_mib() const { return static_cast<double>(fragmented_milli_mib) / 1000; }
  // 0 to 1; 0 where nothing is idle.
  double ratio() const {
    return idle_mib == 0 ? 0 : fragmented_mib() / static_cast<double>(idle_mib);
  }
  FragmentationFigures& operator+=(const FragmentationFigures& other) {
    fragmented_milli_mib += other.fragmented_milli_mib;
    idle_mib += other.idle_mib;
    return *this;
  }
  FragmentationFigures& operator-=(const FragmentationFigures& other) {
    fragmented_milli_mib -= other.fragmented_milli_mib;
    idle_mib -= other.idle_mib;
    return *this;
  }
  bool operator==(const FragmentationFigures&) const = default;
};

}  // namespace berth::placement

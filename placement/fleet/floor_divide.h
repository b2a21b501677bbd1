// Division that rounds down, also below 0.
#pragma once

#include <cstdint>

namespace berth::placement {

// Requires: divisor > 0.
inline int64_t FloorDivide(int64_t dividend, int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

}  // namespace berth::placement

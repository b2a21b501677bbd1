// The one source of randomness in the core: seeded once, forked per part, never global.
//
// The engine is std::mt19937_64, whose output the standard fixes; the distributions of the standard
// library are not fixed, so Below() is ours. Not for secrets.
#pragma once

#include <cstdint>
#include <random>

#include "model/check.h"

namespace berth::model {

class Rng {
 public:
  explicit Rng(uint64_t seed) : engine_(seed) {}

  uint64_t Next() { return engine_(); }

  // Uniform in [0, bound). Requires: bound > 0.
  uint64_t Below(uint64_t bound) {
    BERTH_CHECK(bound > 0);
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    while (true) {
      const uint64_t value = engine_();
      if (value < limit) return value % bound;
    }
  }

  Rng Fork() { return Rng(engine_()); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace berth::model

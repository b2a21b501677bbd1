// Growing waits with jitter. No clock, no sleep: it only says how long the next one is.
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "model/rng.h"

namespace berth::agent {

class Backoff {
 public:
  struct Shape {
    absl::Duration first = absl::Milliseconds(250);
    double factor = 1.5;
    absl::Duration cap = absl::Minutes(2);
  };

  Backoff(Shape shape, model::Rng rng) : shape_(shape), rng_(std::move(rng)), next_(shape.first) {}

  // The next wait: longer each time, up to the cap, plus 0 to 20 % so that many do not come at
  // once.
  absl::Duration Next() {
    const absl::Duration base = next_;
    next_ = std::min(shape_.cap, next_ * shape_.factor);
    return base * (1.0 + static_cast<double>(rng_.Below(201)) / 1000.0);
  }

  void Reset() { next_ = shape_.first; }

 private:
  Shape shape_;
  model::Rng rng_;
  absl::Duration next_;
};

}  // namespace berth::agent

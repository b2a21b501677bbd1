// The random stream of Go's math/rand, which the published experiment on the openb traces draws its
// arrivals from: the same for every seed, so that our runs see the same tasks in the same order.
//
// An additive lagged Fibonacci generator: u(n) = u(n - 607) + u(n - 273) modulo 2^64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth::simulator {

class GoRandom {
 public:
  explicit GoRandom(int64_t seed);

  uint64_t Next();  // Uint64
  // Both require: 0 < n < 2^31. They draw differently: rand.Intn, and what rand.Shuffle uses.
  int64_t Intn(int64_t n);
  int64_t IntnForShuffle(int64_t n);

 private:
  static constexpr size_t kLength = 607;
  static constexpr size_t kTap = 273;

  std::array<uint64_t, kLength> state_ = {};
  size_t tap_ = 0;
  size_t feed_ = kLength - kTap;
};

}  // namespace berth::simulator

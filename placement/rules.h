// What a task wants of where it is placed, beyond room: constraints, which bind, and strategies,
// which order what is left. ecs-api.md 8.2, 8.3.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace berth::placement {

class Query;  // query.h

inline constexpr size_t kConstraintsMax = 10;  // a task's: its definition's and its request's
inline constexpr size_t kStrategiesMax = 5;

// kSpread, over kInstanceId or kAttribute: where fewest tasks of the group are, on all instances of
// the same value; those without the attribute share one. kBinpack, of kCpu or kMemory: where least
// remains; of kGpuMemory, which ECS has not: for a task that shares a GPU, where least remains on
// the GPU that it would get; for one with whole GPUs, where fewest are IDLE; for others no matter.
// kRandom: one of those left.
struct Strategy {
  enum class Kind { kRandom, kSpread, kBinpack };
  enum class Field { kNone, kInstanceId, kAttribute, kCpu, kMemory, kGpuMemory };
  Kind kind = Kind::kRandom;
  Field field = Field::kNone;  // kNone for kRandom alone
  std::string attribute = {};  // kAttribute: its name
};

// A task of its group can be on an instance before it, be it RUNNING, PENDING or on its way to
// STOPPED.
struct Rules {
  std::vector<std::shared_ptr<const Query>> member_of = {};  // all must hold
  bool distinct_instance = false;         // no other task of the group on the instance
  std::vector<Strategy> strategies = {};  // each decides among what the one before left equal

  bool empty() const { return member_of.empty() && !distinct_instance && strategies.empty(); }
};

}  // namespace berth::placement

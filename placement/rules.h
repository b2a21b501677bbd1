// What a task wants of where it is placed, beyond room: constraints, which bind, and strategies,
// which order what is left. ecs-api.md 8.2, 8.3.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace berth::placement {

class Query;  // query.h

struct Strategy {
  enum class Kind { kRandom, kSpread, kBinpack };
  enum class Field { kNone, kInstanceId, kAttribute, kCpu, kMemory, kGpuMemory };
  Kind kind = Kind::kRandom;
  Field field = Field::kNone;  // kNone for kRandom alone
  std::string attribute = {};  // kAttribute: its name
};

struct Rules {
  std::vector<std::shared_ptr<const Query>> member_of = {};  // all must hold
  bool distinct_instance = false;         // no other task of the group on the instance
  std::vector<Strategy> strategies = {};  // each decides among what the one before left equal

  bool empty() const { return member_of.empty() && !distinct_instance && strategies.empty(); }
};

}  // namespace berth::placement

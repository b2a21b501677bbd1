// Machines in zones, and tasks with rules on them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "placement/query.h"

namespace berth::placement {

inline Machine In(std::string id, std::string zone) {
  return {.id = std::move(id), .values = {{"zone", std::move(zone)}}};
}

inline Rules MemberOf(const std::vector<std::string>& expressions) {
  Rules rules;
  for (const std::string& text : expressions) {
    const auto query = Query::Compile(text);
    REQUIRE(query.ok());
    rules.member_of.push_back(*query);
  }
  return rules;
}

inline Strategy Spread(std::string attribute) {
  return {.kind = Strategy::Kind::kSpread,
          .field = Strategy::Field::kAttribute,
          .attribute = std::move(attribute)};
}
inline Strategy SpreadOverInstances() {
  return {.kind = Strategy::Kind::kSpread, .field = Strategy::Field::kInstanceId};
}
inline Strategy Binpack(Strategy::Field field) {
  return {.kind = Strategy::Kind::kBinpack, .field = field};
}
inline Strategy Random() { return {.kind = Strategy::Kind::kRandom}; }

class RuledWorld {
 public:
  explicit RuledWorld(const std::vector<Machine>& machines) {
    for (const Machine& machine : machines) {
      inventory.Put(Record(machine));
      inventory.SetEligible({machine.id}, true);
    }
  }

  // Where the task went, as Where() says it. By default it is a small one of group web.
  std::string Run(const std::string& name, const Rules& rules, const std::string& group = "web",
                  const Demand& demand = Plain(64, 64), uint64_t seed = 0) {
    const auto placement = Place(demand, inventory, rules, {.group = group, .seed = seed});
    if (placement) {
      inventory.Reserve(placement->instance, placement->reservation);
      tasks_[name] = *placement;
    }
    return Where(placement);
  }
  void Stop(const std::string& name) {
    const auto task = tasks_.find(name);
    REQUIRE(task != tasks_.end());
    inventory.Release(task->second.instance, task->second.reservation);
    tasks_.erase(task);
  }

  Inventory inventory;

 private:
  std::map<std::string, Placement> tasks_;
};

}  // namespace berth::placement

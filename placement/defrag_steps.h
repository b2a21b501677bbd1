// What both kinds of defrag plans are made of. Inside placement/ only.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/defrag.h"
#include "placement/instance.h"
#include "placement/trial.h"

namespace berth::placement {

// How much more may be looked at.
class Looks {
 public:
  void Take(int64_t looks) { left_ -= looks; }
  bool Spent() const { return left_ <= 0; }

 private:
  int64_t left_ = kDefragLooksMax;
};

// A task's move to a place.
struct Relocation {
  Holder holder = {};
  model::InstanceId from = {};
  Placement to = {};
};
DefragMove MoveOf(const Relocation& relocation);

// The smallest first; equal ones next to each other, at most so many of them. Cut at
// kDefragTasksMax: then `limited` says so.
struct Movable {
  std::vector<Holder> holders = {};
  bool limited = false;
};
Movable Arrange(std::vector<Holder> holders, int64_t equal_max);
// Whether moving the one is as good as moving the other.
bool AreAlike(const Holder& a, const Holder& b);
// The same but for the GPUs that they have: they may go to the same places.
bool AreAlikeElsewhere(const Holder& a, const Holder& b);

// Whether a task of that demand, rules and group may be on the instance as things stand.
bool FitsOn(const model::InstanceId& instance, const Demand& demand, const Rules& rules,
            const std::string& group, const Inventory& inventory);
// Whether the task can go to that very place.
bool CanTake(const Holder& holder, const Placement& to, const Inventory& inventory);

// The task leaves its place and takes the new one; false, and nothing has changed, where that is
// not free at its turn or its rules forbid it.
bool Move(const Relocation& relocation, const Inventory& inventory, Trial& trial);

}  // namespace berth::placement

// What is taken from an inventory, and put on it, for trial: all of it is undone, the latest first,
// when the trial ends. Inside placement/ only.
#pragma once

#include <cstddef>
#include <vector>

#include "model/check.h"
#include "placement/inventory.h"

namespace berth::placement {

class Trial {
 public:
  // The inventory outlives it, and nobody else changes it meanwhile.
  explicit Trial(Inventory& inventory) : inventory_(inventory) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() { BackTo(0); }

  // Requires: as Inventory's functions of these names.
  void Reserve(const model::InstanceId& instance, const Reservation& reservation) {
    inventory_.Reserve(instance, reservation);
    steps_.push_back({.reserved = true, .instance = instance, .reservation = reservation});
  }
  void Release(const model::InstanceId& instance, const Reservation& reservation) {
    inventory_.Release(instance, reservation);
    steps_.push_back({.reserved = false, .instance = instance, .reservation = reservation});
  }

  // How many steps there were; to go back to.
  size_t mark() const { return steps_.size(); }
  void BackTo(size_t mark) {
    for (; steps_.size() > mark; steps_.pop_back()) {
      const Step& step = steps_.back();
      if (step.reserved) {
        inventory_.Release(step.instance, step.reservation);
      } else {
        // Not Reserve: the machine may have registered with less since it was placed.
        BERTH_CHECK(inventory_.Restore(step.instance, step.reservation));
      }
    }
  }

 private:
  struct Step {
    bool reserved = false;
    model::InstanceId instance = {};
    Reservation reservation = {};
  };

  Inventory& inventory_;
  std::vector<Step> steps_ = {};
};

}  // namespace berth::placement

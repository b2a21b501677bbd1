// What a demand requires of an instance's class, checked once per class. Inside placement/ only.
#pragma once

#include "placement/capability_class.h"
#include "placement/demand.h"

namespace berth::placement {

// What a class must have, as numbers. Attributes that are not capabilities differ from instance to
// instance and are left to the candidates.
struct RequiredCapabilities {
  CapabilityNumbers numbers = {};
  bool some_missing = false;  // no class has it, so nothing fits
  bool others = false;        // the candidates have to be asked
};

RequiredCapabilities RequiredOf(const Demand& demand, const CapabilityClasses& classes);

}  // namespace berth::placement

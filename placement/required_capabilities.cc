#include "placement/required_capabilities.h"

#include <string>

namespace berth::placement {

RequiredCapabilities RequiredOf(const Demand& demand, const CapabilityClasses& classes) {
  RequiredCapabilities required;
  const auto require = [&](const std::string& capability) {
    const int32_t number = classes.NumberOf(capability);
    required.some_missing |= number < 0;
    required.numbers.push_back(number);
  };
  for (const std::string& name : demand.required_attributes) {
    if (IsCapability(name)) {
      require(name);
    } else {
      required.others = true;
    }
  }
  if (demand.gpu.kind == GpuDemand::Kind::kShared) require(GpuSharingCapability());
  return required;
}

}  // namespace berth::placement

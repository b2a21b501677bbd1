#include "model/container_instance.h"

#include <algorithm>

namespace berth::model {

const Attribute* FindAttribute(const ContainerInstance& instance, std::string_view name) {
  const auto found = std::ranges::lower_bound(
      instance.attributes, name, {}, [](const Attribute& a) { return std::string_view(a.name); });
  if (found == instance.attributes.end() || found->name != name) return nullptr;
  return &*found;
}

bool OffersGpuSharing(const ContainerInstance& instance) {
  const std::vector<Gpu>& gpus = instance.resources.gpus;
  if (gpus.empty()) return false;
  if (FindAttribute(instance, kGpuSharingCapability) == nullptr) return false;
  return std::ranges::all_of(gpus, [](const Gpu& gpu) { return gpu.memory_mib > 0; });
}

}  // namespace berth::model

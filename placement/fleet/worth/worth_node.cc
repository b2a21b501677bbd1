#include "placement/fleet/worth/worth_node.h"

namespace berth::placement {

void DeviceKinds::Add(int32_t total) {
  if (total < 1 || size() == kDeviceKindsMax) return;
  const auto place = std::lower_bound(totals_.begin(), totals_.end(), total);
  if (place == totals_.end() || *place != total) totals_.insert(place, total);
}

int DeviceKinds::KindOf(int32_t total) const {
  const auto above = std::upper_bound(totals_.begin(), totals_.end(), total);
  return std::max(0, static_cast<int>(above - totals_.begin()) - 1);
}

WorthNode ToWorthNode(const NodeView& view) {
  WorthNode node = {.present = view.node.present && view.node.eligible,
                    .model = view.node.model,
                    .devices = view.node.devices,
                    .cpu_left = std::max<int64_t>(0, view.node.cpu_left),
                    .cpu_total = view.node.cpu_total};
  for (int i = 0; i < node.devices; ++i) {
    const DeviceState& device = view.devices[i];
    node.totals[i] = device.total;
    node.left[i] = std::max(0, device.left);
    if (device.IsIdle()) node.idle |= uint32_t{1} << i;
  }
  return node;
}

}  // namespace berth::placement

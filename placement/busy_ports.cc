#include "placement/busy_ports.h"

#include <bit>

#include "model/check.h"

namespace berth::placement {

std::vector<int32_t> BusyPorts::Use(const HostPort& port, int32_t slot) {
  Users& users = ports_[port];
  BERTH_CHECK(users.slots.insert(slot).second);
  const bool wants_bit =
      users.bit == 0 && static_cast<int64_t>(users.slots.size()) >= kBusyFromInstances;
  if (!wants_bit || bits_taken_ == ~uint64_t{0}) return {};

  users.bit = uint64_t{1} << std::countr_one(bits_taken_);
  bits_taken_ |= users.bit;
  return {users.slots.begin(), users.slots.end()};
}

std::vector<int32_t> BusyPorts::Leave(const HostPort& port, int32_t slot) {
  const auto found = ports_.find(port);
  BERTH_CHECK(found != ports_.end() && found->second.slots.erase(slot) == 1);
  Users& users = found->second;
  std::vector<int32_t> changed;
  if (users.bit != 0 && static_cast<int64_t>(users.slots.size()) < kBusyUntilInstances) {
    bits_taken_ &= ~users.bit;
    users.bit = 0;
    changed.assign(users.slots.begin(), users.slots.end());
  }
  if (users.slots.empty()) ports_.erase(found);
  return changed;
}

uint64_t BusyPorts::BitOf(const HostPort& port) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? 0 : found->second.bit;
}

int64_t BusyPorts::UsersOf(const HostPort& port) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? 0 : static_cast<int64_t>(found->second.slots.size());
}

}  // namespace berth::placement

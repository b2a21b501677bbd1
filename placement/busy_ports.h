// Which host ports many instances have in use, as bits that the indexes can prune by.
//
// A service with a static host port takes that port on one instance after another, and those are
// the very instances that a best fit looks at first. A port that enough instances use therefore
// gets a bit of its own, and a search passes over whole subtrees in which every entry has it. The
// other ports are looked up on the candidates; by the same token few candidates have them.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "model/task_definition.h"

namespace berth::placement {

// How many ports have a bit at a time. Where more are busy, the latecomers do without.
inline constexpr int kBusyPortsMax = 64;
// A port gets a bit when so many instances use it, and gives it back below the second number; the
// distance keeps it from doing so in turns.
inline constexpr int64_t kBusyFromInstances = 16;
inline constexpr int64_t kBusyUntilInstances = 4;

struct HostPort {
  model::Protocol protocol = model::Protocol::kTcp;
  int64_t port = 0;

  auto operator<=>(const HostPort&) const = default;

  template <class H>
  friend H AbslHashValue(H state, const HostPort& host_port) {
    return H::combine(std::move(state), host_port.protocol, host_port.port);
  }
};

class BusyPorts {
 public:
  // Both return the other instances, by slot, whose bits have changed because the port gained or
  // lost its bit; the bits of `slot` itself may change in any case.
  std::vector<int32_t> Use(const HostPort& port, int32_t slot);    // Requires: not in use there.
  std::vector<int32_t> Leave(const HostPort& port, int32_t slot);  // Requires: in use there.

  // The port's bit, or 0 when it has none.
  uint64_t BitOf(const HostPort& port) const;
  int64_t UsersOf(const HostPort& port) const;

 private:
  struct Users {
    absl::btree_set<int32_t> slots = {};
    uint64_t bit = 0;
  };

  absl::flat_hash_map<HostPort, Users> ports_;
  uint64_t bits_taken_ = 0;
};

}  // namespace berth::placement

#pragma once

#include <atomic>
#include <cstddef>

namespace berth::api {

// What all sessions of a server count together.
struct SessionTotals {
  std::atomic<size_t> channels = 0;            // connections that became websockets
  std::atomic<size_t> large_bodies_bytes = 0;  // HttpLimits::large_bodies_bytes_max
};

}  // namespace berth::api

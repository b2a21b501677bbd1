// The control plane as one object: store, cluster loop, HTTP listener, agents' channel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/limits.h"
#include "api/settings.h"
#include "storage/store.h"

namespace berth::api {

class Server {
 public:
  // Loads the store, makes the `default` cluster on first start, listens. The store outlives it.
  // Refuses an address that is not loopback where callers do not sign, or would do it in the clear.
  // With signatures the first start makes an admin's key, and DIR/admin-credentials with it.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerSettings settings,
                                                       storage::Store& store,
                                                       const ServerLimits& limits = {});
  // As Stop with no grace.
  virtual ~Server() = default;

  virtual uint16_t port() const = 0;
  virtual std::string endpoint() const = 0;  // "http://127.0.0.1:8080"

  // Stops accepting, finishes or refuses what is under way within `grace`, commits, closes.
  virtual void Stop(absl::Duration grace) = 0;
};

}  // namespace berth::api

// Who makes a request: its signature checked against the key ring, or, with --auth none, whoever
// reaches the listener. Thread-safe.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "api/access/key_ring.h"
#include "api/caller.h"
#include "api/http_handler.h"
#include "model/arn.h"

namespace berth::api {

class Authenticator {
 public:
  // `ring`: null with --auth none; outlives it.
  Authenticator(
      KeyRing* ring, model::ArnScope scope,
      std::function<absl::Time()> clock = [] { return absl::Now(); })
      : ring_(ring), scope_(std::move(scope)), clock_(std::move(clock)) {}

  // The caller, or the error that its client gets (ecs-api.md 1.4).
  absl::StatusOr<Caller> Check(const HttpRequest& request) const;

  bool checks_signatures() const { return ring_ != nullptr; }
  // Whether the caller's key has not been revoked meanwhile.
  bool IsStillGood(const Caller& caller) const;
  // The key id that the request claims, for the audit log of those that are refused. Untrusted.
  static std::string ClaimedKey(const HttpRequest& request);

 private:
  KeyRing* const ring_;
  const model::ArnScope scope_;
  const std::function<absl::Time()> clock_;
};

std::string UserArn(const model::ArnScope& scope, std::string_view user);
// The account's root: who calls where nobody is known, and whose account settings hold for all that
// have none of their own.
std::string RootArn(const model::ArnScope& scope);

}  // namespace berth::api

// When to connect again after a connection has ended. Rules: agent-protocol.md 2.6; where our agent
// differs from the official one it says so here.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "agent/backoff.h"
#include "model/rng.h"

namespace berth::agent {

struct SessionEnd {
  enum class Kind {
    kUnreachable,  // no connection, or no endpoint to connect to
    kRefused,      // the handshake was answered with another status than 101
    kClosed,       // by the server, with a code
    kDropped,      // the connection broke
    kSilent,       // by us: no message for too long
    kExpired,      // by us: it had lasted its time
  };
  Kind kind = Kind::kDropped;
  int code = 0;             // kClosed: the close code; kRefused: the HTTP status
  bool denied = false;      // because the server does not take this agent's key
  std::string reason = {};  // in words, for the log
  absl::Duration lasted = absl::ZeroDuration();
};

struct ReconnectPace {
  Backoff::Shape backoff = {
      .first = absl::Milliseconds(250), .factor = 1.5, .cap = absl::Minutes(2)};
  // A server that restarts is wanted back soon, by agents of which jitter keeps the herd apart:
  // here the cap is lower than the official agent's 2 minutes.
  Backoff::Shape unreachable = {
      .first = absl::Milliseconds(250), .factor = 1.5, .cap = absl::Seconds(10)};
  absl::Duration stable_after = absl::Minutes(1);  // such a connection makes good for earlier ones
  absl::Duration drop_jitter = absl::Seconds(1);   // the official agent comes back at once
  absl::Duration inactive_wait = absl::Hours(1);
};

class Reconnect {
 public:
  Reconnect(ReconnectPace pace, model::Rng rng)
      : pace_(pace),
        rng_(rng.Fork()),
        refused_(pace.backoff, rng.Fork()),
        unreachable_(pace.unreachable, rng.Fork()) {}

  absl::Duration DelayAfter(const SessionEnd& end);

  // The server takes this instance for deregistered.
  static bool IsInactive(const SessionEnd& end);

 private:
  ReconnectPace pace_;
  model::Rng rng_;
  Backoff refused_;
  Backoff unreachable_;
  int drops_in_a_row_ = 0;
};

}  // namespace berth::agent

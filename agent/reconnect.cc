#include "agent/reconnect.h"

#include "absl/strings/match.h"

namespace berth::agent {

namespace {

// Close codes after which the server wants us back at once: normal, going away, broken off, its own
// failure.
bool IsOrdinary(int code) { return code == 1000 || code == 1001 || code == 1006 || code == 1011; }

// More drops of young connections than this in a row are no accident.
constexpr int kDropsMax = 5;

}  // namespace

bool Reconnect::IsInactive(const SessionEnd& end) {
  const bool spoken = end.kind == SessionEnd::Kind::kRefused ||
                      (end.kind == SessionEnd::Kind::kClosed && !IsOrdinary(end.code));
  return spoken && absl::StrContains(end.reason, "InactiveInstanceException");
}

absl::Duration Reconnect::DelayAfter(const SessionEnd& end) {
  if (IsInactive(end)) return pace_.inactive_wait;
  if (end.kind != SessionEnd::Kind::kUnreachable) unreachable_.Reset();
  if (end.lasted >= pace_.stable_after) {
    refused_.Reset();
    drops_in_a_row_ = 0;
  }
  switch (end.kind) {
    case SessionEnd::Kind::kUnreachable:
      return unreachable_.Next();
    case SessionEnd::Kind::kRefused:
      return refused_.Next();
    case SessionEnd::Kind::kExpired:
      return absl::ZeroDuration();
    case SessionEnd::Kind::kClosed:
      if (!IsOrdinary(end.code)) return refused_.Next();
      break;
    case SessionEnd::Kind::kDropped:
    case SessionEnd::Kind::kSilent:
      break;
  }
  if (++drops_in_a_row_ > kDropsMax) return refused_.Next();
  if (end.kind == SessionEnd::Kind::kClosed && end.code == 1000) return absl::ZeroDuration();
  return pace_.drop_jitter * (static_cast<double>(rng_.Below(1001)) / 1000.0);
}

}  // namespace berth::agent

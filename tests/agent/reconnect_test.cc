#include "agent/reconnect.h"

#include <catch2/catch.hpp>

namespace berth::agent {
namespace {

SessionEnd End(SessionEnd::Kind kind, int code = 0, std::string reason = "") {
  SessionEnd end;
  end.kind = kind;
  end.code = code;
  end.reason = std::move(reason);
  return end;
}

using Kind = SessionEnd::Kind;

struct Case {
  std::string why;
  SessionEnd end;
  absl::Duration least;
  absl::Duration most;
};

TEST_CASE("how a connection ended says when to come back", "[agent]") {
  const auto c = GENERATE(values<Case>({
      {"closed normally: at once", End(Kind::kClosed, 1000), absl::ZeroDuration(),
       absl::ZeroDuration()},
      {"old: at once", End(Kind::kExpired), absl::ZeroDuration(), absl::ZeroDuration()},
      {"dropped: soon, not all together", End(Kind::kDropped), absl::ZeroDuration(),
       absl::Seconds(1)},
      {"going away: soon", End(Kind::kClosed, 1001), absl::ZeroDuration(), absl::Seconds(1)},
      {"refused: back off", End(Kind::kRefused, 503), absl::Milliseconds(250),
       absl::Milliseconds(300)},
      {"closed with another code: back off", End(Kind::kClosed, 1008), absl::Milliseconds(250),
       absl::Milliseconds(300)},
      {"unreachable: back off", End(Kind::kUnreachable), absl::Milliseconds(250),
       absl::Milliseconds(300)},
      {"deregistered, by the handshake",
       End(Kind::kRefused, 400, "{\"InactiveInstanceException\":1}"), absl::Hours(1),
       absl::Hours(1)},
      {"deregistered, by the close", End(Kind::kClosed, 1008, "InactiveInstanceException: gone"),
       absl::Hours(1), absl::Hours(1)},
      {"the word in an ordinary close means nothing",
       End(Kind::kClosed, 1000, "InactiveInstanceException"), absl::ZeroDuration(),
       absl::ZeroDuration()},
  }));
  INFO(c.why);
  Reconnect reconnect(ReconnectPace(), model::Rng(1));

  const absl::Duration delay = reconnect.DelayAfter(c.end);

  CHECK(delay >= c.least);
  CHECK(delay <= c.most);
}

TEST_CASE("refusals in a row are waited out longer and longer, up to two minutes", "[agent]") {
  Reconnect reconnect(ReconnectPace(), model::Rng(1));
  absl::Duration last = absl::ZeroDuration();
  for (int i = 0; i < 30; ++i) last = reconnect.DelayAfter(End(Kind::kClosed, 1008));
  CHECK(last >= absl::Minutes(2));
  CHECK(last <= absl::Minutes(2) * 1.2);

  SECTION("a connection that lasted makes good for them") {
    SessionEnd end = End(Kind::kClosed, 1008);
    end.lasted = absl::Minutes(2);
    CHECK(reconnect.DelayAfter(end) <= absl::Milliseconds(300));
  }
  SECTION("a short one does not") {
    CHECK(reconnect.DelayAfter(End(Kind::kClosed, 1008)) >= absl::Minutes(2));
  }
}

TEST_CASE("a server that is down is looked for every few seconds", "[agent]") {
  Reconnect reconnect(ReconnectPace(), model::Rng(1));
  absl::Duration last = absl::ZeroDuration();
  for (int i = 0; i < 30; ++i) last = reconnect.DelayAfter(End(Kind::kUnreachable));
  CHECK(last <= absl::Seconds(12));
}

TEST_CASE("a server that drops every young connection is not stormed", "[agent]") {
  Reconnect reconnect(ReconnectPace(), model::Rng(1));
  absl::Duration last = absl::ZeroDuration();
  for (int i = 0; i < 30; ++i) last = reconnect.DelayAfter(End(Kind::kDropped));
  CHECK(last >= absl::Minutes(2));
}

}  // namespace
}  // namespace berth::agent

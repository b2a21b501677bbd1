#include "placement/change_log.h"

#include <vector>

#include <catch2/catch.hpp>

namespace berth::placement {
namespace {

std::vector<int32_t> Replayed(const ChangeLog& log, uint64_t since) {
  std::vector<int32_t> positions;
  log.Replay(since, [&](int32_t position) { positions.push_back(position); });
  return positions;
}

}  // namespace

TEST_CASE("a reader redoes what changed since it looked, each position once", "[change_log]") {
  ChangeLog log(100);
  log.Add(7);
  const uint64_t seen = log.sequence();
  for (const int32_t position : {3, 5, 3, 9, 5}) log.Add(position);

  REQUIRE(log.CanReplay(seen));
  CHECK(Replayed(log, seen) == std::vector<int32_t>{3, 9, 5});
  CHECK(Replayed(log, log.sequence()).empty());
}

TEST_CASE("a reader that was never built, or saw other positions, must rebuild", "[change_log]") {
  ChangeLog log(4);
  const uint64_t seen = log.sequence();
  log.Add(1);
  CHECK(log.CanReplay(seen));
  CHECK_FALSE(log.CanReplay(ChangeLog::kNever));

  log.Reset(5);

  CHECK_FALSE(log.CanReplay(seen));
  CHECK(log.CanReplay(log.sequence()));
}

TEST_CASE("a reader follows a log that grows", "[change_log]") {
  ChangeLog log(1);
  const uint64_t seen = log.sequence();
  std::vector<int32_t> all;
  for (int32_t i = 0; i < 1000; ++i) {
    log.Grow(i + 1);
    log.Add(i);
    all.push_back(i);
  }

  REQUIRE(log.CanReplay(seen + 1000 - 64));
  CHECK(Replayed(log, seen + 1000 - 64) == std::vector<int32_t>(all.end() - 64, all.end()));
}

TEST_CASE("a reader further behind than there are positions must rebuild", "[change_log]") {
  ChangeLog log(64);
  const uint64_t seen = log.sequence();
  for (int32_t i = 0; i < 64; ++i) log.Add(i);
  CHECK(log.CanReplay(seen));
  CHECK(Replayed(log, seen).size() == 64);

  log.Add(0);

  CHECK_FALSE(log.CanReplay(seen));
  CHECK(log.CanReplay(seen + 1));
}

}  // namespace berth::placement

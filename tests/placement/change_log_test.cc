#include "placement/change_log.h"

#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"

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
  CHECK(Replayed(log, seen) == std::vector<int32_t>{5, 9, 3});
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

TEST_CASE("a reader follows a log that grows, however far behind it is", "[change_log]") {
  ChangeLog log(1);
  const uint64_t seen = log.sequence();
  std::vector<int32_t> latest_first(1000);
  for (int32_t i = 0; i < 1000; ++i) {
    log.Grow(i + 1);
    log.Add(i);
    latest_first[999 - i] = i;
  }

  REQUIRE(log.CanReplay(seen));
  CHECK(Replayed(log, seen) == latest_first);
  CHECK(Replayed(log, seen + 990) ==
        std::vector<int32_t>(latest_first.begin(), latest_first.begin() + 10));
}

TEST_CASE("whatever changes, each reader meets what a list of all changes holds", "[change_log]") {
  model::Rng rng(5);
  ChangeLog log(40);
  const uint64_t begin = log.sequence();
  std::vector<int32_t> changes;
  for (int round = 0; round < 2000; ++round) {
    changes.push_back(static_cast<int32_t>(rng.Below(40)));
    log.Add(changes.back());
    const uint64_t since = rng.Below(changes.size() + 1);

    const std::vector<int32_t> replayed = Replayed(log, begin + since);

    const std::set<int32_t> expected(changes.begin() + static_cast<int64_t>(since), changes.end());
    REQUIRE(replayed.size() == expected.size());
    REQUIRE(std::set<int32_t>(replayed.begin(), replayed.end()) == expected);
  }
}

}  // namespace berth::placement

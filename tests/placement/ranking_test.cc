// The tournament tree against a scan.
#include "placement/ranking.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"

namespace berth::placement {
namespace {

std::optional<Ranking::Entry> Scanned(const std::vector<int32_t>& scores) {
  const auto best = std::max_element(scores.begin(), scores.end());
  if (*best == Ranking::kInfeasible) return std::nullopt;
  return Ranking::Entry{.position = static_cast<int32_t>(best - scores.begin()), .score = *best};
}

}  // namespace

TEST_CASE("a ranking without a feasible position has no best", "[ranking]") {
  const int32_t size = GENERATE(0, 1, 16, 17, 300);

  Ranking ranking(size);

  CHECK(ranking.size() == size);
  CHECK_FALSE(ranking.Best());
}

TEST_CASE("among equal scores the lowest position is the best", "[ranking]") {
  Ranking ranking(1000);
  for (const int32_t position : {999, 400, 17, 18}) ranking.Set(position, 5);
  ranking.Set(3, 4);

  CHECK(ranking.Best() == Ranking::Entry{.position = 17, .score = 5});
}

TEST_CASE("the best stays that of a scan, whatever is set", "[ranking]") {
  const int32_t size = GENERATE(1, 2, 15, 16, 17, 256, 257, 1213, 5000);
  model::Rng rng(static_cast<uint64_t>(size));
  Ranking ranking(size);
  std::vector<int32_t> scores(size, Ranking::kInfeasible);

  for (int round = 0; round < 2000; ++round) {
    const auto position = static_cast<int32_t>(rng.Below(size));
    const int32_t score =
        rng.Below(4) == 0 ? Ranking::kInfeasible : static_cast<int32_t>(rng.Below(12)) - 6;
    ranking.Set(position, score);
    scores[position] = score;
    if (round % 97 != 0) continue;

    REQUIRE(ranking.Best() == Scanned(scores));
  }
}

TEST_CASE("what was cut off does not come back when the ranking grows again", "[ranking]") {
  Ranking ranking(40);
  ranking.Set(39, 9);
  ranking.Set(5, 1);

  ranking.Resize(39);
  ranking.Resize(600);

  CHECK(ranking.Best() == Ranking::Entry{.position = 5, .score = 1});
  CHECK(ranking.Get(39) == Ranking::kInfeasible);
}

TEST_CASE("growing one by one keeps what was set", "[ranking]") {
  Ranking ranking;
  for (int32_t i = 0; i < 700; ++i) {
    ranking.Resize(i + 1);
    ranking.Set(i, i % 100);
  }

  CHECK(ranking.Best() == Ranking::Entry{.position = 99, .score = 99});
}

TEST_CASE("all scores at once are the same as one by one", "[ranking]") {
  Ranking at_once(3);
  at_once.Set(2, 1000);
  Ranking one_by_one(50);
  for (int32_t i = 0; i < 50; ++i) one_by_one.Set(i, i * 7 % 13);

  at_once.Assign(50, [](int32_t i) { return i * 7 % 13; });

  for (int32_t i = 0; i < 50; ++i) CHECK(at_once.Get(i) == one_by_one.Get(i));
  CHECK(at_once.Best() == one_by_one.Best());
}

TEST_CASE("Rescoring gives new scores to those that are feasible alone", "[ranking]") {
  Ranking ranking(50);
  ranking.Set(7, 1);
  ranking.Set(40, 2);
  ranking.Set(41, 3);
  ranking.Set(40, Ranking::kInfeasible);

  ranking.Rescore([](int32_t i) { return 100 - i; });

  CHECK(ranking.Get(7) == 93);
  CHECK(ranking.Get(40) == Ranking::kInfeasible);
  CHECK(ranking.Get(41) == 59);
  CHECK(ranking.Best() == Ranking::Entry{.position = 7, .score = 93});
}

}  // namespace berth::placement

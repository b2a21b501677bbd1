// The tournament tree against a scan.
#include "placement/ranking.h"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"

namespace berth::placement {
namespace {

// Feasible positions, best first.
std::vector<Ranking::Entry> Sorted(const std::vector<int64_t>& scores) {
  std::vector<Ranking::Entry> entries;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == Ranking::kInfeasible) continue;
    entries.push_back({.position = static_cast<int32_t>(i), .score = scores[i]});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return entries;
}

std::vector<Ranking::Entry> Walked(const Ranking& ranking, Ranking::Walk& walk) {
  std::vector<Ranking::Entry> entries;
  walk.Start(ranking);
  while (const auto entry = walk.Next()) entries.push_back(*entry);
  return entries;
}

}  // namespace

TEST_CASE("a ranking without a feasible position has no best", "[ranking]") {
  const int32_t size = GENERATE(0, 1, 16, 17, 300);

  const Ranking ranking(size);

  CHECK(ranking.size() == size);
  CHECK_FALSE(ranking.Best());
}

TEST_CASE("among equal scores the lowest position is the best", "[ranking]") {
  Ranking ranking(1000);
  for (const int32_t position : {999, 400, 17, 18}) ranking.Set(position, 5);
  ranking.Set(3, 4);

  CHECK(ranking.Best() == Ranking::Entry{.position = 17, .score = 5});
}

TEST_CASE("the best and the whole order stay those of a scan, whatever is set", "[ranking]") {
  const int32_t size = GENERATE(1, 2, 15, 16, 17, 256, 257, 1213, 5000);
  model::Rng rng(static_cast<uint64_t>(size));
  Ranking ranking(size);
  Ranking::Walk walk;
  std::vector<int64_t> scores(size, Ranking::kInfeasible);

  for (int round = 0; round < 2000; ++round) {
    const auto position = static_cast<int32_t>(rng.Below(size));
    const int64_t score =
        rng.Below(4) == 0 ? Ranking::kInfeasible : static_cast<int64_t>(rng.Below(12)) - 6;
    ranking.Set(position, score);
    scores[position] = score;
    if (round % 97 != 0) continue;

    const std::vector<Ranking::Entry> sorted = Sorted(scores);
    REQUIRE(Walked(ranking, walk) == sorted);
    REQUIRE(ranking.Best() == (sorted.empty() ? std::nullopt : std::optional(sorted.front())));
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

TEST_CASE("the best that is accepted is found in order", "[ranking]") {
  Ranking ranking(100);
  for (int32_t i = 0; i < 100; ++i) ranking.Set(i, i / 10);
  Ranking::Walk walk;

  const auto even_below_50 = ranking.BestIf(
      walk, [](const auto& entry) { return entry.position < 50 && entry.position % 2 == 1; });

  CHECK(even_below_50 == Ranking::Entry{.position = 41, .score = 4});
  CHECK_FALSE(ranking.BestIf(walk, [](const auto&) { return false; }));
}

TEST_CASE("all scores at once are the same as one by one", "[ranking]") {
  Ranking at_once(3);
  at_once.Set(2, 1000);
  Ranking one_by_one(50);
  for (int32_t i = 0; i < 50; ++i) one_by_one.Set(i, i * 7 % 13);

  at_once.Assign(50, [](int32_t i) { return int64_t{i * 7 % 13}; });

  Ranking::Walk walk;
  CHECK(Walked(at_once, walk) == Walked(one_by_one, walk));
}

}  // namespace berth::placement

#include "placement/ruled_rankings.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "placement/query.h"
#include "placement/ruled_ranking.h"

namespace berth::placement {
namespace {

auto Tie(const Demand& demand) {
  return std::tie(demand.cpu_units, demand.memory_mib, demand.tcp_ports, demand.udp_ports,
                  demand.gpu.kind, demand.gpu.count, demand.gpu.memory_mib, demand.gpu.containers,
                  demand.required_attributes, demand.launch_type);
}

auto Tie(const Strategy& strategy) {
  return std::tie(strategy.kind, strategy.field, strategy.attribute);
}

bool AreSame(const Rules& a, const Rules& b) {
  return a.distinct_instance == b.distinct_instance &&
         std::equal(a.member_of.begin(), a.member_of.end(), b.member_of.begin(), b.member_of.end(),
                    [](const auto& one, const auto& other) {
                      return one == other || one->text() == other->text();
                    }) &&
         std::equal(
             a.strategies.begin(), a.strategies.end(), b.strategies.begin(), b.strategies.end(),
             [](const Strategy& one, const Strategy& other) { return Tie(one) == Tie(other); });
}

bool AskForTheGroup(const Rules& rules) {
  return rules.distinct_instance || std::any_of(rules.strategies.begin(), rules.strategies.end(),
                                                [](const Strategy& strategy) {
                                                  return strategy.kind == Strategy::Kind::kSpread;
                                                });
}

// How many of the rankings a self-check looks at, the latest used first: each is built anew for it.
constexpr size_t kRankingsChecked = 16;

}  // namespace

bool operator==(const RankingKey& a, const RankingKey& b) {
  return Tie(*a.demand) == Tie(*b.demand) && a.group == b.group && AreSame(*a.rules, *b.rules);
}

template <class H>
H AbslHashValue(H state, const RankingKey& key) {
  state = H::combine(std::move(state), Tie(*key.demand), key.group, key.rules->distinct_instance);
  for (const auto& query : key.rules->member_of)
    state = H::combine(std::move(state), query->text());
  for (const Strategy& strategy : key.rules->strategies) {
    state = H::combine(std::move(state), Tie(strategy));
  }
  return H::combine(std::move(state), key.rules->member_of.size(), key.rules->strategies.size());
}

// A group counts where the rules ask for its tasks.
struct RuledRankings::Kept {
  Demand demand = {};
  Rules rules = {};
  std::string group = {};
  std::unique_ptr<RuledRanking> ranking = {};
  int64_t bytes = 0;
};

RuledRankings::RuledRankings() = default;
RuledRankings::~RuledRankings() = default;

RankingKey RuledRankings::ViewOf(const Kept& kept) {
  return {.demand = &kept.demand, .rules = &kept.rules, .group = kept.group};
}

RuledRanking& RuledRankings::Find(const Demand& demand, const Rules& rules, std::string_view group,
                                  const Inventory::Impl& inventory) {
  const RankingKey asked{.demand = &demand,
                         .rules = &rules,
                         .group = AskForTheGroup(rules) ? group : std::string_view()};
  auto found = by_key_.find(asked);
  if (found == by_key_.end()) {
    by_use_.push_front({.demand = demand, .rules = rules, .group = std::string(asked.group)});
    found = by_key_.emplace(ViewOf(by_use_.front()), by_use_.begin()).first;
  }
  Kept& kept = *found->second;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  if (kept.ranking == nullptr || !kept.ranking->CatchUp()) {
    kept.ranking.reset();
    kept.ranking = std::make_unique<RuledRanking>(demand, rules, asked.group, inventory);
  }
  Account(kept);
  return *kept.ranking;
}

void RuledRankings::Account(Kept& kept) {
  bytes_ += kept.ranking->bytes() - std::exchange(kept.bytes, kept.ranking->bytes());
  while (by_use_.size() > 1 && (by_use_.size() > kRankingsMax || bytes_ > kRankingBytesMax)) {
    const auto oldest = std::prev(by_use_.end());
    bytes_ -= oldest->bytes;
    by_key_.erase(ViewOf(*oldest));
    by_use_.erase(oldest);
  }
}

std::vector<std::string> RuledRankings::FindViolations() const {
  std::vector<std::string> violations;
  size_t checked = 0;
  for (const Kept& kept : by_use_) {
    if (++checked > kRankingsChecked) break;
    if (!kept.ranking->CatchUp()) continue;  // is built anew when next asked for
    std::vector<std::string> more = kept.ranking->FindViolations();
    std::move(more.begin(), more.end(), std::back_inserter(violations));
  }
  return violations;
}

}  // namespace berth::placement

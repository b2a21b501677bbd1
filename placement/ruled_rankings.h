// The rankings of the demands that were placed last, so that a task definition's next task finds
// its own in order. Kept by value: the same demand with the same rules is the same ranking, whoever
// asks. Inside placement/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/rules.h"

namespace berth::placement {

class RuledRanking;

// What a ranking is for. A view: what it points to outlives it.
struct RankingKey {
  const Demand* demand = nullptr;
  const Rules* rules = nullptr;
  std::string_view group = {};

  friend bool operator==(const RankingKey& a, const RankingKey& b);
  template <class H>
  friend H AbslHashValue(H state, const RankingKey& key);
};

// Beyond either, those that were asked least lately go, and are built anew when asked again: that
// looks at every instance. One takes about 75 bytes for each instance that the rules do not rule
// out for good; where tasks spread over an attribute that differs on each of them, 200.
inline constexpr size_t kRankingsMax = 4096;
inline constexpr int64_t kRankingBytesMax = int64_t{512} << 20;

class RuledRankings {
 public:
  RuledRankings();
  ~RuledRankings();

  // Caught up with the inventory, of which this is a part. Valid until the next call.
  RuledRanking& Find(const Demand& demand, const Rules& rules, std::string_view group,
                     const Inventory::Impl& inventory);

  int64_t size() const { return static_cast<int64_t>(by_use_.size()); }
  int64_t bytes() const { return bytes_; }
  std::vector<std::string> FindViolations() const;

 private:
  struct Kept;
  using ByUse = std::list<Kept>;  // the latest first

  static RankingKey ViewOf(const Kept& kept);
  void Account(Kept& kept);

  ByUse by_use_;
  absl::flat_hash_map<RankingKey, ByUse::iterator> by_key_;  // views of the keys kept in by_use_
  int64_t bytes_ = 0;
};

}  // namespace berth::placement

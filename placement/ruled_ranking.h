// The instances that one demand may go to, in the order of its rules, kept from one placement to
// the next. The first placement looks at every instance; each later one only at those that have
// changed since, and at the top of a tree.
//
// Instances that the rules rule out for good (class, attributes, the parts of queries that do not
// depend on tasks) have no entry. The others have one, in or out of the contest as they have room
// and the constraints hold. Where tasks spread over attributes, the contests are nested, one for
// each value (of the attribute with fewest values first): how many tasks of the group a value has
// is kept beside its contest, so that a task coming or going moves one entry of the contest above.
// Inside placement/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/assign.h"
#include "placement/attribute_index.h"
#include "placement/change_log.h"
#include "placement/demand.h"
#include "placement/gpu_order.h"
#include "placement/inventory_impl.h"
#include "placement/required_capabilities.h"
#include "placement/rules.h"
#include "placement/tournament.h"

namespace berth::placement {

// Where a task goes, without a name: an instance, and its GPUs.
struct Spot {
  int32_t slot = 0;
  GpuChoice gpus = {};
};

class RuledRanking {
 public:
  // `inventory` outlives it.
  RuledRanking(const Demand& demand, const Rules& rules, std::string_view group,
               const Inventory::Impl& inventory);

  // Brings it up to what the inventory is now, from its logs of changes. False: too much has
  // changed for that, or the GPU policy scores otherwise now, and it must be built anew.
  [[nodiscard]] bool CatchUp();
  // Both require: it has caught up. Nothing: no instance will do. Random chooses by the seed.
  std::optional<Spot> Best(uint64_t seed) const;

  int64_t bytes() const { return bytes_; }
  // Every difference from what it would be if built now, in words. O(everything).
  std::vector<std::string> FindViolations() const;

 private:
  static constexpr int32_t kNone = -1;

  // What orders two entries: their keys, or how many tasks the values of an attribute have.
  struct Term {
    enum class Kind {
      kTasks,
      kCpu,
      kMemory,
      kGpu,
      kPreferredKind,
      kPreferredSize,
      kScore,  // the GPU policy's, the highest first
      kTasksOfValue
    };
    Kind kind = Kind::kCpu;
    int32_t position = 0;  // of the key, or the depth of the contest for kTasksOfValue
  };

  struct Entry {
    uint64_t id_prefix = 0;  // of the instance
    int32_t slot = 0;
    int32_t gpu = 0;
    int32_t contest = 0;  // the innermost that it is in
    int32_t place = 0;    // in that contest
    bool in = false;
    bool asks = false;  // whether some query's answer depends on the instance's tasks
  };

  struct Contest {
    Tournament tournament = {};
    int32_t parent = kNone;
    int32_t place = 0;     // in the parent
    int32_t depth = 0;     // 0: the outermost, which has all
    int32_t value = 0;     // of the attribute of this depth
    int32_t next = kNone;  // of the same value
  };

  // An attribute that tasks spread over.
  struct Attribute {
    std::string name = {};
    // The values' numbers in the attribute index, as numbers of this ranking.
    absl::flat_hash_map<int64_t, int32_t> values = {};
    std::vector<int64_t> tasks = {};          // of the group, by value
    std::vector<int32_t> first_contest = {};  // by value
  };

  // Where tasks of the group are, with the values that they count for.
  struct GroupTasks {
    int64_t tasks = 0;
    std::vector<int32_t> values = {};  // by attribute
  };

  // Within a contest: up to its depth all have the same values.
  struct Order {
    const RuledRanking& ranking;
    int32_t depth = 0;

    int Compare(int32_t a, int32_t b) const;
    bool Precedes(int32_t a, int32_t b) const;
  };

  void SetTerms();
  void SortAttributes();
  void Build();
  int64_t CountBytes() const;
  void Register(int32_t slot);
  const Instance* InstanceOf(int32_t slot) const;

  bool IsSuitable(const Instance& instance) const;
  StaticMatch MatchStatically(const Instance& instance) const;
  void Admit(const Instance& instance, bool asks);
  void Dismiss(int32_t slot);
  void Refresh(int32_t slot);
  bool ConstraintsHold(const Entry& entry, const Instance& instance) const;
  // Whether any has changed.
  bool SetKeys(int32_t entry, const Instance& instance, const Device* gpu);
  int64_t KeyOf(Term::Kind kind, const Instance& instance, const Device* gpu) const;
  // Whether one of those as good as the best is drawn, of which this is one.
  bool Draws(const Instance& best) const;

  std::vector<int32_t> ValuesOf(const Instance& instance);
  int32_t ContestFor(const std::vector<int32_t>& values);
  int32_t AddContest(int32_t parent, int32_t value);
  void RemoveIfEmpty(int32_t contest);
  int32_t ContestOf(int32_t entry, int32_t depth) const;
  void CountGroup(int32_t slot);
  void AddTasks(const std::vector<int32_t>& values, int64_t tasks);
  void Enter(int32_t contest, int32_t place, Winner winner);

  Demand demand_;
  Rules rules_;
  std::string group_;
  const Inventory::Impl& inventory_;

  std::vector<Term> terms_;
  int32_t keys_per_entry_ = 0;
  bool chooses_at_random_ = false;
  bool follows_policy_ = false;  // the last term is the GPU policy's score
  bool packs_gpus_ = false;      // a strategy asks for the tightest GPU
  ShapeUse shape_;
  uint64_t epoch_ = 0;                 // of the GPU policy, as of which all scores are
  std::vector<Attribute> attributes_;  // by depth, from 1 on

  RequiredCapabilities required_;
  int32_t group_number_ = kNone;        // as of the last CatchUp
  std::vector<int32_t> entry_of_slot_;  // kNone where it has none
  std::vector<Entry> entries_;
  std::vector<int32_t> free_entries_;
  std::vector<int64_t> keys_;  // keys_per_entry_ for each entry
  std::vector<Contest> contests_;
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> inside_;  // by contest and value
  std::vector<int32_t> free_contests_;
  absl::flat_hash_map<int32_t, GroupTasks> group_tasks_;  // by slot
  uint64_t seen_ = ChangeLog::kNever;
  uint64_t seen_registrations_ = ChangeLog::kNever;
  int64_t bytes_ = 0;
};

}  // namespace berth::placement

// Which instances carry which attribute value, so that a query is answered for a whole cluster at
// once: its tests become sets of slots, a pattern is matched once for each distinct value, and
// `and`, `or` and `not` are a few words of arithmetic for 64 instances.
//
// What changes while tasks run (task:group, runningTasksCount, agentConnected) is not kept here.
// Where a query asks for it the answer is two sets, those that match whatever runs and those that
// may, and only the instances between the two have to be looked at one by one.
//
// Upkept by Inventory. Inside placement/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/instance.h"
#include "placement/query.h"
#include "placement/query_expression.h"
#include "placement/slot_set.h"

namespace berth::placement {

class AttributeIndex {
 public:
  struct Matches {
    SlotSet surely = {};   // whatever their tasks do
    SlotSet perhaps = {};  // these and those that depend on it
  };

  // As the instance is registered now.
  void Add(const Instance& instance);
  // Requires: it was added, and has not registered anew since.
  void Remove(const Instance& instance);

  Matches Find(const Query& query) const;
  const SlotSet& all() const { return all_; }

  // The number of the instance's value; kAbsent: it has not the attribute. A value keeps its number
  // while some instance has it, and no number is used again.
  static constexpr int64_t kAbsent = 0;
  int64_t ValueOf(const std::string& attribute, const Instance& instance) const;

  int64_t bytes() const;  // about

 private:
  // The instances of one value: a list while they are few, else bits.
  class Postings {
   public:
    void Insert(int32_t slot);
    void Erase(int32_t slot);
    bool empty() const { return size_ == 0; }
    void AddTo(SlotSet& set) const;
    int64_t bytes() const;

    int64_t number = kAbsent;  // of the value

   private:
    std::vector<int32_t> few_;
    SlotSet many_;
    int64_t size_ = 0;
  };
  template <class Value>
  using Values = absl::flat_hash_map<Value, Postings>;

  Matches Find(const QueryExpression& expression) const;
  Matches FindTest(const QueryTest& test) const;
  SlotSet FindAttribute(const QueryTest& test) const;

  SlotSet all_;
  int64_t last_number_ = kAbsent;
  absl::flat_hash_map<std::string, Values<std::string>> attributes_;  // by name, by value
  Values<std::string> agent_versions_;
  Values<std::string> ec2_instance_ids_;
  Values<int64_t> registered_at_;  // seconds since 1970
};

// The same for one instance. kDepends: on what its tasks do.
enum class StaticMatch { kNo, kYes, kDepends };
StaticMatch MatchStatically(const Query& query, const Instance& instance);

}  // namespace berth::placement

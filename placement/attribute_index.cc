#include "placement/attribute_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "model/check.h"

namespace berth::placement {
namespace {

using Kind = QueryExpression::Kind;
using Op = QueryOperator;
using Subject = QuerySubject;

// A value becomes bits with more instances than this, and a list again with half as many; the
// distance keeps it from doing so in turns.
constexpr size_t kFewMax = 256;

int64_t RegisteredSeconds(const Instance& instance) {
  return absl::ToUnixSeconds(instance.registered_at);
}

// Every attribute once, with its value as queries see it.
template <class Visit>
void ForEachAttribute(const Instance& instance, Visit visit) {
  for (const std::string& name : instance.attributes) {
    visit(name, *AttributeValue(instance, name));
  }
  // Registered and not offered: queries see it all the same.
  if (instance.registers_gpu_sharing && !instance.offers_gpu_sharing) {
    const std::string name = model::kGpuSharingCapability;
    visit(name, *AttributeValue(instance, name));
  }
}

template <class Map, class Key>
void EraseFrom(Map& values, const Key& value, int32_t slot) {
  const auto found = values.find(value);
  BERTH_CHECK(found != values.end());
  found->second.Erase(slot);
  if (found->second.empty()) values.erase(found);
}

template <class Map, class Holds>
SlotSet Union(const Map& values, Holds holds) {
  SlotSet set;
  for (const auto& [value, postings] : values) {
    if (holds(value)) postings.AddTo(set);
  }
  return set;
}

// Without looking at every value where the values are named.
template <class Map, class Holds>
SlotSet UnionFor(const Map& values, const QueryTest& test, Holds holds) {
  if (test.op != Op::kEqual && test.op != Op::kIn) return Union(values, holds);
  SlotSet set;
  for (const std::string& value : test.values) {
    const auto found = values.find(value);
    if (found != values.end()) found->second.AddTo(set);
  }
  return set;
}

StaticMatch Not(StaticMatch match) {
  if (match == StaticMatch::kDepends) return match;
  return match == StaticMatch::kYes ? StaticMatch::kNo : StaticMatch::kYes;
}

StaticMatch MatchTest(const QueryTest& test, const Instance& instance) {
  const auto known = [](bool holds) { return holds ? StaticMatch::kYes : StaticMatch::kNo; };
  switch (test.subject) {
    case Subject::kAttribute: {
      const auto value = AttributeValue(instance, test.attribute);
      return known(value ? HoldsForText(test, *value) : test.op == Op::kNotExists);
    }
    case Subject::kAgentVersion:
      return known(HoldsForVersion(test, instance.agent_version));
    case Subject::kEc2InstanceId:
      return known(HoldsForText(test, instance.ec2_instance_id));
    case Subject::kRegisteredAt:
      return known(HoldsForNumber(test, RegisteredSeconds(instance)));
    case Subject::kAgentConnected:
    case Subject::kRunningTasksCount:
    case Subject::kTaskGroup:
      break;
  }
  return StaticMatch::kDepends;
}

StaticMatch MatchExpression(const QueryExpression& expression, const Instance& instance) {
  switch (expression.kind) {
    case Kind::kTest:
      return MatchTest(expression.test, instance);
    case Kind::kNot:
      return Not(MatchExpression(expression.operands.front(), instance));
    case Kind::kAnd:
    case Kind::kOr:
      break;
  }
  // One operand that is `decisive` decides; one that depends leaves it open; else all are the
  // other.
  const StaticMatch decisive = expression.kind == Kind::kOr ? StaticMatch::kYes : StaticMatch::kNo;
  StaticMatch match = Not(decisive);
  for (const QueryExpression& operand : expression.operands) {
    const StaticMatch one = MatchExpression(operand, instance);
    if (one == decisive) return decisive;
    if (one == StaticMatch::kDepends) match = one;
  }
  return match;
}

}  // namespace

void AttributeIndex::Postings::Insert(int32_t slot) {
  ++size_;
  if (size_ > 1 && few_.empty()) {
    many_.Insert(slot);
    return;
  }
  few_.push_back(slot);
  if (few_.size() <= kFewMax) return;
  for (const int32_t one : few_) many_.Insert(one);
  few_ = {};
}

void AttributeIndex::Postings::Erase(int32_t slot) {
  --size_;
  if (!few_.empty()) {
    const auto found = std::find(few_.begin(), few_.end(), slot);
    BERTH_CHECK(found != few_.end());
    *found = few_.back();
    few_.pop_back();
    return;
  }
  BERTH_CHECK(many_.Contains(slot));
  many_.Erase(slot);
  if (size_ > static_cast<int64_t>(kFewMax / 2)) return;
  many_.ForEach([this](int32_t one) { few_.push_back(one); });
  many_ = {};
}

void AttributeIndex::Postings::AddTo(SlotSet& set) const {
  for (const int32_t slot : few_) set.Insert(slot);
  if (few_.empty()) set |= many_;
}

int64_t AttributeIndex::Postings::bytes() const {
  return static_cast<int64_t>(sizeof(*this) + few_.capacity() * sizeof(int32_t)) + many_.bytes();
}

void AttributeIndex::Add(const Instance& instance) {
  const int32_t slot = instance.slot;
  all_.Insert(slot);
  ForEachAttribute(instance, [&](const std::string& name, std::string_view value) {
    Postings& postings = attributes_[name][std::string(value)];
    if (postings.empty()) postings.number = ++last_number_;
    postings.Insert(slot);
  });
  agent_versions_[instance.agent_version].Insert(slot);
  ec2_instance_ids_[instance.ec2_instance_id].Insert(slot);
  registered_at_[RegisteredSeconds(instance)].Insert(slot);
}

void AttributeIndex::Remove(const Instance& instance) {
  const int32_t slot = instance.slot;
  all_.Erase(slot);
  ForEachAttribute(instance, [&](const std::string& name, std::string_view value) {
    const auto values = attributes_.find(name);
    BERTH_CHECK(values != attributes_.end());
    EraseFrom(values->second, std::string(value), slot);
    if (values->second.empty()) attributes_.erase(values);
  });
  EraseFrom(agent_versions_, instance.agent_version, slot);
  EraseFrom(ec2_instance_ids_, instance.ec2_instance_id, slot);
  EraseFrom(registered_at_, RegisteredSeconds(instance), slot);
}

int64_t AttributeIndex::ValueOf(const std::string& attribute, const Instance& instance) const {
  const auto value = AttributeValue(instance, attribute);
  if (!value) return kAbsent;
  // Debian's absl::string_view is not the standard one.
  return attributes_.at(attribute).at(absl::string_view(value->data(), value->size())).number;
}

AttributeIndex::Matches AttributeIndex::Find(const Query& query) const {
  return Find(query.expression());
}

AttributeIndex::Matches AttributeIndex::Find(const QueryExpression& expression) const {
  if (expression.kind == Kind::kTest) return FindTest(expression.test);
  Matches matches = Find(expression.operands.front());
  if (expression.kind == Kind::kNot) {
    Matches opposite{.surely = all_, .perhaps = all_};
    opposite.surely -= matches.perhaps;
    opposite.perhaps -= matches.surely;
    return opposite;
  }
  for (size_t i = 1; i < expression.operands.size(); ++i) {
    const Matches more = Find(expression.operands[i]);
    if (expression.kind == Kind::kAnd) {
      matches.surely &= more.surely;
      matches.perhaps &= more.perhaps;
    } else {
      matches.surely |= more.surely;
      matches.perhaps |= more.perhaps;
    }
  }
  return matches;
}

AttributeIndex::Matches AttributeIndex::FindTest(const QueryTest& test) const {
  const auto holds_for_text = [&test](const std::string& value) {
    return HoldsForText(test, value);
  };
  SlotSet set;
  switch (test.subject) {
    case Subject::kAttribute:
      set = FindAttribute(test);
      break;
    case Subject::kAgentVersion:
      set = Union(agent_versions_,
                  [&test](const std::string& reported) { return HoldsForVersion(test, reported); });
      break;
    case Subject::kEc2InstanceId:
      set = UnionFor(ec2_instance_ids_, test, holds_for_text);
      break;
    case Subject::kRegisteredAt:
      set =
          Union(registered_at_, [&test](int64_t seconds) { return HoldsForNumber(test, seconds); });
      break;
    case Subject::kAgentConnected:
    case Subject::kRunningTasksCount:
    case Subject::kTaskGroup:
      return {.surely = {}, .perhaps = all_};
  }
  return {.surely = set, .perhaps = set};
}

SlotSet AttributeIndex::FindAttribute(const QueryTest& test) const {
  const auto values = attributes_.find(test.attribute);
  const auto any = [](const std::string&) { return true; };
  if (test.op == Op::kNotExists) {
    SlotSet set = all_;
    if (values != attributes_.end()) set -= Union(values->second, any);
    return set;
  }
  if (values == attributes_.end()) return {};
  return UnionFor(values->second, test,
                  [&test](const std::string& value) { return HoldsForText(test, value); });
}

int64_t AttributeIndex::bytes() const {
  int64_t bytes = all_.bytes();
  const auto add = [&bytes](const auto& values) {
    for (const auto& [value, postings] : values) {
      bytes += static_cast<int64_t>(sizeof(value)) + postings.bytes();
    }
  };
  for (const auto& [name, values] : attributes_) add(values);
  add(agent_versions_);
  add(ec2_instance_ids_);
  add(registered_at_);
  return bytes;
}

StaticMatch MatchStatically(const Query& query, const Instance& instance) {
  return MatchExpression(query.expression(), instance);
}

}  // namespace berth::placement

#include "placement/ruled_ranking.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "model/check.h"
#include "model/rng.h"
#include "placement/assign.h"
#include "placement/feasibility.h"
#include "placement/instance_query.h"
#include "placement/task_groups.h"

namespace berth::placement {
namespace {

using GpuKind = GpuDemand::Kind;

}  // namespace

RuledRanking::RuledRanking(const Demand& demand, const Rules& rules, std::string_view group,
                           const Inventory::Impl& inventory)
    : demand_(demand),
      rules_(rules),
      group_(group),
      inventory_(inventory),
      shape_(inventory.gpu_order, demand) {
  SetTerms();
  SortAttributes();
  Build();
}

// Each strategy once: a second time it finds nothing left to decide. What follows random likewise.
// Last comes the order in which Place takes instances where there are no rules: the GPU policy's,
// or without one its own.
void RuledRanking::SetTerms() {
  follows_policy_ = inventory_.gpu_order.active();
  const auto add = [this](Term::Kind kind) {
    const bool is_there = std::any_of(terms_.begin(), terms_.end(),
                                      [kind](const Term& term) { return term.kind == kind; });
    if (!is_there) terms_.push_back({.kind = kind, .position = keys_per_entry_++});
  };
  for (const Strategy& strategy : rules_.strategies) {
    if (strategy.kind == Strategy::Kind::kRandom) {
      chooses_at_random_ = true;
      return;
    }
    switch (strategy.field) {
      case Strategy::Field::kInstanceId:
        add(Term::Kind::kTasks);
        break;
      case Strategy::Field::kAttribute: {
        const bool is_there = std::any_of(
            attributes_.begin(), attributes_.end(),
            [&](const Attribute& attribute) { return attribute.name == strategy.attribute; });
        if (is_there) break;
        terms_.push_back({.kind = Term::Kind::kTasksOfValue,
                          .position = static_cast<int32_t>(attributes_.size())});
        attributes_.push_back({.name = strategy.attribute});
        break;
      }
      case Strategy::Field::kCpu:
        add(Term::Kind::kCpu);
        break;
      case Strategy::Field::kMemory:
        add(Term::Kind::kMemory);
        break;
      case Strategy::Field::kGpuMemory:
        if (demand_.gpu.kind == GpuKind::kNone) break;
        add(Term::Kind::kGpu);
        packs_gpus_ = true;
        break;
      case Strategy::Field::kNone:
        break;
    }
  }
  if (!follows_policy_ || demand_.gpu.kind == GpuKind::kNone) add(Term::Kind::kPreferredKind);
  add(follows_policy_ ? Term::Kind::kScore : Term::Kind::kPreferredSize);
}

// Fewest values first: a value has a contest in each of those around it.
void RuledRanking::SortAttributes() {
  if (attributes_.size() > 1) {
    std::vector<std::pair<size_t, int32_t>> by_values;
    for (size_t i = 0; i < attributes_.size(); ++i) {
      absl::flat_hash_set<int64_t> values;
      for (const auto& instance : inventory_.instances) {
        if (instance == nullptr) continue;
        values.insert(inventory_.attributes.ValueOf(attributes_[i].name, *instance));
      }
      by_values.emplace_back(values.size(), static_cast<int32_t>(i));
    }
    std::sort(by_values.begin(), by_values.end());
    std::vector<Attribute> sorted;
    std::vector<int32_t> position_of(attributes_.size());
    for (const auto& [values, i] : by_values) {
      position_of[i] = static_cast<int32_t>(sorted.size());
      sorted.push_back(std::move(attributes_[i]));
    }
    attributes_ = std::move(sorted);
    for (Term& term : terms_) {
      if (term.kind == Term::Kind::kTasksOfValue) term.position = position_of[term.position];
    }
  }
  // A contest of depth n tells values of attribute n - 1 apart from each other.
  for (Term& term : terms_) {
    if (term.kind == Term::Kind::kTasksOfValue) ++term.position;
  }
}

void RuledRanking::Build() {
  contests_.emplace_back();
  if (follows_policy_) inventory_.gpu_order.CatchUp(inventory_);
  seen_ = inventory_.changes.sequence();
  seen_registrations_ = inventory_.registrations.sequence();
  required_ = RequiredOf(demand_, inventory_.classes);
  group_number_ = inventory_.groups.NumberOf(group_);
  const int32_t slots = static_cast<int32_t>(inventory_.instances.size());
  entry_of_slot_.assign(slots, kNone);

  if (!attributes_.empty() && group_number_ != kNone) {
    for (int32_t slot = 0; slot < slots; ++slot) CountGroup(slot);
  }
  SlotSet perhaps = inventory_.attributes.all();
  SlotSet surely = perhaps;
  for (const auto& query : rules_.member_of) {
    const AttributeIndex::Matches matches = inventory_.attributes.Find(*query);
    perhaps &= matches.perhaps;
    surely &= matches.surely;
  }
  perhaps.ForEach([&](int32_t slot) {
    const Instance& instance = *inventory_.instances[slot];
    if (IsSuitable(instance)) Admit(instance, !surely.Contains(slot));
  });
  // A policy may make its prices when it is first asked for a score.
  epoch_ = inventory_.gpu_order.epoch();
  bytes_ = CountBytes();
}

const Instance* RuledRanking::InstanceOf(int32_t slot) const {
  return static_cast<size_t>(slot) < inventory_.instances.size() ? inventory_.instances[slot].get()
                                                                 : nullptr;
}

bool RuledRanking::CatchUp() {
  const ChangeLog& registrations = inventory_.registrations;
  const ChangeLog& changes = inventory_.changes;
  if (!registrations.CanReplay(seen_registrations_) || !changes.CanReplay(seen_)) return false;
  if (inventory_.gpu_order.active()) inventory_.gpu_order.CatchUp(inventory_);
  if (inventory_.gpu_order.epoch() != epoch_) return false;
  group_number_ = inventory_.groups.NumberOf(group_);
  if (seen_registrations_ != registrations.sequence()) {
    required_ = RequiredOf(demand_, inventory_.classes);
    registrations.Replay(seen_registrations_, [this](int32_t slot) { Register(slot); });
    seen_registrations_ = registrations.sequence();
    bytes_ = CountBytes();
  }
  changes.Replay(seen_, [this](int32_t slot) {
    if (!attributes_.empty()) CountGroup(slot);
    Refresh(slot);
  });
  seen_ = changes.sequence();
  return true;
}

// The slot's instance has come, gone, or registered anew.
void RuledRanking::Register(int32_t slot) {
  Dismiss(slot);
  const auto counted = group_tasks_.find(slot);
  if (counted != group_tasks_.end()) {
    AddTasks(counted->second.values, -counted->second.tasks);
    group_tasks_.erase(counted);
  }
  const Instance* instance = InstanceOf(slot);
  if (instance == nullptr) return;
  if (!attributes_.empty()) CountGroup(slot);
  if (!IsSuitable(*instance)) return;
  const StaticMatch match = MatchStatically(*instance);
  if (match != StaticMatch::kNo) Admit(*instance, match == StaticMatch::kDepends);
}

bool RuledRanking::IsSuitable(const Instance& instance) const {
  if (required_.some_missing) return false;
  const CapabilityClass& its_class = *instance.capability_class;
  return its_class.Serves(demand_.launch_type) && its_class.Covers(required_.numbers) &&
         (!required_.others || HasRequiredAttributes(demand_, instance));
}

StaticMatch RuledRanking::MatchStatically(const Instance& instance) const {
  StaticMatch all = StaticMatch::kYes;
  for (const auto& query : rules_.member_of) {
    const StaticMatch match = placement::MatchStatically(*query, instance);
    if (match == StaticMatch::kNo) return match;
    if (match == StaticMatch::kDepends) all = match;
  }
  return all;
}

void RuledRanking::Admit(const Instance& instance, bool asks) {
  int32_t number = static_cast<int32_t>(entries_.size());
  if (free_entries_.empty()) {
    entries_.emplace_back();
    keys_.resize(keys_.size() + keys_per_entry_);
  } else {
    number = free_entries_.back();
    free_entries_.pop_back();
  }
  const int32_t contest = attributes_.empty() ? 0 : ContestFor(ValuesOf(instance));
  entries_[number] = {
      .id_prefix = instance.id_prefix,
      .slot = instance.slot,
      .contest = contest,
      .place = contests_[contest].tournament.AddPlace(Order{*this, contests_[contest].depth}),
      .asks = asks};
  if (static_cast<size_t>(instance.slot) >= entry_of_slot_.size()) {
    entry_of_slot_.resize(inventory_.instances.size(), kNone);
  }
  entry_of_slot_[instance.slot] = number;
  Refresh(instance.slot);
}

void RuledRanking::Dismiss(int32_t slot) {
  if (static_cast<size_t>(slot) >= entry_of_slot_.size()) return;
  const int32_t number = std::exchange(entry_of_slot_[slot], kNone);
  if (number == kNone) return;
  Entry& entry = entries_[number];
  if (entry.in) Enter(entry.contest, entry.place, Winner{});
  contests_[entry.contest].tournament.RemovePlace(entry.place);
  RemoveIfEmpty(entry.contest);
  entry = {};
  free_entries_.push_back(number);
}

void RuledRanking::Refresh(int32_t slot) {
  if (static_cast<size_t>(slot) >= entry_of_slot_.size()) return;
  const int32_t number = entry_of_slot_[slot];
  if (number == kNone) return;
  Entry& entry = entries_[number];
  const Instance& instance = *inventory_.instances[slot];
  const bool may = instance.eligible && ConstraintsHold(entry, instance);
  const Fit fit = may ? FindFit(demand_, instance) : Fit{};
  if (!fit.fits) {
    if (std::exchange(entry.in, false)) Enter(entry.contest, entry.place, Winner{});
    return;
  }
  entry.gpu = fit.gpu == nullptr ? 0 : fit.gpu->rank;
  const bool has_moved = SetKeys(number, instance, fit.gpu);
  if (std::exchange(entry.in, true) && !has_moved) return;
  Enter(entry.contest, entry.place, {.contestant = number, .equals = 1});
}

bool RuledRanking::ConstraintsHold(const Entry& entry, const Instance& instance) const {
  if (rules_.distinct_instance && TasksOf(group_number_, instance.groups) > 0) return false;
  return !entry.asks || std::all_of(rules_.member_of.begin(), rules_.member_of.end(),
                                    [&](const std::shared_ptr<const Query>& query) {
                                      return Matches(instance, *query, inventory_.groups);
                                    });
}

bool RuledRanking::SetKeys(int32_t entry, const Instance& instance, const Device* gpu) {
  int64_t* keys = keys_.data() + static_cast<int64_t>(entry) * keys_per_entry_;
  bool any_changed = false;
  for (const Term& term : terms_) {
    if (term.kind == Term::Kind::kTasksOfValue) continue;
    const int64_t key = KeyOf(term.kind, instance, gpu);
    any_changed |= std::exchange(keys[term.position], key) != key;
  }
  return any_changed;
}

int64_t RuledRanking::KeyOf(Term::Kind kind, const Instance& instance, const Device* gpu) const {
  const GpuKind demanded = demand_.gpu.kind;
  switch (kind) {
    case Term::Kind::kTasks:
      return TasksOf(group_number_, instance.groups);
    case Term::Kind::kCpu:
      return instance.remaining_cpu_units();
    case Term::Kind::kMemory:
      return instance.remaining_memory_mib();
    case Term::Kind::kGpu:
      return gpu != nullptr ? gpu->remaining_memory_mib() : IdleGpus(instance);
    case Term::Kind::kPreferredKind:
      if (demanded == GpuKind::kNone) return RegisteredGpus(instance) > 0 ? 1 : 0;
      return gpu != nullptr && gpu->IsIdle() ? 1 : 0;
    case Term::Kind::kPreferredSize:
      if (demanded == GpuKind::kNone) return instance.remaining_memory_mib();
      return gpu != nullptr ? gpu->remaining_memory_mib() : IdleGpus(instance);
    case Term::Kind::kScore:
      // Among instances without GPUs, which go before the others, the tightest fit.
      if (demanded == GpuKind::kNone && RegisteredGpus(instance) == 0) {
        return instance.remaining_memory_mib();
      }
      return -inventory_.gpu_order.Score(instance, shape_.id(), demand_);
    case Term::Kind::kTasksOfValue:
      break;
  }
  return 0;
}

std::vector<int32_t> RuledRanking::ValuesOf(const Instance& instance) {
  std::vector<int32_t> values;
  values.reserve(attributes_.size());
  for (Attribute& attribute : attributes_) {
    const auto [value, is_new] =
        attribute.values.try_emplace(inventory_.attributes.ValueOf(attribute.name, instance),
                                     static_cast<int32_t>(attribute.tasks.size()));
    if (is_new) {
      attribute.tasks.push_back(0);
      attribute.first_contest.push_back(kNone);
    }
    values.push_back(value->second);
  }
  return values;
}

int32_t RuledRanking::ContestFor(const std::vector<int32_t>& values) {
  int32_t contest = 0;
  for (const int32_t value : values) {
    const auto inside = inside_.find(std::pair(contest, value));
    contest = inside != inside_.end() ? inside->second : AddContest(contest, value);
  }
  return contest;
}

int32_t RuledRanking::AddContest(int32_t parent, int32_t value) {
  int32_t number = static_cast<int32_t>(contests_.size());
  if (free_contests_.empty()) {
    contests_.emplace_back();
  } else {
    number = free_contests_.back();
    free_contests_.pop_back();
  }
  Contest& around = contests_[parent];
  int32_t& first = attributes_[around.depth].first_contest[value];
  contests_[number] = {.parent = parent,
                       .place = around.tournament.AddPlace(Order{*this, around.depth}),
                       .depth = around.depth + 1,
                       .value = value,
                       .next = first};
  first = number;
  inside_.emplace(std::pair(parent, value), number);
  return number;
}

void RuledRanking::RemoveIfEmpty(int32_t number) {
  while (number != 0 && contests_[number].tournament.empty()) {
    Contest& contest = contests_[number];
    const int32_t parent = contest.parent;
    contests_[parent].tournament.RemovePlace(contest.place);
    inside_.erase(std::pair(parent, contest.value));
    int32_t* of_value = &attributes_[contest.depth - 1].first_contest[contest.value];
    while (*of_value != number) of_value = &contests_[*of_value].next;
    *of_value = contest.next;
    contest = {};
    free_contests_.push_back(number);
    number = parent;
  }
}

// How many tasks of the group the slot's instance has, for the values that it counts for. All
// instances count, also those that could not take the task.
void RuledRanking::CountGroup(int32_t slot) {
  const Instance* instance = InstanceOf(slot);
  const int64_t now = instance == nullptr ? 0 : TasksOf(group_number_, instance->groups);
  const auto counted = group_tasks_.find(slot);
  const int64_t before = counted == group_tasks_.end() ? 0 : counted->second.tasks;
  if (now == before) return;
  if (counted == group_tasks_.end()) {
    const auto added = group_tasks_.emplace(slot, GroupTasks{now, ValuesOf(*instance)}).first;
    AddTasks(added->second.values, now);
    return;
  }
  AddTasks(counted->second.values, now - before);
  counted->second.tasks = now;
  if (now == 0) group_tasks_.erase(counted);
}

void RuledRanking::AddTasks(const std::vector<int32_t>& values, int64_t tasks) {
  for (size_t i = 0; i < attributes_.size(); ++i) {
    attributes_[i].tasks[values[i]] += tasks;
    int32_t number = attributes_[i].first_contest[values[i]];
    while (number != kNone) {
      const Contest& contest = contests_[number];
      Enter(contest.parent, contest.place, contest.tournament.best());
      number = contest.next;
    }
  }
}

void RuledRanking::Enter(int32_t number, int32_t place, Winner winner) {
  while (number != kNone) {
    Contest& contest = contests_[number];
    if (!contest.tournament.Set(place, winner, Order{*this, contest.depth})) return;
    winner = contest.tournament.best();
    place = contest.place;
    number = contest.parent;
  }
}

// The contest of this depth that the entry is in.
int32_t RuledRanking::ContestOf(int32_t entry, int32_t depth) const {
  int32_t contest = entries_[entry].contest;
  while (contests_[contest].depth > depth) contest = contests_[contest].parent;
  return contest;
}

int RuledRanking::Order::Compare(int32_t a, int32_t b) const {
  const int64_t stride = ranking.keys_per_entry_;
  const int64_t* keys_of_a = ranking.keys_.data() + a * stride;
  const int64_t* keys_of_b = ranking.keys_.data() + b * stride;
  for (const Term& term : ranking.terms_) {
    int64_t of_a = 0;
    int64_t of_b = 0;
    if (term.kind == Term::Kind::kTasksOfValue) {
      if (term.position <= depth) continue;
      const Attribute& attribute = ranking.attributes_[term.position - 1];
      of_a = attribute.tasks[ranking.contests_[ranking.ContestOf(a, term.position)].value];
      of_b = attribute.tasks[ranking.contests_[ranking.ContestOf(b, term.position)].value];
    } else {
      of_a = keys_of_a[term.position];
      of_b = keys_of_b[term.position];
    }
    if (of_a != of_b) return of_a < of_b ? -1 : 1;
  }
  return 0;
}

bool RuledRanking::Order::Precedes(int32_t a, int32_t b) const {
  const Entry& of_a = ranking.entries_[a];
  const Entry& of_b = ranking.entries_[b];
  if (of_a.id_prefix != of_b.id_prefix) return of_a.id_prefix < of_b.id_prefix;
  const Instance* in_a = ranking.InstanceOf(of_a.slot);
  const Instance* in_b = ranking.InstanceOf(of_b.slot);
  // One that is gone is on its way out: where it stands until then does not matter.
  if (in_a == nullptr || in_b == nullptr) return in_b == nullptr;
  return in_a->id < in_b->id;
}

bool RuledRanking::Draws(const Instance& best) const {
  if (chooses_at_random_) return true;
  if (!follows_policy_ || !inventory_.gpu_order.draws()) return false;
  return demand_.gpu.kind != GpuKind::kNone || RegisteredGpus(best) > 0;
}

std::optional<Spot> RuledRanking::Best(uint64_t seed) const {
  const Winner best = contests_.front().tournament.best();
  if (best.contestant == Winner::kNobody) return std::nullopt;
  int32_t chosen = best.contestant;
  if (Draws(*InstanceOf(entries_[chosen].slot))) {
    auto number = static_cast<int32_t>(model::Rng(seed).Below(static_cast<uint64_t>(best.equals)));
    int32_t contest = 0;
    for (int32_t depth = 0; depth <= static_cast<int32_t>(attributes_.size()); ++depth) {
      const auto equal = contests_[contest].tournament.PickEqual(number, Order{*this, depth});
      chosen = equal.winner.contestant;
      number = equal.number;
      if (depth < static_cast<int32_t>(attributes_.size())) contest = ContestOf(chosen, depth + 1);
    }
  }
  const Entry& entry = entries_[chosen];
  const bool as_the_policy_says = follows_policy_ && !packs_gpus_;
  if (!as_the_policy_says) return Spot{.slot = entry.slot, .gpus = {.shared = entry.gpu}};
  return Spot{
      .slot = entry.slot,
      .gpus = inventory_.gpu_order.Choose(*InstanceOf(entry.slot), shape_.id(), demand_, seed)};
}

int64_t RuledRanking::CountBytes() const {
  const auto of = [](const auto& values) {
    return static_cast<int64_t>(values.capacity() * sizeof(values[0]));
  };
  int64_t bytes = of(entry_of_slot_) + of(entries_) + of(free_entries_) + of(keys_) + of(contests_);
  for (const Contest& contest : contests_) {
    bytes += contest.tournament.bytes();
  }
  for (const Attribute& attribute : attributes_) {
    bytes += of(attribute.tasks) + of(attribute.first_contest) +
             static_cast<int64_t>(attribute.values.capacity() * 2 * sizeof(int64_t));
  }
  bytes += static_cast<int64_t>(inside_.capacity() * 3 * sizeof(int32_t));
  return bytes + static_cast<int64_t>(group_tasks_.capacity() * 2 * sizeof(GroupTasks));
}

std::vector<std::string> RuledRanking::FindViolations() const {
  std::vector<std::string> violations;
  const RuledRanking anew(demand_, rules_, group_, inventory_);
  for (const auto& instance : inventory_.instances) {
    if (instance == nullptr) continue;
    const auto entry_in = [&](const RuledRanking& ranking) {
      const int32_t number = static_cast<size_t>(instance->slot) < ranking.entry_of_slot_.size()
                                 ? ranking.entry_of_slot_[instance->slot]
                                 : kNone;
      return number == kNone || !ranking.entries_[number].in ? kNone : number;
    };
    const int32_t is = entry_in(*this);
    const int32_t should = entry_in(anew);
    const auto complain = [&](const std::string& what) {
      violations.push_back("a ranking has instance " + instance->id.value + " " + what);
    };
    if ((is == kNone) != (should == kNone)) {
      complain(is == kNone ? "out, and it would do" : "in, and it would not do");
    } else if (is != kNone) {
      for (const Term& term : terms_) {
        if (term.kind == Term::Kind::kTasksOfValue) continue;
        if (keys_[is * keys_per_entry_ + term.position] !=
            anew.keys_[should * keys_per_entry_ + term.position]) {
          complain("in another place than it has");
        }
      }
      if (entries_[is].gpu != anew.entries_[should].gpu) complain("with another GPU");
    }
  }
  const auto best = [](const RuledRanking& ranking) {
    return ranking.contests_.front().tournament.best();
  };
  if (best(*this).equals != best(anew).equals) violations.push_back("a ranking counts others");
  return violations;
}

}  // namespace berth::placement

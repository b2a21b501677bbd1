#include "placement/survey.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "placement/instance_query.h"

namespace berth::placement {
namespace {

using Kind = GpuDemand::Kind;

constexpr int64_t kMillion = 1'000'000;
// Docker starts no container with less.
constexpr int64_t kLeastMemoryMib = 6;

// They stand apart, and each would be waited for: so many before its turn one is sent for.
constexpr size_t kAhead = 12;

void Prefetch(const Instance* instance) {
  if (instance == nullptr) return;
  __builtin_prefetch(&instance->id_prefix);
  __builtin_prefetch(&instance->mps_clients_max);
  __builtin_prefetch(&instance->active);
  __builtin_prefetch(&instance->capability_class);
  __builtin_prefetch(&instance->gpu_figures);
}

int64_t GapOf(const Lack& lack) {
  return lack.dimension == Dimension::kPorts ? 0 : lack.asked - lack.had;
}

// What tells misses of one verdict, dimension and gap apart, but for the texts.
auto ParticularsOf(const Lack& lack) {
  return std::tuple(lack.asked, lack.total, lack.protocol, lack.query,
                    lack.dimension == Dimension::kAttribute && lack.gpu != nullptr);
}

int CompareTexts(const Lack& a, const Lack& b) {
  if (a.attribute == b.attribute) return 0;
  if (a.attribute == nullptr || b.attribute == nullptr) return a.attribute == nullptr ? -1 : 1;
  return a.attribute->compare(*b.attribute);
}

// Below zero: `a` is closer. Zero: equal shortfalls.
int Compare(const Miss& a, const Miss& b) {
  if (a.verdict != b.verdict) return a.verdict < b.verdict ? -1 : 1;
  if (a.lack.dimension != b.lack.dimension) return a.lack.dimension > b.lack.dimension ? -1 : 1;
  const int64_t gap_of_a = GapOf(a.lack);
  const int64_t gap_of_b = GapOf(b.lack);
  if (gap_of_a != gap_of_b) return gap_of_a < gap_of_b ? -1 : 1;
  const auto of_a = ParticularsOf(a.lack);
  const auto of_b = ParticularsOf(b.lack);
  if (of_a != of_b) return of_a < of_b ? -1 : 1;
  return CompareTexts(a.lack, b.lack);
}

int64_t PartsPerMillion(int64_t part, int64_t whole) {
  return whole <= 0 ? 0
                    : static_cast<int64_t>(static_cast<double>(part) * kMillion /
                                           static_cast<double>(whole));
}

// All that is lacking in room, and not only what comes first.
struct RoomLacks {
  std::optional<Lack> cpu = {};
  std::optional<Lack> memory = {};
  std::optional<Lack> ports = {};
  std::optional<Lack> gpu = {};

  int64_t count() const {
    return int64_t{cpu.has_value()} + memory.has_value() + ports.has_value() + gpu.has_value();
  }
  const std::optional<Lack>& first() const {
    if (cpu) return cpu;
    if (memory) return memory;
    return ports ? ports : gpu;
  }
  int64_t gap_ppm() const {
    int64_t gap = 0;
    for (const auto* lack : {&cpu, &memory, &gpu}) {
      if (*lack) gap += PartsPerMillion(GapOf(**lack), (*lack)->asked);
    }
    return gap;
  }
};

class Surveyor {
 public:
  Surveyor(const Demand& demand, const Rules& rules, int32_t group, const Inventory::Impl& impl)
      : demand_(demand),
        rules_(rules),
        group_(group),
        impl_(impl),
        class_decides_(std::all_of(demand.required_attributes.begin(),
                                   demand.required_attributes.end(), IsCapability)) {
    survey_.but_for_query.resize(rules.member_of.size());
    matches_.resize(rules.member_of.size());
  }

  void Look(const Instance& instance);
  Survey Take() { return std::move(survey_); }

 private:
  // As FindMissingAttribute; once per class where that decides.
  const std::string* MissingAttribute(const Instance& instance);
  void NoteSizes(const Instance& instance);
  void NoteGaps(const Instance& instance, int64_t gap_mib);
  bool Matches(size_t query, const Instance& instance);
  std::optional<Lack> Unsatisfied(const Instance& instance) {
    return FindUnsatisfied(rules_, group_, instance,
                           [&](size_t query) { return Matches(query, instance); });
  }
  bool ConstraintsHold(const Instance& instance) { return !Unsatisfied(instance); }

  // Each notes the instance where it is one step from a fit.
  void NoteMachine(const Instance& instance, Dimension lacking);
  void NoteConstraint(const Instance& instance);
  void NoteRoom(const Instance& instance, const RoomLacks& room);
  void NoteShrink(const Instance& instance, const RoomLacks& room);
  void NoteGpus(const Instance& instance, const RoomLacks& room);
  void NoteBusy(const Instance& instance, const RoomLacks& room);

  static void KeepFirst(const Instance*& kept, const Instance& instance) {
    if (kept == nullptr || Precedes(instance, *kept)) kept = &instance;
  }

  const Demand& demand_;
  const Rules& rules_;
  const int32_t group_;
  const Inventory::Impl& impl_;
  const bool class_decides_;
  // In the order of Rules::member_of: the answer for all instances, once one is asked about.
  std::vector<std::optional<AttributeIndex::Matches>> matches_ = {};
  absl::flat_hash_map<const CapabilityClass*, const std::string*> missing_in_ = {};
  const CapabilityClass* class_seen_ = nullptr;  // the latest
  const std::string* missing_ = nullptr;         // there
  Survey survey_;
};

const std::string* Surveyor::MissingAttribute(const Instance& instance) {
  if (!class_decides_) return FindMissingAttribute(demand_, instance);
  const CapabilityClass* capability_class = instance.capability_class;
  if (capability_class != class_seen_) {
    const auto [entry, is_new] = missing_in_.try_emplace(capability_class, nullptr);
    if (is_new) entry->second = FindMissingAttribute(demand_, instance);
    class_seen_ = capability_class;
    missing_ = entry->second;
  }
  return missing_;
}

bool Surveyor::Matches(size_t query, const Instance& instance) {
  const Query& asked = *rules_.member_of[query];
  std::optional<AttributeIndex::Matches>& matches = matches_[query];
  if (!matches) matches = impl_.attributes.Find(asked);
  if (matches->surely.Contains(instance.slot)) return true;
  return matches->perhaps.Contains(instance.slot) &&
         placement::Matches(instance, asked, impl_.groups);
}

void Surveyor::NoteSizes(const Instance& instance) {
  survey_.most_gpus = std::max(survey_.most_gpus, instance.gpu_figures.registered);
  survey_.largest_gpu_mib = std::max(survey_.largest_gpu_mib, instance.gpu_figures.largest_mib);
}

// Requires: the instance lacks GPU memory.
void Surveyor::NoteGaps(const Instance& instance, int64_t gap_mib) {
  survey_.free_gpu_memory_mib += instance.gpu_figures.free_memory_mib;
  if (gap_mib == 0 || gap_mib < survey_.largest_gap_mib) return;
  if (gap_mib > survey_.largest_gap_mib) survey_.largest_gap = nullptr;
  survey_.largest_gap_mib = gap_mib;
  KeepFirst(survey_.largest_gap, instance);
}

void Surveyor::Look(const Instance& instance) {
  ++survey_.instances;
  NoteSizes(instance);
  const std::optional<Lack> machine = FindMachineLack(demand_, instance);
  const std::string* missing = MissingAttribute(instance);
  const bool attributes_hold = missing == nullptr;
  const RoomLacks room{.cpu = FindCpuLack(demand_, instance),
                       .memory = FindMemoryLack(demand_, instance),
                       .ports = FindPortLack(demand_, instance),
                       .gpu = FindGpuLack(demand_, instance)};
  std::optional<Lack> first = machine;
  if (!first && !attributes_hold) first = LackOfAttribute(*missing, instance);
  if (!first) first = room.first();
  const bool constraint_decides = !first;
  const bool may_hold = attributes_hold && CouldHoldWhenEmpty(demand_, instance);
  // Constraints may cost most: they are looked at where the answer depends on them.
  std::optional<Lack> unsatisfied;
  if (constraint_decides || (may_hold && instance.active)) unsatisfied = Unsatisfied(instance);
  if (constraint_decides) first = unsatisfied;
  if (!first) {
    ++survey_.fitting;
    return;
  }

  const Miss miss{
      .instance = &instance,
      .lack = *first,
      .verdict = VerdictOn(demand_, instance,
                           {.attributes_hold = attributes_hold, .constraints_hold = !unsatisfied})};
  ++survey_.turned_away_by[static_cast<int>(first->dimension)];
  ++survey_.verdicts[static_cast<int>(miss.verdict)];
  survey_.first.Add(miss);
  survey_.closest.Add(miss);
  if (first->dimension == Dimension::kGpuMemory) NoteGaps(instance, first->had);

  if (!attributes_hold) return;
  if (machine && room.count() == 0) NoteMachine(instance, machine->dimension);
  if (machine) return;
  if (constraint_decides) return NoteConstraint(instance);
  NoteRoom(instance, room);
  if (miss.verdict == Verdict::kNotNow) NoteBusy(instance, room);
}

void Surveyor::NoteMachine(const Instance& instance, Dimension lacking) {
  const bool by_status = lacking == Dimension::kStatus && instance.connected;
  if (!by_status && lacking != Dimension::kAgent) return;
  const Instance*& kept = by_status ? survey_.but_for_status : survey_.but_for_agent;
  if (kept != nullptr && !Precedes(instance, *kept)) return;
  if (ConstraintsHold(instance)) kept = &instance;
}

void Surveyor::NoteConstraint(const Instance& instance) {
  int64_t failing = 0;
  const Instance** kept = nullptr;
  if (rules_.distinct_instance && TasksOf(group_, instance.groups) > 0) {
    ++failing;
    kept = &survey_.but_for_distinct;
  }
  for (size_t i = 0; i < rules_.member_of.size() && failing < 2; ++i) {
    if (Matches(i, instance)) continue;
    ++failing;
    kept = &survey_.but_for_query[i];
  }
  if (failing == 1) KeepFirst(*kept, instance);
}

void Surveyor::NoteRoom(const Instance& instance, const RoomLacks& room) {
  if (room.ports) {
    const bool first =
        survey_.but_for_ports == nullptr || Precedes(instance, *survey_.but_for_ports);
    if (room.count() == 1 && first && ConstraintsHold(instance)) survey_.but_for_ports = &instance;
    return;
  }
  NoteShrink(instance, room);
  if (room.gpu && room.count() == 1) NoteGpus(instance, room);
}

void Surveyor::NoteShrink(const Instance& instance, const RoomLacks& room) {
  Survey::Shrink shrink{.instance = &instance};
  uint32_t set = 0;
  if (room.cpu) {
    shrink.cpu_units = room.cpu->had;
    if (shrink.cpu_units < 1) return;
    set |= kShrinkCpu;
    shrink.loss_ppm += PartsPerMillion(GapOf(*room.cpu), room.cpu->asked);
  }
  if (room.memory) {
    shrink.memory_mib = room.memory->had;
    if (shrink.memory_mib < kLeastMemoryMib) return;
    set |= kShrinkMemory;
    shrink.loss_ppm += PartsPerMillion(GapOf(*room.memory), room.memory->asked);
  }
  if (room.gpu) {
    shrink.gpu = LargestGpuShare(demand_.gpu, instance);
    if (shrink.gpu < 1) return;
    set |= kShrinkGpu;
    const bool shares = demand_.gpu.kind == Kind::kShared;
    const int64_t asked = shares ? demand_.gpu.memory_mib : demand_.gpu.count;
    shrink.loss_ppm += PartsPerMillion(asked - shrink.gpu, asked);
  }
  Survey::Shrink& kept = survey_.but_for_size[set];
  const bool better = kept.instance == nullptr || shrink.loss_ppm < kept.loss_ppm ||
                      (shrink.loss_ppm == kept.loss_ppm && Precedes(instance, *kept.instance));
  if (better && ConstraintsHold(instance)) kept = shrink;
}

void Surveyor::NoteGpus(const Instance& instance, const RoomLacks& room) {
  const bool shares = demand_.gpu.kind == Kind::kShared;
  if (shares && instance.mps_clients_max < demand_.gpu.containers) return;
  const int64_t gpus = shares ? 1 : GapOf(*room.gpu);
  Survey::MoreGpus& kept = survey_.but_for_gpus;
  const bool better = kept.instance == nullptr || gpus < kept.gpus ||
                      (gpus == kept.gpus && Precedes(instance, *kept.instance));
  if (better && ConstraintsHold(instance)) kept = {.instance = &instance, .gpus = gpus};
}

void Surveyor::NoteBusy(const Instance& instance, const RoomLacks& room) {
  const Survey::Busy busy{.instance = &instance, .lacks = room.count(), .gap_ppm = room.gap_ppm()};
  const auto closer = [](const Survey::Busy& a, const Survey::Busy& b) {
    if (a.lacks != b.lacks) return a.lacks < b.lacks;
    if (a.gap_ppm != b.gap_ppm) return a.gap_ppm < b.gap_ppm;
    return Precedes(*a.instance, *b.instance);
  };
  std::vector<Survey::Busy>& kept = survey_.busy;
  const bool full = static_cast<int64_t>(kept.size()) == kRemedyInstancesMax;
  if (full && !closer(busy, kept.back())) return;
  if (full) kept.pop_back();
  kept.insert(std::upper_bound(kept.begin(), kept.end(), busy, closer), busy);
}

}  // namespace

bool Precedes(const Instance& a, const Instance& b) {
  return a.id_prefix != b.id_prefix ? a.id_prefix < b.id_prefix : a.id < b.id;
}

void ClosestGroups::Add(const Miss& miss) {
  const bool full = static_cast<int64_t>(groups_.size()) == kShortfallGroupsMax;
  if (full && Compare(groups_.back().first, miss) < 0) return;
  const auto place = std::lower_bound(
      groups_.begin(), groups_.end(), miss,
      [](const Group& group, const Miss& other) { return Compare(group.first, other) < 0; });
  if (place != groups_.end() && Compare(place->first, miss) == 0) {
    ++place->instances;
    auto& examples = place->examples;
    const bool enough = static_cast<int64_t>(examples.size()) == kGroupInstancesMax;
    if (enough && !Precedes(*miss.instance, *examples.back())) return;
    if (enough) examples.pop_back();
    examples.insert(
        std::upper_bound(examples.begin(), examples.end(), miss.instance,
                         [](const Instance* a, const Instance* b) { return Precedes(*a, *b); }),
        miss.instance);
    if (examples.front() == miss.instance) place->first = miss;
    return;
  }
  const auto offset = place - groups_.begin();
  if (full) groups_.pop_back();
  groups_.insert(groups_.begin() + offset,
                 {.first = miss, .instances = 1, .examples = {miss.instance}});
}

namespace {

bool HasLowerId(const Miss& a, const Miss& b) { return Precedes(*a.instance, *b.instance); }

}  // namespace

void FirstById::Add(const Miss& miss) {
  if (static_cast<int64_t>(heap_.size()) == kTurnedAwayMax) {
    if (!HasLowerId(miss, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), HasLowerId);
    heap_.pop_back();
  }
  heap_.push_back(miss);
  std::push_heap(heap_.begin(), heap_.end(), HasLowerId);
}

std::vector<Miss> FirstById::Take() {
  std::sort_heap(heap_.begin(), heap_.end(), HasLowerId);
  return std::move(heap_);
}

int64_t LargestGpuShare(const GpuDemand& demand, const Instance& instance) {
  if (demand.kind == Kind::kDedicated) return IdleGpus(instance);
  if (demand.kind != Kind::kShared) return 0;
  const GpuFigures& figures = instance.gpu_figures;
  if (figures.gap_clients >= demand.containers) return figures.largest_gap_mib;
  int64_t largest = 0;
  for (const Device& device : instance.devices) {
    if (!device.registered || FreeMpsClients(instance, device) < demand.containers) continue;
    largest = std::max(largest, device.remaining_memory_mib());
  }
  return largest;
}

Survey Look(const Demand& demand, const Rules& rules, int32_t group, const Inventory::Impl& impl) {
  Surveyor surveyor(demand, rules, group, impl);
  const auto& instances = impl.instances;
  for (size_t slot = 0; slot < instances.size(); ++slot) {
    if (slot + kAhead < instances.size()) Prefetch(instances[slot + kAhead].get());
    if (instances[slot] != nullptr) surveyor.Look(*instances[slot]);
  }
  return surveyor.Take();
}

}  // namespace berth::placement

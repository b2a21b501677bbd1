#include "placement/fleet/room_index.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "placement/fleet/floor_divide.h"
#include "placement/vector_clones.h"

namespace berth::placement {
namespace {

using Word = ThresholdSets::Word;
// Four words wherever they stand.
using FourWords = Word __attribute__((vector_size(32), aligned(8), may_alias));
static_assert(ThresholdSets::kWordsMultiple * sizeof(Word) == sizeof(FourWords));

inline const FourWords& At(const Word* words, size_t i) {
  return *reinterpret_cast<const FourWords*>(words + i);
}

inline bool IsAnySet(const FourWords& words) {
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

// What is in all three; whether there is any.
BERTH_VECTOR_CLONES bool Intersect(const Word* a, const Word* b, const Word* c, size_t count,
                                   Word* all) {
  FourWords any = {};
  for (size_t i = 0; i < count; i += 4) {
    const FourWords both = At(a, i) & At(b, i) & At(c, i);
    *reinterpret_cast<FourWords*>(all + i) = both;
    any |= both;
  }
  return IsAnySet(any);
}

BERTH_VECTOR_CLONES bool Meet(const Word* a, const Word* b, size_t count) {
  FourWords any = {};
  for (size_t i = 0; i < count; i += 4) any |= At(a, i) & At(b, i);
  return IsAnySet(any);
}

// The last of the sets, of which each contains those after it, that meets `words`; probably near
// `guess`. Requires: the first does.
int32_t FindLastMeeting(const ThresholdSets& sets, const Word* words, int32_t guess) {
  const auto meets = [&](int32_t i) { return Meet(words, sets.set(i), sets.words()); };
  int32_t met = 0;
  int32_t missed = sets.thresholds();
  int32_t at = guess;
  for (int32_t step = 1; met < at && at < missed; step *= 2) {
    const bool does = meets(at);
    (does ? met : missed) = at;
    at = does ? at + step : at - step;
    if (step == 1 && missed - met == 1) return met;
  }
  while (missed - met > 1) {
    const int32_t middle = met + (missed - met) / 2;
    (meets(middle) ? met : missed) = middle;
  }
  return met;
}

// Calls `visit(slot) -> bool` for those in both sets, the lowest first, until it says true.
template <class Visit>
void ForEachCommon(const Word* a, const Word* b, size_t count, Visit visit) {
  for (size_t four = 0; four < count; four += 4) {
    if (!IsAnySet(At(a, four) & At(b, four))) continue;
    for (size_t i = four; i < four + 4; ++i) {
      for (Word bits = a[i] & b[i]; bits != 0; bits &= bits - 1) {
        if (visit(static_cast<int32_t>(i * 64) + std::countr_zero(bits))) return;
      }
    }
  }
}

}  // namespace

RoomIndex::RoomIndex(int64_t step) : step_(step) {
  merits_.Add(std::numeric_limits<int64_t>::min());  // all
  for (int64_t i = -kSteps; i <= kSteps; ++i) merits_.Add(i * step);
}

void RoomIndex::Add(ShapeId id, const TaskShape& shape) {
  if (static_cast<size_t>(id) >= queries_.size()) queries_.resize(id + 1);
  queries_[id] = {.shape = shape};
  memory_.Add(shape.memory);
  cpu_.Add(shape.cpu);
  if (shape.gpu == GpuNeed::kShared) largest_left_.Add(shape.units);
  if (shape.gpu == GpuNeed::kWhole) idle_devices_.Add(shape.devices);
  ++version_;
}

void RoomIndex::Remove(ShapeId id) {
  const TaskShape& shape = queries_[id].shape;
  memory_.Remove(shape.memory);
  cpu_.Remove(shape.cpu);
  if (shape.gpu == GpuNeed::kShared) largest_left_.Remove(shape.units);
  if (shape.gpu == GpuNeed::kWhole) idle_devices_.Remove(shape.devices);
  ++version_;
}

void RoomIndex::Grow(int32_t slot) {
  // In larger and larger steps, since each step copies all sets.
  const int32_t slots = std::max(slot + 1, static_cast<int32_t>(model_of_.size()) * 2);
  for (ThresholdSets* sets : {&memory_, &cpu_, &largest_left_, &idle_devices_, &merits_}) {
    sets->Resize(slots);
  }
  model_of_.resize(slots);
  for (std::vector<Word>& model : models_) {
    if (!model.empty()) model.resize(memory_.words());
  }
  room_.resize(memory_.words());
  ++version_;
}

void RoomIndex::Set(int32_t slot, const NodeState& node, int64_t key) {
  if (static_cast<size_t>(slot) >= model_of_.size()) Grow(slot);
  memory_.Set(slot, OpenMemory(node));
  cpu_.Set(slot, node.cpu_left);
  largest_left_.Set(slot, node.largest_left);
  idle_devices_.Set(slot, node.idle_devices);
  merits_.Set(slot, -key);
  std::vector<Word>& model = models_[node.model];
  if (model.empty()) model.resize(memory_.words());
  const size_t word = static_cast<size_t>(slot) / 64;
  const Word bit = Word{1} << slot % 64;
  if (model_of_[slot] != node.model && !models_[model_of_[slot]].empty()) {
    models_[model_of_[slot]][word] &= ~bit;
  }
  model_of_[slot] = node.model;
  model[word] |= bit;
}

void RoomIndex::FindSets(Query& query) const {
  const auto set_of = [](const ThresholdSets& sets, int64_t amount) {
    return sets.set(sets.LastReachedBy(amount));
  };
  const TaskShape& shape = query.shape;
  query.version = version_;
  query.memory = set_of(memory_, shape.memory);
  query.cpu = set_of(cpu_, shape.cpu);
  if (shape.gpu == GpuNeed::kShared) query.gpu = set_of(largest_left_, shape.units);
  if (shape.gpu == GpuNeed::kWhole) query.gpu = set_of(idle_devices_, shape.devices);
}

bool RoomIndex::FindRoom(const Query& query) {
  if (room_.empty()) return false;
  const Word* gpu = query.gpu != nullptr ? query.gpu : query.cpu;
  const bool any = Intersect(query.memory, query.cpu, gpu, room_.size(), room_.data());
  if (!any || query.shape.models == kAnyModel) return any;
  for (int model = 0; model < kModelsMax; ++model) {
    if (models_[model].empty() || query.shape.Accepts(model)) continue;
    for (size_t i = 0; i < room_.size(); ++i) room_[i] &= ~models_[model][i];
  }
  return std::any_of(room_.begin(), room_.end(), [](Word word) { return word != 0; });
}

std::optional<RoomIndex::Best> RoomIndex::Find(ShapeId id, int64_t offset) {
  Query& query = queries_[id];
  if (query.version != version_) FindSets(query);
  if (!FindRoom(query)) return std::nullopt;
  // The best key of all lies within the last set of merits that any is in. Equal scores reach at
  // most into the set before.
  const int32_t last = FindLastMeeting(merits_, room_.data(), query.merits);
  query.merits = last;
  int64_t merit = std::numeric_limits<int64_t>::min();
  ForEachCommon(room_.data(), merits_.set(last), room_.size(), [&](int32_t slot) {
    merit = std::max(merit, merits_.Get(slot));
    return false;
  });
  Best best = {.slot = -1, .score = FloorDivide(offset + merit, step_)};
  const int64_t least_merit = best.score * step_ - offset;
  const int32_t with_equals = merits_.LastReachedBy(least_merit);
  ForEachCommon(room_.data(), merits_.set(std::min(last, with_equals)), room_.size(),
                [&](int32_t slot) {
                  if (merits_.Get(slot) < least_merit) return false;
                  best.slot = slot;
                  return true;
                });
  return best;
}

int64_t RoomIndex::bytes() const {
  int64_t bytes = static_cast<int64_t>(model_of_.capacity() + queries_.capacity() * sizeof(Query));
  for (const std::vector<Word>& model : models_) {
    bytes += static_cast<int64_t>(model.capacity() * sizeof(Word));
  }
  for (const ThresholdSets* sets : {&memory_, &cpu_, &largest_left_, &idle_devices_, &merits_}) {
    bytes += sets->bytes();
  }
  return bytes;
}

}  // namespace berth::placement

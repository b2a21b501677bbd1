#include "placement/fleet/room_index.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "placement/fleet/floor_divide.h"
#include "placement/vector_clones.h"

namespace berth::placement {

RoomIndex::RoomIndex(int64_t step) : step_(step) {
  merits_.Add(std::numeric_limits<int64_t>::min());  // all
  for (int64_t i = -kMerits; i <= kMerits; ++i) merits_.Add(i * kMeritSteps * step);
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
  ++version_;
}

BERTH_VECTOR_CLONES void RoomIndex::Set(int32_t slot, const NodeState& node, int64_t key) {
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
  if (word >= room_.size()) room_.resize(word + 1);
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
  query.gpu = query.cpu;
  query.gpu_stride = cpu_.stride();
  if (shape.gpu == GpuNeed::kShared) {
    query.gpu = set_of(largest_left_, shape.units);
    query.gpu_stride = largest_left_.stride();
  } else if (shape.gpu == GpuNeed::kWhole) {
    query.gpu = set_of(idle_devices_, shape.devices);
    query.gpu_stride = idle_devices_.stride();
  }
}

void RoomIndex::FindAccepted(const TaskShape& shape) {
  accepted_.assign(room_.size(), 0);
  for (int model = 0; model < kModelsMax; ++model) {
    if (models_[model].empty() || !shape.Accepts(model)) continue;
    for (size_t i = 0; i < accepted_.size(); ++i) accepted_[i] |= models_[model][i];
  }
}

std::optional<RoomIndex::Met> RoomIndex::FindRoom(const Query& query) {
  const bool any_model = query.shape.models == kAnyModel;
  if (!any_model) FindAccepted(query.shape);
  const Word* memory = query.memory;
  const Word* cpu = query.cpu;
  const Word* gpu = query.gpu;
  const Word* accepted = any_model ? nullptr : accepted_.data();
  const Word* merits = merits_.set(query.merits);
  const size_t memory_stride = memory_.stride();
  const size_t cpu_stride = cpu_.stride();
  const size_t gpu_stride = query.gpu_stride;
  const size_t merits_stride = merits_.stride();
  const int32_t merits_count = merits_.thresholds();
  int32_t met = query.merits - 1;
  size_t word = 0;
  Word any = 0;
  for (size_t i = 0; i < room_.size(); ++i) {
    Word room = *memory & *cpu & *gpu;
    if (accepted != nullptr) room &= accepted[i];
    room_[i] = room;
    any |= room;
    while (met + 1 < merits_count && (room & *merits) != 0) {
      ++met;
      ++merits;
      word = i;
    }
    memory += memory_stride;
    cpu += cpu_stride;
    gpu += gpu_stride;
    merits += merits_stride;
  }
  if (any == 0) return std::nullopt;
  if (met < query.merits) return FindMerits();
  return Met{.merits = met, .word = word};
}

// All nodes are in the first set.
RoomIndex::Met RoomIndex::FindMerits() const {
  Met met;
  const Word* next = merits_.set(1);
  for (size_t i = 0; i < room_.size(); ++i, next += merits_.stride()) {
    while (met.merits + 1 < merits_.thresholds() && (room_[i] & *next) != 0) {
      met = {.merits = met.merits + 1, .word = i};
      ++next;
    }
  }
  return met;
}

template <class Visit>
void RoomIndex::ForEachWithRoom(Met from, Visit visit) const {
  const size_t stride = merits_.stride();
  const Word* set = merits_.set(from.merits) + from.word * stride;
  for (size_t i = from.word; i < room_.size(); ++i, set += stride) {
    for (Word bits = room_[i] & *set; bits != 0; bits &= bits - 1) {
      if (visit(static_cast<int32_t>(i * 64) + std::countr_zero(bits))) return;
    }
  }
}

std::optional<RoomIndex::Best> RoomIndex::Find(ShapeId id, int64_t offset) {
  Query& query = queries_[id];
  if (query.version != version_) FindSets(query);
  std::optional<Met> met = FindRoom(query);
  if (!met) return std::nullopt;
  query.merits = std::max(met->merits - 1, 0);
  // The best key of all lies within that set. Equal scores may reach into those before.
  int64_t merit = std::numeric_limits<int64_t>::min();
  ForEachWithRoom(*met, [&](int32_t slot) {
    merit = std::max(merit, merits_.Get(slot));
    return false;
  });
  Best best = {.slot = -1, .score = FloorDivide(offset + merit, step_)};
  const int64_t least_merit = best.score * step_ - offset;
  while (merits_.threshold(met->merits) > least_merit) *met = {.merits = met->merits - 1};
  ForEachWithRoom(*met, [&](int32_t slot) {
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

#include "placement/fleet/fleet.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"

namespace berth::placement {
namespace {

// Calls `visit(number)` for each device of the set.
template <class Visit>
void ForEachDevice(DeviceSet devices, Visit visit) {
  for (; devices != 0; devices &= devices - 1) visit(std::countr_zero(devices));
}

// Under which bit of NodeState::kinds a task that got these devices is counted; 0 for those that
// share, none without a GPU.
std::optional<int> KindOf(const TaskShape& shape, DeviceSet devices) {
  if (shape.gpu == GpuNeed::kNone) return std::nullopt;
  return shape.gpu == GpuNeed::kShared ? 0 : std::popcount(devices);
}

template <class T>
int64_t BytesOf(const std::vector<T>& values) {
  return static_cast<int64_t>(values.capacity() * sizeof(T));
}

}  // namespace

Fleet::Fleet(std::unique_ptr<GpuPolicy> policy, int64_t cache_bytes_max)
    : policy_(std::move(policy)),
      is_costly_(policy_->is_costly()),
      index_(policy_->keyed() == nullptr ? nullptr
                                         : std::make_unique<RoomIndex>(policy_->keyed()->step())),
      cache_bytes_max_(cache_bytes_max) {}

// --- nodes

int32_t Fleet::Add(const NodeResources& resources) {
  BERTH_CHECK(resources.model >= 0 && resources.model < kModelsMax);
  int32_t slot = slots();
  if (free_slots_.empty()) {
    nodes_.emplace_back();
    resources_.emplace_back();
    rooms_.emplace_back();
    devices_.resize(devices_.size() + devices_per_slot_);
    words_.resize(words_.size() + devices_per_slot_);
    kind_counts_.resize(kind_counts_.size() + devices_per_slot_ + 1);
    log_.Grow(slots());
  } else {
    std::pop_heap(free_slots_.begin(), free_slots_.end(), std::greater<>());
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  nodes_[slot] = {.present = true, .eligible = true};
  resources_[slot] = {};
  Change(slot, resources);
  return slot;
}

void Fleet::Change(int32_t slot, const NodeResources& resources) {
  const auto count = static_cast<int>(resources.device_totals.size());
  BERTH_CHECK(nodes_[slot].present && count <= kDevicesMax);
  BERTH_CHECK(resources.model >= 0 && resources.model < kModelsMax);
  if (count > devices_per_slot_) GrowDevices(count);

  NodeState& node = nodes_[slot];
  NodeResources& before = resources_[slot];
  node.cpu_total = resources.cpu;
  node.cpu_left += resources.cpu - before.cpu;
  node.memory_left += resources.memory - before.memory;
  node.tasks_left += resources.tasks_max - before.tasks_max;
  node.model = static_cast<uint8_t>(resources.model);
  for (int i = count; i < node.devices; ++i) BERTH_CHECK(Devices(slot)[i].IsIdle());
  const int kept = std::min<int>(count, node.devices);
  node.devices = static_cast<uint8_t>(count);
  const std::span<DeviceState> devices = Devices(slot);
  for (int i = 0; i < count; ++i) {
    const int32_t total = resources.device_totals[i];
    if (i >= kept) {
      devices[i] = {.left = total, .total = total};
      continue;
    }
    if (devices[i].tasks != DeviceState::kTakenWhole) devices[i].left += total - devices[i].total;
    devices[i].total = total;
  }
  before = resources;
  SortWords(slot);
  Summarise(slot);
  Changed(slot);
}

void Fleet::Remove(int32_t slot) {
  BERTH_CHECK(nodes_[slot].present);
  BERTH_CHECK(nodes_[slot].tasks_left == resources_[slot].tasks_max);
  nodes_[slot] = {};
  resources_[slot] = {};
  free_slots_.push_back(slot);
  std::push_heap(free_slots_.begin(), free_slots_.end(), std::greater<>());
  Changed(slot);
}

void Fleet::SetEligible(int32_t slot, bool eligible) {
  BERTH_CHECK(nodes_[slot].present);
  if (nodes_[slot].eligible == eligible) return;
  nodes_[slot].eligible = eligible;
  Changed(slot);
}

// Devices stand side by side, as many for each slot as the largest node has.
void Fleet::GrowDevices(int devices_per_slot) {
  const auto slot_count = static_cast<size_t>(slots());
  std::vector<DeviceState> devices(slot_count * devices_per_slot);
  std::vector<DeviceWord> words(slot_count * devices_per_slot);
  std::vector<int32_t> kind_counts(slot_count * (devices_per_slot + 1));
  for (size_t slot = 0; slot < slot_count; ++slot) {
    std::copy_n(devices_.begin() + slot * devices_per_slot_, devices_per_slot_,
                devices.begin() + slot * devices_per_slot);
    std::copy_n(words_.begin() + slot * devices_per_slot_, devices_per_slot_,
                words.begin() + slot * devices_per_slot);
    std::copy_n(kind_counts_.begin() + slot * (devices_per_slot_ + 1), devices_per_slot_ + 1,
                kind_counts.begin() + slot * (devices_per_slot + 1));
  }
  devices_ = std::move(devices);
  words_ = std::move(words);
  kind_counts_ = std::move(kind_counts);
  devices_per_slot_ = devices_per_slot;
}

void Fleet::SortWords(int32_t slot) {
  if (!is_costly_) return;
  const std::span<DeviceWord> words = Words(slot);
  std::transform(Devices(slot).begin(), Devices(slot).end(), words.begin(), ToWord);
  std::sort(words.begin(), words.end());
}

void Fleet::ReplaceWord(int32_t slot, DeviceWord before, DeviceWord after) {
  if (!is_costly_) return;
  const std::span<DeviceWord> words = Words(slot);
  auto at = std::find(words.begin(), words.end(), before);
  for (; at != words.begin() && *(at - 1) > after; --at) *at = *(at - 1);
  for (; at + 1 != words.end() && *(at + 1) < after; ++at) *at = *(at + 1);
  *at = after;
}

void Fleet::Summarise(int32_t slot) {
  NodeState& node = nodes_[slot];
  node.idle_devices = 0;
  node.largest_left = 0;
  node.units_left = 0;
  node.total_each = node.devices > 0 ? Devices(slot)[0].total : 0;
  for (const DeviceState& device : Devices(slot)) {
    if (device.total != node.total_each) node.total_each = 0;
    node.idle_devices = static_cast<uint8_t>(node.idle_devices + (device.IsIdle() ? 1 : 0));
    node.largest_left = std::max(node.largest_left, device.left);
    node.units_left += device.left;
  }
}

void Fleet::SetDevice(int32_t slot, int number, const DeviceState& after) {
  NodeState& node = nodes_[slot];
  const std::span<DeviceState> devices = Devices(slot);
  const DeviceState before = std::exchange(devices[number], after);
  ReplaceWord(slot, ToWord(before), ToWord(after));
  node.idle_devices = static_cast<uint8_t>(node.idle_devices + (after.IsIdle() ? 1 : 0) -
                                           (before.IsIdle() ? 1 : 0));
  node.units_left += after.left - before.left;
  int32_t largest = std::max(node.largest_left, after.left);
  if (before.left == largest) {
    largest = 0;
    for (const DeviceState& device : devices) largest = std::max(largest, device.left);
  }
  node.largest_left = largest;
}

void Fleet::Changed(int32_t slot) {
  log_.Add(slot);
  policy_->NodeChanged(view(slot));
  const NodeState& node = nodes_[slot];
  rooms_[slot] = {.memory = OpenMemory(node),
                  .cpu = node.cpu_left,
                  .largest_left = node.largest_left,
                  .idle_devices = node.idle_devices,
                  .devices = node.devices,
                  .model = node.model};
  if (index_ != nullptr) IndexRoom(slot);
  if (!is_costly_) return;
  rooms_[slot].state = states_.Of(node, Words(slot));
  if (states_.size() > std::max(kStatesMin, kStatesPerNode * slots())) ForgetStates();
}

void Fleet::IndexRoom(int32_t slot) {
  if (slots() > RoomIndex::kSlotsMax) {
    index_ = nullptr;
    return;
  }
  index_->Set(slot, nodes_[slot], policy_->keyed()->Key(view(slot)));
}

void Fleet::ForgetStates() {
  states_.Clear();
  for (int32_t slot = 0; slot < slots(); ++slot) {
    rooms_[slot].state = states_.Of(nodes_[slot], Words(slot));
  }
  ++generation_;
}

// --- shapes

ShapeId Fleet::Intern(const TaskShape& shape) {
  const auto [known, added] = shape_ids_.try_emplace(shape, 0);
  if (added) {
    BERTH_CHECK(shape.cpu >= 0 && shape.memory >= 0);
    BERTH_CHECK((shape.gpu == GpuNeed::kShared) == (shape.units > 0) && shape.units >= 0);
    BERTH_CHECK((shape.gpu == GpuNeed::kWhole) == (shape.devices > 0) && shape.devices >= 0);
    if (free_shapes_.empty()) {
      free_shapes_.push_back(static_cast<ShapeId>(shapes_.size()));
      shapes_.emplace_back();
    }
    known->second = free_shapes_.back();
    free_shapes_.pop_back();
    shapes_[known->second].shape = shape;
    shapes_[known->second].scores = InternScores(shape);
    policy_->ShapeAdded(known->second, shape);
    if (index_ != nullptr) index_->Add(known->second, shape);
  }
  ++shapes_[known->second].uses;
  return known->second;
}

void Fleet::Release(ShapeId id) {
  Shape& shape = shapes_[id];
  BERTH_CHECK(shape.uses > 0);
  if (--shape.uses > 0) return;
  shape_ids_.erase(shape.shape);
  DropRanking(shape);
  ReleaseScores(shape.scores);
  if (index_ != nullptr) index_->Remove(id);
  free_shapes_.push_back(id);
}

Fleet::ScoresId Fleet::InternScores(const TaskShape& shape) {
  TaskShape key = shape;
  key.memory = 0;
  const auto [known, added] = scores_ids_.try_emplace(key, 0);
  if (added) {
    if (free_scores_.empty()) {
      free_scores_.push_back(static_cast<ScoresId>(scores_.size()));
      scores_.emplace_back();
    }
    known->second = free_scores_.back();
    free_scores_.pop_back();
    scores_[known->second] = {.shape = key};
  }
  ++scores_[known->second].shapes;
  return known->second;
}

void Fleet::ReleaseScores(ScoresId id) {
  Scores& scores = scores_[id];
  if (--scores.shapes > 0) return;
  scores_ids_.erase(scores.shape);
  DropScores(scores);
  free_scores_.push_back(id);
}

void Fleet::DropScores(Scores& scores) {
  cache_bytes_ -= BytesOf(scores.by_state);
  scores.by_state = {};
}

void Fleet::DropRanking(Shape& shape) {
  cache_bytes_ -= shape.ranking.bytes();
  shape.ranking = Ranking();
  cache_bytes_ += shape.ranking.bytes();
  shape.seen = ChangeLog::kNever;
}

void Fleet::MakeRoomFor(ShapeId id) {
  while (cache_bytes_ > cache_bytes_max_) {
    Shape* oldest = nullptr;
    for (Shape& shape : shapes_) {
      if (shape.seen == ChangeLog::kNever || &shape == &shapes_[id]) continue;
      if (oldest == nullptr || shape.last_used < oldest->last_used) oldest = &shape;
    }
    if (oldest == nullptr) return;
    DropRanking(*oldest);
    if (oldest->scores != shapes_[id].scores) DropScores(scores_[oldest->scores]);
  }
}

Fleet::Bounds::Bounds(const TaskShape& shape)
    : memory(shape.memory),
      cpu(shape.cpu),
      largest_left(shape.gpu == GpuNeed::kShared ? shape.units : INT32_MIN),
      idle_devices(shape.gpu == GpuNeed::kWhole ? shape.devices : 0),
      all(shape.gpu == GpuNeed::kAll),
      models(shape.models) {}

int32_t Fleet::AskPolicy(int32_t slot, ShapeId id) const {
  const int64_t score = policy_->Score(view(slot), id, shapes_[id].shape);
  return static_cast<int32_t>(std::clamp(score, -kScoreMax, kScoreMax));
}

template <class With>
void Fleet::WithScores(ShapeId id, With with) {
  const Bounds bounds(shapes_[id].shape);
  const Room* rooms = rooms_.data();
  if (!is_costly_) {
    with([=, this](int32_t slot) {
      return bounds.Admit(rooms[slot]) ? AskPolicy(slot, id) : Ranking::kInfeasible;
    });
    return;
  }
  int32_t* by_state = scores_[shapes_[id].scores].by_state.data();
  with([=, this](int32_t slot) {
    if (!bounds.Admit(rooms[slot])) return Ranking::kInfeasible;
    int32_t& score = by_state[rooms[slot].state];
    if (score == kUnknown) score = AskPolicy(slot, id);
    return score;
  });
}

// Room for a score of every state; none is known that was of other states, or of another epoch.
void Fleet::Prepare(Scores& scores) {
  if (policy_->epoch() != policy_epoch_) {
    policy_epoch_ = policy_->epoch();
    if (is_costly_) ForgetStates();
  }
  if (!is_costly_) return;
  const int64_t before = BytesOf(scores.by_state);
  if (scores.generation != generation_) {
    scores.by_state.clear();
    scores.generation = generation_;
  }
  const auto states = static_cast<size_t>(states_.size());
  if (scores.by_state.size() < states) scores.by_state.resize(states + states / 2, kUnknown);
  cache_bytes_ += BytesOf(scores.by_state) - before;
}

void Fleet::BringUpToDate(ShapeId id) {
  Shape& shape = shapes_[id];
  shape.last_used = ++uses_;
  Prepare(scores_[shape.scores]);
  const int64_t bytes_before = shape.ranking.bytes();
  if (!log_.CanReplay(shape.seen)) {
    WithScores(id, [&](auto score_of) { shape.ranking.Assign(slots(), score_of); });
  } else {
    if (shape.ranking.size() < slots()) shape.ranking.Resize(slots());
    WithScores(id, [&](auto score_of) {
      log_.Replay(shape.seen, [&](int32_t slot) { shape.ranking.Set(slot, score_of(slot)); });
      // What is infeasible stays so in a new epoch.
      if (shape.epoch != policy_epoch_) shape.ranking.Rescore(score_of);
    });
  }
  shape.epoch = policy_epoch_;
  cache_bytes_ += shape.ranking.bytes() - bytes_before;
  shape.seen = log_.sequence();
  if (cache_bytes_ > cache_bytes_max_) MakeRoomFor(id);
}

// --- placing

std::optional<FleetChoice> Fleet::Choose(ShapeId id) {
  if (model::Rng* rng = policy_->draws()) return Draw(id, *rng);
  if (index_ != nullptr) {
    const std::optional<int64_t> offset = policy_->keyed()->Offset(shapes_[id].shape);
    if (offset) return ChooseByIndex(id, *offset);
  }
  BringUpToDate(id);
  const std::optional<Ranking::Entry> best = shapes_[id].ranking.Best();
  if (!best) return std::nullopt;
  return FleetChoice{
      .slot = best->position,
      .devices = policy_->ChooseDevices(view(best->position), id, shapes_[id].shape),
      .score = best->score,
  };
}

std::optional<FleetChoice> Fleet::ChooseByIndex(ShapeId id, int64_t offset) {
  const TaskShape& shape = shapes_[id].shape;
  const std::optional<RoomIndex::Best> best = index_->Find(id, offset);
  if (!best) return std::nullopt;
  return FleetChoice{.slot = best->slot,
                     .devices = policy_->ChooseDevices(view(best->slot), id, shape),
                     .score = std::clamp(best->score, -kScoreMax, kScoreMax)};
}

std::optional<FleetChoice> Fleet::Draw(ShapeId id, model::Rng& rng) {
  const TaskShape& shape = shapes_[id].shape;
  const auto chosen = [&](int32_t slot) {
    return FleetChoice{.slot = slot, .devices = policy_->ChooseDevices(view(slot), id, shape)};
  };
  if (nodes_.empty()) return std::nullopt;
  // Drawing among all until one has room draws uniformly among those that have. Where hardly any
  // has, counting them is cheaper.
  constexpr int kDraws = 16;
  for (int i = 0; i < kDraws; ++i) {
    const auto slot = static_cast<int32_t>(rng.Below(nodes_.size()));
    if (IsFeasible(nodes_[slot], shape)) return chosen(slot);
  }
  BringUpToDate(id);
  Ranking& ranking = shapes_[id].ranking;
  if (!ranking.Best()) return std::nullopt;
  uint64_t feasible = 0;
  for (int32_t slot = 0; slot < slots(); ++slot) {
    feasible += ranking.Get(slot) == Ranking::kInfeasible ? 0 : 1;
  }
  uint64_t before = rng.Below(feasible);
  for (int32_t slot = 0;; ++slot) {
    if (ranking.Get(slot) == Ranking::kInfeasible) continue;
    if (before == 0) return chosen(slot);
    --before;
  }
}

void Fleet::Take(int32_t slot, ShapeId id, DeviceSet devices) {
  const TaskShape& shape = shapes_[id].shape;
  NodeState& node = nodes_[slot];
  BERTH_CHECK(IsFeasible(node, shape));
  BERTH_CHECK(std::popcount(devices) ==
              (shape.gpu == GpuNeed::kShared ? 1 : DevicesAsked(shape, node)));
  BERTH_CHECK(std::bit_width(devices) <= node.devices);
  node.cpu_left -= shape.cpu;
  node.memory_left -= shape.memory;
  --node.tasks_left;
  ForEachDevice(devices, [&](int number) {
    DeviceState device = Devices(slot)[number];
    if (shape.gpu == GpuNeed::kShared) {
      BERTH_CHECK(device.left >= shape.units);
      device.left -= shape.units;
      ++device.tasks;
    } else {
      BERTH_CHECK(device.IsIdle());
      device.left = 0;
      device.tasks = DeviceState::kTakenWhole;
    }
    SetDevice(slot, number, device);
  });
  if (const std::optional<int> kind = KindOf(shape, devices)) {
    ++KindCount(slot, *kind);
    node.kinds |= uint64_t{1} << *kind;
  }
  Changed(slot);
}

void Fleet::GiveBack(int32_t slot, ShapeId id, DeviceSet devices) {
  const TaskShape& shape = shapes_[id].shape;
  NodeState& node = nodes_[slot];
  BERTH_CHECK(node.present && node.tasks_left < resources_[slot].tasks_max);
  node.cpu_left += shape.cpu;
  node.memory_left += shape.memory;
  ++node.tasks_left;
  ForEachDevice(devices, [&](int number) {
    DeviceState device = Devices(slot)[number];
    if (shape.gpu == GpuNeed::kShared) {
      BERTH_CHECK(device.tasks > 0);
      device.left += shape.units;
      --device.tasks;
    } else {
      BERTH_CHECK(device.tasks == DeviceState::kTakenWhole);
      device.left = device.total;
      device.tasks = 0;
    }
    SetDevice(slot, number, device);
  });
  if (const std::optional<int> kind = KindOf(shape, devices)) {
    if (--KindCount(slot, *kind) == 0) node.kinds &= ~(uint64_t{1} << *kind);
  }
  Changed(slot);
}

// --- about itself

int64_t Fleet::bytes() const {
  return BytesOf(nodes_) + BytesOf(resources_) + BytesOf(devices_) + BytesOf(words_) +
         BytesOf(kind_counts_) + BytesOf(rooms_) + states_.bytes() +
         (index_ == nullptr ? 0 : index_->bytes()) + BytesOf(shapes_) + BytesOf(scores_) +
         cache_bytes_ + static_cast<int64_t>(slots()) * 16;  // the log
}

std::vector<std::string> Fleet::FindViolations() const {
  std::vector<std::string> violations;
  for (int32_t slot = 0; slot < slots(); ++slot) {
    const NodeView at = view(slot);
    int64_t left = 0;
    int32_t largest = 0;
    int idle = 0;
    for (const DeviceState& device : at.devices) {
      if (device.left > device.total) {
        violations.push_back(absl::StrFormat("slot %d: a device has more left than it has", slot));
      }
      left += device.left;
      largest = std::max(largest, device.left);
      idle += device.IsIdle() ? 1 : 0;
    }
    if (left != at.node.units_left || largest != at.node.largest_left ||
        idle != at.node.idle_devices) {
      violations.push_back(absl::StrFormat("slot %d: its sums are not its devices'", slot));
    }
    std::vector<DeviceWord> words;
    for (const DeviceState& device : at.devices) words.push_back(ToWord(device));
    std::sort(words.begin(), words.end());
    if (is_costly_ &&
        !std::equal(words.begin(), words.end(),
                    words_.begin() + static_cast<ptrdiff_t>(slot) * devices_per_slot_)) {
      violations.push_back(absl::StrFormat("slot %d: its words are not its devices'", slot));
    }
    if (at.node.cpu_left > resources_[slot].cpu || at.node.memory_left > resources_[slot].memory) {
      violations.push_back(absl::StrFormat("slot %d: more is left than it has", slot));
    }
  }
  for (ShapeId id = 0; id < static_cast<ShapeId>(shapes_.size()); ++id) {
    const Shape& shape = shapes_[id];
    if (shape.seen != log_.sequence() || shape.epoch != policy_->epoch()) continue;
    for (int32_t slot = 0; slot < slots(); ++slot) {
      const int32_t score =
          IsFeasible(nodes_[slot], shape.shape) ? AskPolicy(slot, id) : Ranking::kInfeasible;
      if (shape.ranking.Get(slot) != score) {
        violations.push_back(absl::StrFormat("shape %d: an old score for slot %d", id, slot));
      }
    }
  }
  return violations;
}

}  // namespace berth::placement

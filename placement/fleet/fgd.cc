#include "placement/fleet/fgd.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "model/check.h"
#include "placement/fleet/fragmentation.h"

namespace berth::placement {
namespace {

double PublishedScore(double x) { return std::trunc(100.0 * (1.0 / (1.0 + std::exp(-x)))); }

// The least double whose score is at least this; scores rise with x.
double FindBorder(double score) {
  double below = -64;
  double above = 64;
  while (std::nextafter(below, above) < above) {
    // Halving the bits' distance instead would be quicker; this is done a hundred times in all.
    const double middle = below + (above - below) / 2;
    if (middle <= below || middle >= above) break;
    (PublishedScore(middle) >= score ? above : below) = middle;
  }
  return above;
}

bool AskSameDevices(const TaskShape& a, const TaskShape& b) {
  return std::tie(a.gpu, a.units, a.devices) == std::tie(b.gpu, b.units, b.devices);
}

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
  return hash ^ hash >> 32;
}

}  // namespace

SigmoidScore::SigmoidScore() {
  borders_.front() = -std::numeric_limits<double>::infinity();
  borders_.back() = std::numeric_limits<double>::infinity();
  for (size_t score = 1; score + 1 < borders_.size(); ++score) {
    borders_[score] = FindBorder(static_cast<double>(score));
  }
  for (size_t cell = 0; cell < kCells; ++cell) {
    const double from = (static_cast<double>(cell) / kCells * 2 - 1) * kRange;
    const auto above = std::upper_bound(borders_.begin() + 1, borders_.end(), from);
    first_in_cell_[cell] = static_cast<uint8_t>(above - borders_.begin() - 1);
  }
}

SigmoidScore::Result SigmoidScore::Of(double x) const {
  size_t score = 0;
  if (x >= -kRange) {
    const double cell = (x / kRange + 1) / 2 * kCells;
    score = first_in_cell_[cell < kCells ? static_cast<size_t>(cell) : kCells - 1];
    // The cell may have been rounded up to.
    while (x < borders_[score]) --score;
    while (x >= borders_[score + 1]) ++score;
  } else {
    while (x >= borders_[score + 1]) ++score;
  }
  return {.score = static_cast<int64_t>(score),
          .is_near_border = x - borders_[score] < kError || borders_[score + 1] - x < kError};
}

Fgd::Fgd(const GpuPolicyInputs& inputs)
    : mix_(inputs.mix),
      device_units_(static_cast<double>(inputs.scale.device_units)),
      devices_per_weight_(
          1.0 / (device_units_ * static_cast<double>(std::max<int64_t>(1, inputs.mix.covered())))) {
  BERTH_CHECK(inputs.scale.device_units > 0);
  for (const TypicalTask& task : mix_.tasks()) cpu_borders_.push_back(task.shape.cpu);
  std::sort(cpu_borders_.begin(), cpu_borders_.end());
  cpu_borders_.erase(std::unique(cpu_borders_.begin(), cpu_borders_.end()), cpu_borders_.end());
  classes_ = cpu_borders_.size() + 1;
  for (const TypicalTask& task : mix_.tasks()) {
    if (task.shape.gpu == GpuNeed::kNone) continue;  // it can use no device, whatever is left
    weights_.push_back(
        {.shape = task.shape, .count = task.count, .cpu_class = CpuClass(task.shape.cpu)});
  }
  // Those that ask for the same devices side by side: FillTable works them out once.
  std::stable_sort(weights_.begin(), weights_.end(), [](const Weight& a, const Weight& b) {
    return std::tie(a.shape.gpu, a.shape.units, a.shape.devices) <
           std::tie(b.shape.gpu, b.shape.units, b.shape.devices);
  });
  buckets_.assign(1024, -1);
}

// How many of the borders are reached.
int32_t Fgd::CpuClass(int64_t cpu_left) const {
  int32_t reached = 0;
  for (const int64_t border : cpu_borders_) reached += border <= cpu_left ? 1 : 0;
  return reached;
}

// --- profiles

Fgd::ProfileId Fgd::Intern(const Profile& key) {
  uint64_t hash = key.model;
  for (int i = 0; i < key.devices; ++i) hash = Mix(hash, key.words[i]);
  size_t bucket = hash & (buckets_.size() - 1);
  for (; buckets_[bucket] >= 0; bucket = (bucket + 1) & (buckets_.size() - 1)) {
    const Profile& known = profiles_[buckets_[bucket]];
    if (known.hash == hash && known.model == key.model && known.devices == key.devices &&
        std::equal(key.words.begin(), key.words.begin() + key.devices, known.words.begin())) {
      return buckets_[bucket];
    }
  }
  const auto id = static_cast<ProfileId>(profiles_.size());
  profiles_.push_back(key);
  profiles_.back().hash = hash;
  tables_.resize(tables_.size() + classes_);
  FillTable(id);
  buckets_[bucket] = id;
  if (profiles_.size() * 2 > buckets_.size()) {
    buckets_.assign(buckets_.size() * 2, -1);
    for (ProfileId i = 0; i <= id; ++i) {
      size_t free = profiles_[i].hash & (buckets_.size() - 1);
      while (buckets_[free] >= 0) free = (free + 1) & (buckets_.size() - 1);
      buckets_[free] = i;
    }
  }
  return id;
}

// For each class: all that is left counts for every typical task, less what those can use that have
// the CPU.
void Fgd::FillTable(ProfileId id) {
  const Profile& profile = profiles_[id];
  std::array<DeviceState, kDevicesMax> storage;
  int64_t left = 0;
  for (int i = 0; i < profile.devices; ++i) {
    storage[i] = FromWord(profile.words[i]);
    left += storage[i].left;
  }
  const std::span<const DeviceState> devices(storage.data(), profile.devices);
  int64_t* table = TableOf(id);
  std::fill_n(table, classes_, 0);
  const Weight* previous = nullptr;
  UsableDevices usable;
  for (const Weight& weight : weights_) {
    if (previous == nullptr || !AskSameDevices(previous->shape, weight.shape)) {
      usable = FindUsable(devices, weight.shape);
    }
    previous = &weight;
    if (usable.enough && weight.shape.Accepts(profile.model))
      table[weight.cpu_class] -= weight.count * usable.left;
  }
  table[0] += mix_.covered() * left;
  for (size_t i = 1; i < classes_; ++i) table[i] += table[i - 1];
}

double Fgd::Exactly(ProfileId id, int32_t cpu_class) {
  const uint64_t key = static_cast<uint64_t>(id) * classes_ + static_cast<uint64_t>(cpu_class);
  const auto [known, added] = exact_.try_emplace(key, 0.0);
  if (added) {
    const Profile& profile = profiles_[id];
    std::array<DeviceState, kDevicesMax> devices;
    for (int i = 0; i < profile.devices; ++i) devices[i] = FromWord(profile.words[i]);
    const int64_t cpu_left = cpu_class == 0 ? -1 : cpu_borders_[cpu_class - 1];
    known->second = Fragmentation(cpu_left, profile.model, {devices.data(), profile.devices}, mix_);
  }
  return known->second;
}

void Fgd::Forget() {
  const std::vector<Profile> before = std::move(profiles_);
  profiles_.clear();
  tables_.clear();
  buckets_.assign(1024, -1);
  steps_from_.clear();
  steps_.clear();
  exact_.clear();
  for (Node& node : nodes_) {
    if (node.profile >= 0) node.profile = Intern(before[node.profile]);
  }
}

// --- steps

void Fgd::AddStep(const Profile& before, DeviceSet taken, const TaskShape& shape) {
  Profile after = before;
  Word first_taken = 0;
  for (DeviceSet rest = taken; rest != 0; rest &= rest - 1) {
    Word& word = after.words[std::countr_zero(rest)];
    if (first_taken == 0) first_taken = word;
    DeviceState device = FromWord(word);
    device.left = shape.gpu == GpuNeed::kShared ? device.left - shape.units : 0;
    device.tasks = 1;
    word = ToWord(device);
  }
  std::sort(after.words.begin(), after.words.begin() + after.devices);
  const ProfileId id = Intern(after);
  steps_.push_back({.after = id, .taken = first_taken});
}

std::span<const Fgd::Step> Fgd::StepsFrom(ProfileId id, const TaskShape& shape) {
  const auto amount = static_cast<uint32_t>(shape.units + shape.devices);
  const uint64_t key =
      static_cast<uint64_t>(id) << 34 | static_cast<uint64_t>(shape.gpu) << 32 | amount;
  const auto [known, added] = steps_from_.try_emplace(key);
  if (added) {
    const Profile before = profiles_[id];
    std::array<DeviceState, kDevicesMax> storage;
    for (int i = 0; i < before.devices; ++i) storage[i] = FromWord(before.words[i]);
    const std::span<const DeviceState> devices(storage.data(), before.devices);
    known->second.begin = static_cast<uint32_t>(steps_.size());
    if (shape.gpu == GpuNeed::kNone) {
      steps_.push_back({.after = id});
    } else if (shape.gpu == GpuNeed::kShared) {
      for (int i = 0; i < before.devices; ++i) {
        if (devices[i].left < shape.units) continue;
        if (i > 0 && before.words[i] == before.words[i - 1]) continue;
        AddStep(before, DeviceSet{1} << i, shape);
      }
    } else {
      const int count = shape.gpu == GpuNeed::kAll ? before.devices : shape.devices;
      AddStep(before, SmallestIdleDevices(devices, count), shape);
    }
    known->second.count = static_cast<uint32_t>(steps_.size()) - known->second.begin;
  }
  return {steps_.data() + known->second.begin, known->second.count};
}

// --- the policy

void Fgd::NodeChanged(const NodeView& view) {
  if (static_cast<size_t>(view.slot) >= nodes_.size()) nodes_.resize(view.slot + 1);
  if (profiles_.size() > kProfilesMax || steps_.size() > kStepsMax) Forget();
  Profile& key = scratch_;
  key.model = view.node.model;
  key.devices = view.node.devices;
  for (size_t i = 0; i < view.devices.size(); ++i) key.words[i] = ToWord(view.devices[i]);
  std::sort(key.words.begin(), key.words.begin() + key.devices);
  nodes_[view.slot] = {.profile = Intern(key), .cpu_class = CpuClass(view.node.cpu_left)};
}

int64_t Fgd::ScoreStep(const Node& node, ProfileId after, int32_t cpu_class_after) {
  const int64_t removed = TableOf(node.profile)[node.cpu_class] - TableOf(after)[cpu_class_after];
  const SigmoidScore::Result result =
      sigmoid_.Of(static_cast<double>(removed) * devices_per_weight_);
  if (!result.is_near_border) return result.score;
  const double exactly =
      (Exactly(node.profile, node.cpu_class) - Exactly(after, cpu_class_after)) / device_units_;
  return sigmoid_.Of(exactly).score;
}

int64_t Fgd::Score(const NodeView& view, ShapeId, const TaskShape& shape) {
  const Node node = nodes_[view.slot];
  const int32_t cpu_class = CpuClass(view.node.cpu_left - shape.cpu);
  const std::span<const Step> steps = StepsFrom(node.profile, shape);
  // Scores rise with what is removed, so the step that leaves least scores best.
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Step& step : steps) least = std::min(least, TableOf(step.after)[cpu_class]);
  const int64_t removed = TableOf(node.profile)[node.cpu_class] - least;
  const SigmoidScore::Result result =
      sigmoid_.Of(static_cast<double>(removed) * devices_per_weight_);
  if (!result.is_near_border) return result.score;
  int64_t best = 0;
  for (const Step& step : steps) best = std::max(best, ScoreStep(node, step.after, cpu_class));
  return best;
}

// A sharing task: the first device among those that score best.
DeviceSet Fgd::ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) {
  if (shape.gpu != GpuNeed::kShared) return TightestDevices(view, shape);
  const Node node = nodes_[view.slot];
  const int32_t cpu_class = CpuClass(view.node.cpu_left - shape.cpu);
  const std::span<const Step> steps = StepsFrom(node.profile, shape);
  int64_t best = -1;
  DeviceSet chosen = 0;
  for (size_t i = 0; i < view.devices.size(); ++i) {
    const Word word = ToWord(view.devices[i]);
    const auto step =
        std::find_if(steps.begin(), steps.end(), [word](const Step& s) { return s.taken == word; });
    if (step == steps.end()) continue;  // too little is left of it
    const int64_t score = ScoreStep(node, step->after, cpu_class);
    if (score <= best) continue;
    best = score;
    chosen = DeviceSet{1} << i;
  }
  BERTH_CHECK(chosen != 0);
  return chosen;
}

}  // namespace berth::placement

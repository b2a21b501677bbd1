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
  // As FillTable goes through them.
  static_assert(GpuNeed::kShared < GpuNeed::kWhole && GpuNeed::kShared < GpuNeed::kAll);
  std::stable_sort(weights_.begin(), weights_.end(), [](const Weight& a, const Weight& b) {
    return std::tie(a.shape.gpu, a.shape.units) < std::tie(b.shape.gpu, b.shape.units);
  });
}

// How many of the borders are reached.
int32_t Fgd::CpuClass(int64_t cpu_left) const {
  const auto above = std::upper_bound(cpu_borders_.begin(), cpu_borders_.end(), cpu_left);
  return static_cast<int32_t>(above - cpu_borders_.begin());
}

// --- profiles

Fgd::Devices::Devices(std::span<const DeviceWord> words) : count(words.size()) {
  std::transform(words.begin(), words.end(), states.begin(), FromWord);
}

Fgd::ProfileId Fgd::Intern(int model, std::span<const DeviceWord> words) {
  const int32_t known = profiles_.size();
  const ProfileId id = profiles_.Of({.model = static_cast<uint8_t>(model)}, words);
  if (id < known) return id;
  if (static_cast<size_t>(id) == tables_.size() * kTablesPerChunk) {
    tables_.push_back(std::make_unique_for_overwrite<int64_t[]>(kTablesPerChunk * classes_));
  }
  FillTable(id);
  return id;
}

Fgd::Node Fgd::NodeOf(const NodeView& view) {
  Node& node = nodes_[view.slot];
  if (node.profile >= 0) return node;
  std::array<DeviceWord, kDevicesMax> words;
  const auto end = std::transform(view.devices.begin(), view.devices.end(), words.begin(), ToWord);
  std::sort(words.begin(), end);
  node = {.profile = Intern(view.node.model, {words.data(), view.devices.size()}),
          .cpu_class = CpuClass(view.node.cpu_left)};
  return node;
}

// For each class: all that is left counts for every typical task, less what those can use that have
// the CPU. Tasks that share come first, those that ask for least before the others: so each device
// is passed over once, when it no longer suffices.
void Fgd::FillTable(ProfileId id) {
  Devices devices(profiles_.devices(id));
  const auto has_less = [](const DeviceState& a, const DeviceState& b) { return a.left < b.left; };
  const auto end = devices.states.begin() + devices.count;
  if (!std::is_sorted(devices.states.begin(), end, has_less)) {  // some is below 0
    std::sort(devices.states.begin(), end, has_less);
  }
  int64_t left = 0;
  int64_t idle = 0;
  int64_t idle_left = 0;
  for (const DeviceState& device : devices.all()) {
    left += device.left;
    if (!device.IsIdle()) continue;
    ++idle;
    idle_left += device.left;
  }
  int64_t* table = TableOf(id);
  std::fill_n(table, classes_, 0);
  size_t too_small = 0;
  int64_t usable_left = left;
  for (const Weight& weight : weights_) {
    if (!weight.shape.Accepts(profiles_.model(id))) continue;
    if (weight.shape.gpu != GpuNeed::kShared) {
      const auto asked = weight.shape.gpu == GpuNeed::kAll ? static_cast<int64_t>(devices.count)
                                                           : weight.shape.devices;
      if (idle > 0 && idle >= asked) table[weight.cpu_class] -= weight.count * idle_left;
      continue;
    }
    while (too_small < devices.count && devices.states[too_small].left < weight.shape.units) {
      usable_left -= devices.states[too_small++].left;
    }
    if (too_small < devices.count) table[weight.cpu_class] -= weight.count * usable_left;
  }
  table[0] += mix_.covered() * left;
  for (size_t i = 1; i < classes_; ++i) table[i] += table[i - 1];
}

double Fgd::Exactly(ProfileId id, int32_t cpu_class) {
  const uint64_t key = static_cast<uint64_t>(id) * classes_ + static_cast<uint64_t>(cpu_class);
  const auto [known, added] = exact_.try_emplace(key, 0.0);
  if (added) {
    const int64_t cpu_left = cpu_class == 0 ? -1 : cpu_borders_[cpu_class - 1];
    known->second =
        Fragmentation(cpu_left, profiles_.model(id), Devices(profiles_.devices(id)).all(), mix_);
  }
  return known->second;
}

void Fgd::Forget() {
  for (Node& node : nodes_) node.profile = -1;
  profiles_.Clear();
  tables_.clear();
  steps_from_.clear();
  steps_.clear();
  exact_.clear();
}

// --- steps

void Fgd::AddStep(ProfileId before, DeviceSet taken, const TaskShape& shape) {
  std::array<DeviceWord, kDevicesMax> words;
  const size_t count = profiles_.devices(before).size();
  std::copy_n(profiles_.devices(before).begin(), count, words.begin());
  DeviceWord first_taken = 0;
  for (DeviceSet rest = taken; rest != 0; rest &= rest - 1) {
    DeviceWord& word = words[std::countr_zero(rest)];
    if (first_taken == 0) first_taken = word;
    DeviceState device = FromWord(word);
    device.left = shape.gpu == GpuNeed::kShared ? device.left - shape.units : 0;
    device.tasks = 1;
    word = ToWord(device);
  }
  std::sort(words.begin(), words.begin() + count);
  const ProfileId after = Intern(profiles_.model(before), {words.data(), count});
  steps_.push_back({.after = after, .taken = first_taken});
}

std::span<const Fgd::Step> Fgd::StepsFrom(ProfileId id, const TaskShape& shape) {
  const auto amount = static_cast<uint32_t>(shape.units + shape.devices);
  const uint64_t key =
      static_cast<uint64_t>(id) << 34 | static_cast<uint64_t>(shape.gpu) << 32 | amount;
  const auto [known, added] = steps_from_.try_emplace(key);
  if (added) {
    const Devices devices(profiles_.devices(id));
    known->second.begin = static_cast<uint32_t>(steps_.size());
    if (shape.gpu == GpuNeed::kNone) {
      steps_.push_back({.after = id});
    } else if (shape.gpu == GpuNeed::kShared) {
      for (size_t i = 0; i < devices.count; ++i) {
        if (devices.states[i].left < shape.units) continue;
        if (i > 0 && devices.states[i] == devices.states[i - 1]) continue;
        AddStep(id, DeviceSet{1} << i, shape);
      }
    } else {
      const int asked =
          shape.gpu == GpuNeed::kAll ? static_cast<int>(devices.count) : shape.devices;
      AddStep(id, SmallestIdleDevices(devices.all(), asked), shape);
    }
    known->second.count = static_cast<uint32_t>(steps_.size()) - known->second.begin;
  }
  return {steps_.data() + known->second.begin, known->second.count};
}

// --- the policy

void Fgd::NodeChanged(const NodeView& view) {
  if (static_cast<size_t>(view.slot) >= nodes_.size()) nodes_.resize(view.slot + 1);
  if (profiles_.size() > kProfilesMax || steps_.size() > kStepsMax) Forget();
  nodes_[view.slot].profile = -1;
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
  const Node node = NodeOf(view);
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
  const Node node = NodeOf(view);
  const int32_t cpu_class = CpuClass(view.node.cpu_left - shape.cpu);
  const std::span<const Step> steps = StepsFrom(node.profile, shape);
  int64_t best = -1;
  DeviceSet chosen = 0;
  for (size_t i = 0; i < view.devices.size(); ++i) {
    const DeviceWord word = ToWord(view.devices[i]);
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

// The policies that score by what is left, and the names of all. Formulas and device choices:
// docs/placement.md.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "model/check.h"
#include "placement/fleet/fgd.h"
#include "placement/fleet/floor_divide.h"
#include "placement/fleet/gpu_policy.h"
#include "placement/fleet/worth/worth.h"

namespace berth::placement {
namespace {

constexpr std::array<std::pair<GpuPolicyKind, std::string_view>, 9> kNames = {{
    {GpuPolicyKind::kRandom, "random"},
    {GpuPolicyKind::kFirstFit, "first-fit"},
    {GpuPolicyKind::kWorstFit, "worst-fit"},
    {GpuPolicyKind::kBestFit, "best-fit"},
    {GpuPolicyKind::kDotProduct, "dot-product"},
    {GpuPolicyKind::kGpuPacking, "gpu-packing"},
    {GpuPolicyKind::kGpuClustering, "gpu-clustering"},
    {GpuPolicyKind::kFgd, "fgd"},
    {GpuPolicyKind::kWorth, "worth"},
}};

constexpr DeviceSet Only(int device) { return DeviceSet{1} << device; }

// Requires: so many are idle.
DeviceSet LowestIdleDevices(std::span<const DeviceState> devices, int count) {
  DeviceSet chosen = 0;
  for (int i = 0; count > 0; ++i) {
    const int idle = devices[i].IsIdle() ? 1 : 0;
    chosen |= static_cast<DeviceSet>(idle) << i;
    count -= idle;
  }
  return chosen;
}

// What the shape takes of a node's devices, in units. Whole devices count as they are on this node.
int64_t UnitsAsked(const NodeView& view, const TaskShape& shape) {
  if (shape.gpu == GpuNeed::kShared) return shape.units;
  if (shape.gpu == GpuNeed::kAll) return view.node.units_left;
  if (shape.gpu == GpuNeed::kNone) return 0;
  if (view.node.total_each > 0) return int64_t{shape.devices} * view.node.total_each;
  int64_t units = 0;
  DeviceSet devices = SmallestIdleDevices(view.devices, shape.devices);
  for (; devices != 0; devices &= devices - 1) {
    units += view.devices[std::countr_zero(devices)].left;
  }
  return units;
}

class Random : public GpuPolicy {
 public:
  explicit Random(const GpuPolicyInputs& inputs) : rng_(inputs.seed), device_rng_(rng_.Fork()) {}

  int64_t Score(const NodeView&, ShapeId, const TaskShape&) override { return 0; }
  // A sharing task takes any device that suffices, all equally likely.
  DeviceSet ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) override {
    if (shape.gpu != GpuNeed::kShared) return TightestDevices(view, shape);
    uint64_t fitting = 0;
    for (const DeviceState& device : view.devices) fitting += device.left >= shape.units ? 1 : 0;
    uint64_t before = device_rng_.Below(fitting);
    for (int i = 0;; ++i) {
      if (view.devices[i].left < shape.units) continue;
      if (before == 0) return Only(i);
      --before;
    }
  }
  model::Rng* draws() override { return &rng_; }

 private:
  model::Rng rng_;
  model::Rng device_rng_;
};

// The lowest slot, and its lowest device, with room.
class FirstFit : public GpuPolicy, public KeyedScores {
 public:
  explicit FirstFit(const GpuPolicyInputs&) {}

  int64_t Score(const NodeView&, ShapeId, const TaskShape&) override { return 0; }
  const KeyedScores* keyed() const override { return this; }
  int64_t step() const override { return 1; }
  int64_t Key(const NodeView&) const override { return 0; }
  std::optional<int64_t> Offset(const TaskShape& shape) const override {
    if (shape.gpu == GpuNeed::kAll) return std::nullopt;
    return 0;
  }
  DeviceSet ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) override {
    DeviceSet chosen = 0;
    int missing = shape.gpu == GpuNeed::kShared ? 1 : DevicesAsked(shape, view.node);
    for (int i = 0; missing > 0; ++i) {
      const DeviceState& device = view.devices[i];
      if (shape.gpu == GpuNeed::kShared ? device.left < shape.units : !device.IsIdle()) continue;
      chosen |= Only(i);
      --missing;
    }
    return chosen;
  }
};

class ScaledPolicy : public GpuPolicy {
 public:
  explicit ScaledPolicy(const GpuPolicyInputs& inputs) : scale_(inputs.scale) {
    BERTH_CHECK(scale_.node_cpu > 0 && scale_.node_units > 0 && scale_.device_units > 0);
  }

  DeviceSet ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) override {
    return TightestDevices(view, shape);
  }

 protected:
  const FleetScale scale_;
};

// Scores by what would be left, in halves of a per cent of the scale's CPU and of its units.
class FitPolicy : public ScaledPolicy, public KeyedScores {
 public:
  explicit FitPolicy(const GpuPolicyInputs& inputs)
      : ScaledPolicy(inputs), whole_(scale_.node_cpu * scale_.node_units) {}

  void NodeChanged(const NodeView& view) override {
    if (view.node.devices == 0) return;
    const int32_t total = view.node.total_each;
    if (device_total_ == 0) device_total_ = total;
    if (total == 0 || total != device_total_) sizes_differ_ = true;
  }
  int64_t Score(const NodeView& view, ShapeId, const TaskShape& shape) override {
    const int64_t asked = LeftOf(shape.cpu, UnitsAsked(view, shape));
    return FloorDivide(OffsetOf(asked) - Key(view), whole_);
  }
  const KeyedScores* keyed() const override { return this; }
  int64_t step() const override { return whole_; }
  std::optional<int64_t> Offset(const TaskShape& shape) const override {
    if (shape.gpu == GpuNeed::kAll) return std::nullopt;
    if (shape.gpu != GpuNeed::kWhole) return OffsetOf(LeftOf(shape.cpu, shape.units));
    if (sizes_differ_) return std::nullopt;
    return OffsetOf(LeftOf(shape.cpu, int64_t{shape.devices} * device_total_));
  }

 protected:
  virtual int64_t OffsetOf(int64_t asked) const = 0;
  int64_t Left(const NodeView& view) const {
    return LeftOf(view.node.cpu_left, view.node.units_left);
  }

  const int64_t whole_;

 private:
  int64_t LeftOf(int64_t cpu, int64_t units) const {
    return 50 * (cpu * scale_.node_units + units * scale_.node_cpu);
  }

  int32_t device_total_ = 0;  // of the first device that came
  bool sizes_differ_ = false;
};

// 100 less the halves of per cents.
class BestFit : public FitPolicy {
 public:
  using FitPolicy::FitPolicy;
  int64_t Key(const NodeView& view) const override { return Left(view); }

 private:
  int64_t OffsetOf(int64_t asked) const override { return 100 * whole_ + asked; }
};

// The negative of best-fit.
class WorstFit : public FitPolicy {
 public:
  using FitPolicy::FitPolicy;
  int64_t Key(const NodeView& view) const override { return -Left(view); }
  // The device with the most left.
  DeviceSet ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) override {
    if (shape.gpu != GpuNeed::kShared) return TightestDevices(view, shape);
    const auto largest = std::max_element(
        view.devices.begin(), view.devices.end(),
        [](const DeviceState& a, const DeviceState& b) { return a.left < b.left; });
    return Only(static_cast<int>(largest - view.devices.begin()));
  }

 private:
  // The negative of a floor: rounded up.
  int64_t OffsetOf(int64_t asked) const override { return whole_ - 1 - 100 * whole_ - asked; }
};

// As Tetris has it, with the devices of a node as one dimension. In doubles, as published.
class DotProduct : public ScaledPolicy {
 public:
  using ScaledPolicy::ScaledPolicy;
  int64_t Score(const NodeView& view, ShapeId, const TaskShape& shape) override {
    const auto cpu = static_cast<double>(scale_.node_cpu);
    const auto units = static_cast<double>(scale_.node_units);
    const double product =
        static_cast<double>(view.node.cpu_left) / cpu * (static_cast<double>(shape.cpu) / cpu) +
        static_cast<double>(view.node.units_left) / units *
            (static_cast<double>(UnitsAsked(view, shape)) / units);
    return static_cast<int64_t>(std::floor(100.0 * (1.0 - product / 2.0)));
  }
};

// Used devices first, then idle devices of a node in use, then an idle node.
class GpuPacking : public ScaledPolicy {
 public:
  using ScaledPolicy::ScaledPolicy;
  int64_t Score(const NodeView& view, ShapeId, const TaskShape& shape) override {
    if (shape.gpu == GpuNeed::kNone) return 0;
    const int idle = view.node.idle_devices;
    if (idle == view.node.devices) return std::max(33 - idle, idle);
    DeviceSet devices = TightestDevices(view, shape);
    int64_t idle_taken = 0;
    int64_t percents_left = 0;
    for (; devices != 0; devices &= devices - 1) {
      const DeviceState& device = view.devices[std::countr_zero(devices)];
      idle_taken += device.IsIdle() ? 1 : 0;
      if (device.total > 0) percents_left += int64_t{100} * device.left / device.total;
    }
    if (idle_taken > 0) return std::max<int64_t>(50 - idle_taken, 33);
    return std::max<int64_t>(100 - percents_left / 10, 50);
  }
};

// Tasks of one kind together: those that share, and those with one, two, ... devices.
class GpuClustering : public ScaledPolicy {
 public:
  using ScaledPolicy::ScaledPolicy;
  int64_t Score(const NodeView& view, ShapeId, const TaskShape& shape) override {
    if (shape.gpu == GpuNeed::kNone) return 0;
    const uint64_t kind = uint64_t{1} << DevicesAsked(shape, view.node);  // 0 for those that share
    const uint64_t kinds = view.node.kinds;
    const int64_t company = kinds == kind ? 75 : (kinds & kind) != 0 ? 50 : kinds == 0 ? 25 : 0;
    const int64_t used = scale_.node_units - view.node.units_left;
    return FloorDivide(25 * used, scale_.node_units) + company;
  }
};

}  // namespace

const std::vector<GpuPolicyKind>& GpuPolicyKinds() {
  static const std::vector<GpuPolicyKind> kinds = [] {
    std::vector<GpuPolicyKind> all;
    for (const auto& [kind, name] : kNames) all.push_back(kind);
    return all;
  }();
  return kinds;
}

std::string_view ToString(GpuPolicyKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "?";
}

std::optional<GpuPolicyKind> GpuPolicyKindFrom(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

DeviceSet SmallestIdleDevices(std::span<const DeviceState> devices, int count) {
  DeviceSet chosen = 0;
  for (; count > 0; --count) {
    int smallest = -1;
    for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
      if (!devices[i].IsIdle() || (chosen & Only(i)) != 0) continue;
      if (smallest < 0 || devices[i].total < devices[smallest].total) smallest = i;
    }
    BERTH_CHECK(smallest >= 0);
    chosen |= Only(smallest);
  }
  return chosen;
}

DeviceSet TightestDevices(const NodeView& view, const TaskShape& shape) {
  if (shape.gpu == GpuNeed::kNone) return 0;
  if (shape.gpu != GpuNeed::kShared) {
    const int asked = DevicesAsked(shape, view.node);
    const bool alike = view.node.total_each > 0;
    return alike ? LowestIdleDevices(view.devices, asked)
                 : SmallestIdleDevices(view.devices, asked);
  }
  // What is left and the device's number in one word: the least of all is wanted, without a branch
  // for each.
  constexpr int kNumberBits = 5;
  static_assert(kDevicesMax == 1 << kNumberBits);
  constexpr auto kNone = std::numeric_limits<int64_t>::max();
  int64_t tightest = kNone;
  for (int i = 0; i < static_cast<int>(view.devices.size()); ++i) {
    const int64_t left = view.devices[i].left;
    const int64_t candidate = left << kNumberBits | i;
    tightest = std::min(tightest, left < shape.units ? kNone : candidate);
  }
  BERTH_CHECK(tightest != kNone);
  return Only(static_cast<int>(tightest & (kDevicesMax - 1)));
}

std::unique_ptr<GpuPolicy> MakeGpuPolicy(GpuPolicyKind kind, const GpuPolicyInputs& inputs) {
  switch (kind) {
    case GpuPolicyKind::kRandom:
      return std::make_unique<Random>(inputs);
    case GpuPolicyKind::kFirstFit:
      return std::make_unique<FirstFit>(inputs);
    case GpuPolicyKind::kWorstFit:
      return std::make_unique<WorstFit>(inputs);
    case GpuPolicyKind::kBestFit:
      return std::make_unique<BestFit>(inputs);
    case GpuPolicyKind::kDotProduct:
      return std::make_unique<DotProduct>(inputs);
    case GpuPolicyKind::kGpuPacking:
      return std::make_unique<GpuPacking>(inputs);
    case GpuPolicyKind::kGpuClustering:
      return std::make_unique<GpuClustering>(inputs);
    case GpuPolicyKind::kFgd:
      return std::make_unique<Fgd>(inputs);
    case GpuPolicyKind::kWorth:
      return std::make_unique<Worth>(inputs.known_mix);
  }
  BERTH_CHECK(false);
}

}  // namespace berth::placement

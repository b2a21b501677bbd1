#include "placement/fleet/worth/worth.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

namespace berth::placement {
namespace {

constexpr DeviceSet Only(int device) { return DeviceSet{1} << device; }

}  // namespace

Worth::Worth(std::vector<CountedShape> known_mix) : known_mix_(std::move(known_mix)) {}

// --- what changes the prices

void Worth::NodeChanged(const NodeView& view) {
  if (static_cast<size_t>(view.slot) >= nodes_.size()) {
    const auto slots = static_cast<size_t>(view.slot) + 1;
    nodes_.resize(slots);
    valuations_.resize(slots);
  }
  const WorthNode before = std::exchange(nodes_[view.slot], ToWorthNode(view));
  if (epoch_ > 0 && valuations_[view.slot].epoch == epoch_) Revalue(view.slot, before);
}

void Worth::TaskArrived(ShapeId, const TaskShape& shape) {
  RefreshIfNever();
  if (known_mix_.empty()) mix_.Learn(shape, 1, kinds_.smallest());
  if (++tasks_ < next_refresh_) return;
  const auto nodes = static_cast<int64_t>(nodes_.size());
  next_refresh_ = tasks_ + std::min(kRefreshGrowth * tasks_, std::max(kRefreshStepMax, nodes)) + 1;
  Refresh();
}

void Worth::RefreshIfNever() {
  if (epoch_ == 0) Refresh();
}

void Worth::Refresh() {
  ++epoch_;
  for (const WorthNode& node : nodes_) {
    for (int i = 0; i < node.devices; ++i) {
      if (i == 0 || node.totals[i] != node.totals[i - 1]) kinds_.Add(node.totals[i]);
    }
  }
  if (kinds_.size() == 0) kinds_.Add(kWholeDeviceSize);
  if (epoch_ == 1) {
    for (const CountedShape& known : known_mix_) {
      mix_.Learn(known.shape, known.count, kinds_.smallest());
    }
  }
  classes_ = mix_.Pick(kinds_.smallest());
  prices_.Solve(nodes_, kinds_, classes_);
  rents_ = ModelRents(nodes_, kinds_, mix_.size_by_models());
  KeepMostDemanded(classes_, kinds_.smallest(), CopiesWorth::kClassesMax);
  const int64_t tasks = std::max<int64_t>(1, mix_.tasks());
  std::vector<int64_t> weights;
  for (const DemandClass& each : classes_) {
    weights.push_back(DemandOf(each, kinds_.smallest()) * kCopiesWeight * kPriceUnit / 1000 /
                      tasks);
  }
  copies_worth_ = CopiesWorth(classes_, weights);
  ForgetParts();
}

// The first one is nothing.
void Worth::ForgetParts() {
  parts_ids_.clear();
  device_parts_.assign(1, {});
}

// --- what a node is worth

void Worth::Parts::Add(const Parts& other) {
  for (size_t i = 0; i < earns.size(); ++i) earns[i] += other.earns[i];
  for (size_t i = 0; i < copies.size(); ++i) copies[i] += other.copies[i];
}

void Worth::Parts::Subtract(const Parts& other) {
  for (size_t i = 0; i < earns.size(); ++i) earns[i] -= other.earns[i];
  for (size_t i = 0; i < copies.size(); ++i) copies[i] -= other.copies[i];
}

Worth::PartsId Worth::PartsOf(int kind, int32_t left, bool idle) {
  const uint64_t key = static_cast<uint64_t>(kind) << 33 | static_cast<uint64_t>(left) << 1 |
                       static_cast<uint64_t>(idle);
  const auto [known, added] =
      parts_ids_.try_emplace(key, static_cast<PartsId>(device_parts_.size()));
  if (!added) return known->second;
  Parts& parts = device_parts_.emplace_back();
  parts.earns = prices_.Earns(kind, CellsOf(left, kinds_.total(kind)));
  for (size_t i = 0; i < classes_.size(); ++i) {
    const DemandClass& each = classes_[i];
    parts.copies[i] = each.whole ? (idle ? 1 : 0) : left / each.units;
  }
  return known->second;
}

int64_t Worth::WorthOf(const Parts& parts, const Parts& less, const Parts& more, int64_t cpu_left,
                       int model) const {
  int64_t worth = std::numeric_limits<int64_t>::max();
  for (int price = 0; price < kCpuPrices; ++price) {
    worth = std::min(worth, prices_.cpu_price(price) * cpu_left + parts.earns[price] -
                                less.earns[price] + more.earns[price]);
  }
  worth += copies_worth_.Of(parts.copies, less.copies, more.copies, cpu_left);
  return worth * (kRentUnit + rents_[model]) / kRentUnit;
}

const Worth::Valuation& Worth::Value(int32_t slot) {
  Valuation& valuation = valuations_[slot];
  if (device_parts_.size() > kDevicePartsMax) {
    ForgetParts();
    for (Valuation& each : valuations_) each.epoch = 0;
  }
  if (valuation.epoch == epoch_) return valuation;
  const WorthNode& node = nodes_[slot];
  valuation.parts = {};
  for (int i = 0; i < node.devices; ++i) {
    // Devices side by side are often alike.
    const bool is_like_last = i > 0 && node.left[i] == node.left[i - 1] &&
                              node.totals[i] == node.totals[i - 1] &&
                              node.IsIdle(i) == node.IsIdle(i - 1);
    if (is_like_last) {
      valuation.kinds[i] = valuation.kinds[i - 1];
      valuation.of_device[i] = valuation.of_device[i - 1];
    } else {
      const int kind = kinds_.KindOf(node.totals[i]);
      valuation.kinds[i] = static_cast<uint8_t>(kind);
      valuation.of_device[i] = PartsOf(kind, node.LeftOf(i, kinds_), node.IsIdle(i));
    }
    valuation.parts.Add(device_parts_[valuation.of_device[i]]);
  }
  valuation.worth = WorthOf(valuation.parts, Nothing(), Nothing(), node.cpu_left, node.model);
  valuation.epoch = epoch_;
  return valuation;
}

// Only what changed is counted again.
void Worth::Revalue(int32_t slot, const WorthNode& before) {
  Valuation& valuation = valuations_[slot];
  const WorthNode& node = nodes_[slot];
  if (node.devices != before.devices || node.totals != before.totals) {
    valuation.epoch = 0;
    return;
  }
  for (int i = 0; i < node.devices; ++i) {
    if (node.left[i] == before.left[i] && node.IsIdle(i) == before.IsIdle(i)) continue;
    valuation.parts.Subtract(device_parts_[valuation.of_device[i]]);
    valuation.of_device[i] = PartsOf(valuation.kinds[i], node.LeftOf(i, kinds_), node.IsIdle(i));
    valuation.parts.Add(device_parts_[valuation.of_device[i]]);
  }
  valuation.worth = WorthOf(valuation.parts, Nothing(), Nothing(), node.cpu_left, node.model);
}

// --- what a task makes of it

Worth::Best Worth::FindSharedDevice(int32_t slot, const TaskShape& shape) {
  const Valuation& now = Value(slot);
  const WorthNode& node = nodes_[slot];
  std::optional<Best> best;
  for (int i = 0; i < node.devices; ++i) {
    if (node.left[i] < shape.units) continue;
    const PartsId less = now.of_device[i];
    const auto* before = now.of_device.begin() + i;
    if (std::find(now.of_device.begin(), before, less) != before) continue;  // seen
    const PartsId more = PartsOf(now.kinds[i], node.left[i] - shape.units, false);
    const int64_t after = WorthOf(now.parts, device_parts_[less], device_parts_[more],
                                  node.cpu_left - shape.cpu, node.model);
    const int64_t score = after - now.worth;
    if (!best || score > best->score) best = {.score = score, .devices = Only(i)};
  }
  return *best;
}

Worth::Best Worth::FindWholeDevices(const NodeView& view, const TaskShape& shape) {
  const Valuation& now = Value(view.slot);
  const WorthNode& node = nodes_[view.slot];
  const DeviceSet devices = TightestDevices(view, shape);
  // Of a device that is taken nothing is left.
  const auto scored = [&](const Parts& less) {
    const int64_t after =
        WorthOf(now.parts, less, Nothing(), node.cpu_left - shape.cpu, node.model);
    return Best{.score = after - now.worth, .devices = devices};
  };
  if (devices == 0) return scored(Nothing());
  if (std::has_single_bit(devices)) {
    return scored(device_parts_[now.of_device[std::countr_zero(devices)]]);
  }
  Parts less;
  for (DeviceSet rest = devices; rest != 0; rest &= rest - 1) {
    less.Add(device_parts_[now.of_device[std::countr_zero(rest)]]);
  }
  return scored(less);
}

Worth::Best Worth::Find(const NodeView& view, const TaskShape& shape) {
  RefreshIfNever();
  return shape.gpu == GpuNeed::kShared ? FindSharedDevice(view.slot, shape)
                                       : FindWholeDevices(view, shape);
}

int64_t Worth::Score(const NodeView& view, ShapeId, const TaskShape& shape) {
  return Find(view, shape).score;
}

DeviceSet Worth::ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) {
  return Find(view, shape).devices;
}

}  // namespace berth::placement

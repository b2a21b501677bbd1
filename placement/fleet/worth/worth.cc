#include "placement/fleet/worth/worth.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

namespace berth::placement {
namespace {

constexpr DeviceSet Only(int device) { return DeviceSet{1} << device; }

}  // namespace

// --- what changes the prices

void Worth::NodeChanged(const NodeView& view) {
  if (static_cast<size_t>(view.slot) >= nodes_.size()) {
    const auto slots = static_cast<size_t>(view.slot) + 1;
    nodes_.resize(slots);
    parts_.resize(slots);
    worths_.resize(slots);
    computed_.resize(slots);
  }
  nodes_[view.slot] = ToWorthNode(view);
  computed_[view.slot] = 0;
}

void Worth::TaskArrived(ShapeId, const TaskShape& shape) {
  RefreshIfNever();
  mix_.Learn(shape, kinds_.smallest());
  if (++tasks_ < next_refresh_) return;
  const auto nodes = static_cast<int64_t>(nodes_.size());
  next_refresh_ = tasks_ + std::min(tasks_ / 4, std::max(kRefreshStepMax, nodes)) + 1;
  Refresh();
}

void Worth::RefreshIfNever() {
  if (epoch_ == 0) Refresh();
}

void Worth::Refresh() {
  ++epoch_;
  for (const WorthNode& node : nodes_) {
    for (int i = 0; i < node.devices; ++i) kinds_.Add(node.totals[i]);
  }
  if (kinds_.size() == 0) kinds_.Add(kWholeDeviceSize);
  const std::vector<DemandClass> classes = mix_.Pick(kinds_.smallest());
  prices_.Solve(nodes_, kinds_, classes);
  rents_ = ModelRents(nodes_, kinds_, mix_.size_by_models());
  MakeClasses(classes);
}

void Worth::MakeClasses(const std::vector<DemandClass>& demand) {
  const int64_t tasks = std::max<int64_t>(1, mix_.tasks());
  classes_.clear();
  for (const DemandClass& each : demand) {
    const int64_t size = each.devices * SizeOf(each.units, kinds_.smallest());
    classes_.push_back({.devices = each.devices,
                        .units = each.units,
                        .whole = each.whole,
                        .cpu = each.cpu,
                        .weight = each.count * size * kCopiesWeight * kPriceUnit / 1000 / tasks});
  }
  device_parts_.clear();
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

const Worth::Parts& Worth::PartsOf(int kind, int32_t left, bool idle) {
  const uint64_t key = static_cast<uint64_t>(kind) << 33 | static_cast<uint64_t>(left) << 1 |
                       static_cast<uint64_t>(idle);
  if (device_parts_.size() >= kDevicePartsMax) device_parts_.clear();
  const auto [known, added] = device_parts_.try_emplace(key);
  Parts& parts = known->second;
  if (!added) return parts;
  const int cells = CellsOf(left, kinds_.total(kind));
  for (int price = 0; price < kCpuPrices; ++price) {
    parts.earns[price] = prices_.Earns(kind, price, cells);
  }
  for (size_t i = 0; i < classes_.size(); ++i) {
    const Class& each = classes_[i];
    parts.copies[i] = each.whole ? (idle ? 1 : 0) : left / each.units;
  }
  return parts;
}

int64_t Worth::WorthOf(const Parts& parts, int64_t cpu_left, int model) const {
  int64_t worth = std::numeric_limits<int64_t>::max();
  for (int price = 0; price < kCpuPrices; ++price) {
    worth = std::min(worth, prices_.cpu_price(price) * cpu_left + parts.earns[price]);
  }
  for (size_t i = 0; i < classes_.size(); ++i) {
    const int64_t devices = parts.copies[i];
    if (devices == 0) continue;
    const Class& each = classes_[i];
    const int64_t held = each.devices == 1 ? devices : devices / each.devices;
    if (held * each.cpu <= cpu_left) {
      worth += each.weight * held;
      continue;
    }
    // Copies that the devices could hold but not the CPU count against the node.
    const int64_t copies = cpu_left / each.cpu;
    worth += each.weight * copies;
    if (each.devices == 1) worth -= each.weight * (held - copies);
  }
  return worth * (kRentUnit + rents_[model]) / kRentUnit;
}

void Worth::Recompute(int32_t slot) {
  if (computed_[slot] == epoch_) return;
  const WorthNode& node = nodes_[slot];
  Parts& parts = parts_[slot];
  parts = {};
  for (int i = 0; i < node.devices; ++i) {
    parts.Add(PartsOf(kinds_.KindOf(node.totals[i]), node.LeftOf(i, kinds_), node.IsIdle(i)));
  }
  worths_[slot] = WorthOf(parts, node.cpu_left, node.model);
  computed_[slot] = epoch_;
}

// --- what a task makes of it

Worth::Best Worth::FindSharedDevice(int32_t slot, const TaskShape& shape) {
  const WorthNode& node = nodes_[slot];
  std::optional<Best> best;
  for (int i = 0; i < node.devices; ++i) {
    if (node.left[i] < shape.units) continue;
    const auto is_like = [&](int other) {
      return node.left[other] == node.left[i] && node.totals[other] == node.totals[i] &&
             node.IsIdle(other) == node.IsIdle(i);
    };
    bool seen = false;
    for (int j = 0; j < i && !seen; ++j) seen = is_like(j);
    if (seen) continue;
    const int kind = kinds_.KindOf(node.totals[i]);
    Parts after = parts_[slot];
    after.Subtract(PartsOf(kind, node.left[i], node.IsIdle(i)));
    after.Add(PartsOf(kind, node.left[i] - shape.units, false));
    const int64_t score = WorthOf(after, node.cpu_left - shape.cpu, node.model) - worths_[slot];
    if (!best || score > best->score) best = {.score = score, .devices = Only(i)};
  }
  return *best;
}

Worth::Best Worth::Find(const NodeView& view, const TaskShape& shape) {
  RefreshIfNever();
  Recompute(view.slot);
  if (shape.gpu == GpuNeed::kShared) return FindSharedDevice(view.slot, shape);
  const WorthNode& node = nodes_[view.slot];
  Best best;
  if (shape.gpu == GpuNeed::kNone) {
    const int64_t after = WorthOf(parts_[view.slot], node.cpu_left - shape.cpu, node.model);
    best.score = after - worths_[view.slot];
    return best;
  }
  best.devices = SmallestIdleDevices(view.devices, DevicesAsked(shape, view.node));
  Parts after = parts_[view.slot];
  for (DeviceSet rest = best.devices; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const int kind = kinds_.KindOf(node.totals[i]);
    after.Subtract(PartsOf(kind, node.LeftOf(i, kinds_), true));
    after.Add(PartsOf(kind, 0, false));
  }
  best.score = WorthOf(after, node.cpu_left - shape.cpu, node.model) - worths_[view.slot];
  return best;
}

int64_t Worth::Score(const NodeView& view, ShapeId, const TaskShape& shape) {
  return Find(view, shape).score;
}

DeviceSet Worth::ChooseDevices(const NodeView& view, ShapeId, const TaskShape& shape) {
  return Find(view, shape).devices;
}

}  // namespace berth::placement

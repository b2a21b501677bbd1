#include "placement/gpu_order.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "model/check.h"
#include "model/rng.h"
#include "placement/inventory_impl.h"
#include "placement/task_shapes.h"

namespace berth::placement {
namespace {

// The rest have no use for FleetScale; worth would lose what it has learned.
bool MeasuresByScale(GpuPolicyKind kind) {
  return kind != GpuPolicyKind::kRandom && kind != GpuPolicyKind::kFirstFit &&
         kind != GpuPolicyKind::kWorth;
}

// Until a task has come: one whole GPU.
TaskMix FirstMix() {
  return TaskMix({{.shape = {.gpu = GpuNeed::kWhole, .devices = 1}, .count = 1}});
}

}  // namespace

// --- the policy

void GpuOrder::Set(ClusterGpuPolicy policy) {
  set_ = policy;
  policy_ = nullptr;
  policy_epoch_ = 0;
  ++epoch_;
  seen_ = ChangeLog::kNever;
  nodes_.clear();
  devices_.clear();
  devices_per_slot_ = 0;
  largest_cpu_ = largest_units_ = 0;
  arrivals_ = {};
  arrived_ = 0;
  next_mix_ = kFirstMix;
}

GpuPolicyInputs GpuOrder::Inputs() const {
  // The most frequent size of a device; of equally frequent ones the smallest.
  std::map<int32_t, int64_t> devices_by_total;
  for (size_t slot = 0; slot < nodes_.size(); ++slot) {
    for (const DeviceState& device : ViewOf(static_cast<int32_t>(slot)).devices) {
      if (device.total > 0) ++devices_by_total[device.total];
    }
  }
  const auto typical =
      std::max_element(devices_by_total.begin(), devices_by_total.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  GpuPolicyInputs inputs;
  inputs.scale = {.node_cpu = std::max<int64_t>(1, largest_cpu_),
                  .node_units = std::max<int64_t>(1, largest_units_),
                  .device_units = typical == devices_by_total.end() ? 1 : typical->first};
  if (set_.kind == GpuPolicyKind::kFgd) {
    inputs.mix = arrived_ == 0 ? FirstMix() : MostFrequent(arrivals_.Typical(), kMixShapesMax);
  }
  return inputs;
}

void GpuOrder::MakePolicy() {
  policy_ = MakeGpuPolicy(*set_.kind, Inputs());
  outgrown_ = false;
  for (size_t slot = 0; slot < nodes_.size(); ++slot) {
    policy_->NodeChanged(ViewOf(static_cast<int32_t>(slot)));
  }
  for (size_t id = 0; id < shapes_.size(); ++id) {
    if (shapes_[id].numbered) policy_->ShapeAdded(static_cast<ShapeId>(id), shapes_[id].shape);
  }
  policy_epoch_ = policy_->epoch();
  ++epoch_;
}

uint64_t GpuOrder::epoch() {
  const uint64_t now = policy_ == nullptr ? 0 : policy_->epoch();
  if (std::exchange(policy_epoch_, now) != now) ++epoch_;
  return epoch_;
}

void GpuOrder::NoteArrival(const TaskShape& shape, const Inventory::Impl& inventory) {
  if (!active()) return;
  CatchUp(inventory);
  const ShapeId id = Use(shape);
  policy_->TaskArrived(id, shape);
  Release(id);
  if (set_.kind != GpuPolicyKind::kFgd) return;
  arrivals_.Add(shape);
  if (++arrived_ < next_mix_) return;
  const auto step_max = std::max(kMixStepMax, std::ssize(nodes_));
  next_mix_ = arrived_ + std::min(arrived_ / 4, step_max) + 1;
  MakePolicy();
}

// --- the instances

NodeView GpuOrder::ViewOf(int32_t slot) const {
  const NodeState& node = nodes_[slot];
  return {.slot = slot,
          .node = node,
          .devices = {devices_.data() + slot * devices_per_slot_, node.devices}};
}

std::vector<DeviceState>::iterator GpuOrder::DevicesOf(int32_t slot) {
  return devices_.begin() + static_cast<std::ptrdiff_t>(slot * devices_per_slot_);
}

void GpuOrder::GrowDevices(size_t per_slot) {
  std::vector<DeviceState> devices(nodes_.size() * per_slot);
  for (size_t slot = 0; slot < nodes_.size(); ++slot) {
    std::copy_n(DevicesOf(static_cast<int32_t>(slot)), nodes_[slot].devices,
                devices.begin() + static_cast<std::ptrdiff_t>(slot * per_slot));
  }
  devices_ = std::move(devices);
  devices_per_slot_ = per_slot;
}

void GpuOrder::Mirror(int32_t slot, const Instance* instance) {
  nodes_[slot] = {};
  DeviceStates states;
  if (instance != nullptr) states = DeviceStatesOf(*instance);
  if (instance == nullptr || states.size() > kDevicesMax) return;
  if (states.size() > devices_per_slot_) GrowDevices(states.size());
  std::copy(states.begin(), states.end(), DevicesOf(slot));
  NodeState& node = nodes_[slot];
  node = NodeStateOf(*instance, states);
  int64_t units = 0;
  for (const DeviceState& device : states) units += device.total;
  outgrown_ |= node.cpu_total > largest_cpu_ || units > largest_units_;
  largest_cpu_ = std::max(largest_cpu_, node.cpu_total);
  largest_units_ = std::max(largest_units_, units);
}

void GpuOrder::CatchUp(const Inventory::Impl& inventory) {
  const ChangeLog& changes = inventory.changes;
  if (policy_ != nullptr && seen_ == changes.sequence()) return;
  if (inventory.instances.size() > nodes_.size()) {
    nodes_.resize(inventory.instances.size());
    devices_.resize(nodes_.size() * devices_per_slot_);
  }
  const auto redo = [&](int32_t slot) {
    Mirror(slot, inventory.instances[slot].get());
    if (policy_ != nullptr) policy_->NodeChanged(ViewOf(slot));
  };
  if (changes.CanReplay(seen_)) {
    changes.Replay(seen_, redo);
  } else {
    for (size_t slot = 0; slot < nodes_.size(); ++slot) redo(static_cast<int32_t>(slot));
  }
  seen_ = changes.sequence();
  if (policy_ == nullptr || (outgrown_ && MeasuresByScale(*set_.kind))) MakePolicy();
}

// --- the questions

template <class Ask>
auto GpuOrder::AskAbout(const Instance& instance, const Demand& demand, Ask ask) {
  const NodeView as_it_is = ViewOf(instance.slot);
  const auto lacks_clients = [&](const Device& device) {
    return device.registered && device.use != model::GpuUse::kDedicated &&
           FreeMpsClients(instance, device) < demand.gpu.containers;
  };
  if (demand.gpu.kind != GpuDemand::Kind::kShared ||
      std::none_of(instance.devices.begin(), instance.devices.end(), lacks_clients)) {
    return ask(as_it_is);
  }
  DeviceStates devices(as_it_is.devices.begin(), as_it_is.devices.end());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (lacks_clients(instance.devices[i])) devices[i].left = 0;
  }
  NodeState node = as_it_is.node;
  Summarise(devices, node);
  const NodeView as_found{.slot = instance.slot, .node = node, .devices = devices};
  policy_->NodeChanged(as_found);
  const auto answer = ask(as_found);
  policy_->NodeChanged(as_it_is);
  return answer;
}

int64_t GpuOrder::Score(const Instance& instance, ShapeId id, const Demand& demand) {
  if (!nodes_[instance.slot].present) return kUnseen;
  return AskAbout(instance, demand, [&](const NodeView& view) -> int64_t {
    return policy_->Score(view, id, shapes_[id].shape);
  });
}

GpuChoice GpuOrder::Choose(const Instance& instance, ShapeId id, const Demand& demand,
                           uint64_t seed) {
  if (demand.gpu.kind == GpuDemand::Kind::kNone) return {};
  const bool shares = demand.gpu.kind == GpuDemand::Kind::kShared;
  if (!nodes_[instance.slot].present) {
    return {.shared = shares ? ChooseSharedGpu(demand.gpu, instance)->rank : 0};
  }
  const TaskShape& shape = shapes_[id].shape;
  const DeviceSet chosen = AskAbout(instance, demand, [&](const NodeView& view) {
    if (!shares || !draws()) return policy_->ChooseDevices(view, id, shape);
    // Not the policy's own draw: the same request, repeated from its seed, finds the same.
    DeviceSet fitting = 0;
    for (size_t i = 0; i < view.devices.size(); ++i) {
      if (view.devices[i].left >= shape.units) fitting |= DeviceSet{1} << i;
    }
    for (uint64_t before = model::Rng(seed).Fork().Below(std::popcount(fitting)); before > 0;
         --before) {
      fitting &= fitting - 1;
    }
    return fitting & ~(fitting - 1);
  });
  if (!shares) return {.whole = chosen};
  return {.shared = instance.devices[std::countr_zero(chosen)].rank};
}

// --- the shapes

ShapeId GpuOrder::Use(const TaskShape& shape) {
  auto known = shape_ids_.find(shape);
  if (known == shape_ids_.end()) {
    if (shape_ids_.size() >= kShapesMax) ForgetUnused();
    if (free_shapes_.empty()) {
      free_shapes_.push_back(static_cast<ShapeId>(shapes_.size()));
      shapes_.emplace_back();
    }
    known = shape_ids_.emplace(shape, free_shapes_.back()).first;
    free_shapes_.pop_back();
    shapes_[known->second] = {.shape = shape, .numbered = true};
    if (policy_ != nullptr) policy_->ShapeAdded(known->second, shape);
  }
  ++shapes_[known->second].uses;
  return known->second;
}

void GpuOrder::Release(ShapeId id) { BERTH_CHECK(--shapes_[id].uses >= 0); }

void GpuOrder::ForgetUnused() {
  for (size_t id = 0; id < shapes_.size(); ++id) {
    Known& known = shapes_[id];
    if (!known.numbered || known.uses > 0) continue;
    shape_ids_.erase(known.shape);
    known = {};
    free_shapes_.push_back(static_cast<ShapeId>(id));
  }
}

ShapeUse::ShapeUse(GpuOrder& order, const Demand& demand)
    : order_(order), id_(order.Use(ShapeOf(demand))) {}

// --- about itself

std::vector<std::string> GpuOrder::FindViolations(const Inventory::Impl& inventory) {
  std::vector<std::string> violations;
  if (!active()) return violations;
  CatchUp(inventory);
  for (const auto& instance : inventory.instances) {
    if (instance == nullptr) continue;
    const DeviceStates states = DeviceStatesOf(*instance);
    const NodeView view = ViewOf(instance->slot);
    if (states.size() > kDevicesMax && !view.node.present) continue;
    const NodeState node = NodeStateOf(*instance, states);
    if (!view.node.present || node.cpu_left != view.node.cpu_left ||
        node.memory_left != view.node.memory_left || node.eligible != view.node.eligible ||
        node.model != view.node.model || node.kinds != view.node.kinds ||
        !std::equal(states.begin(), states.end(), view.devices.begin(), view.devices.end())) {
      violations.push_back("the GPU policy sees instance " + instance->id.value +
                           " as it is no more");
    }
  }
  return violations;
}

}  // namespace berth::placement

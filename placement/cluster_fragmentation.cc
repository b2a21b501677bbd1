#include "placement/cluster_fragmentation.h"

#include <algorithm>
#include <utility>

#include "placement/change_log.h"
#include "placement/instance_fragmentation.h"
#include "placement/inventory_impl.h"
#include "placement/task_shapes.h"

namespace berth::placement {
void ClusterFragmentation::Note(const Reservation& reservation) {
  arrivals_.Add(ShapeOf(reservation));
  ++noted_;
}

void ClusterFragmentation::RefreshMix() {
  const int64_t due =
      noted_at_refresh_ + std::min(kMixStep, std::max<int64_t>(1, noted_at_refresh_));
  if (noted_ < due) return;
  mix_ = MostFrequent(arrivals_.Typical(), kTypicalShapesMax);
  noted_at_refresh_ = noted_;
  seen_ = ChangeLog::kNever;
}

void ClusterFragmentation::Redo(const Inventory& inventory, int32_t slot) {
  const Instance* instance = inventory.impl().instances[slot].get();
  FragmentationFigures& figures = by_slot_[slot];
  all_ -= figures;
  figures = instance == nullptr ? FragmentationFigures() : FiguresOf(*instance, mix_);
  all_ += figures;
}

FragmentationFigures ClusterFragmentation::Read(const Inventory& inventory) {
  const Inventory::Impl& impl = inventory.impl();
  RefreshMix();
  by_slot_.resize(impl.instances.size());
  if (impl.changes.CanReplay(seen_)) {
    impl.changes.Replay(seen_, [&](int32_t slot) { Redo(inventory, slot); });
  } else {
    for (int32_t slot = 0; slot < std::ssize(by_slot_); ++slot) Redo(inventory, slot);
  }
  seen_ = impl.changes.sequence();
  return all_;
}

std::vector<FragmentedInstance> ClusterFragmentation::Worst(const Inventory& inventory,
                                                            int64_t instances_max) {
  Read(inventory);
  const auto& instances = inventory.impl().instances;
  std::vector<const Instance*> worst;
  for (size_t slot = 0; slot < by_slot_.size(); ++slot) {
    if (by_slot_[slot].fragmented_milli_mib > 0) worst.push_back(instances[slot].get());
  }
  const auto precedes = [this](const Instance* a, const Instance* b) {
    const int64_t of_a = by_slot_[a->slot].fragmented_milli_mib;
    const int64_t of_b = by_slot_[b->slot].fragmented_milli_mib;
    return of_a != of_b ? of_a > of_b : a->id < b->id;
  };
  const auto count = std::min<int64_t>(instances_max, std::ssize(worst));
  std::partial_sort(worst.begin(), worst.begin() + count, worst.end(), precedes);
  worst.resize(count);

  std::vector<FragmentedInstance> answer;
  for (const Instance* instance : worst) {
    FragmentedInstance& one = answer.emplace_back(
        FragmentedInstance{.instance = instance->id, .figures = by_slot_[instance->slot]});
    size_t i = 0;
    const std::vector<FragmentationFigures> by_device = FiguresByDevice(*instance, mix_);
    for (const Device& device : instance->devices) {
      if (!device.registered) continue;
      one.devices.push_back({.id = device.id, .figures = by_device[i++]});
    }
  }
  return answer;
}

}  // namespace berth::placement

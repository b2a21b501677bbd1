#include "placement/fleet/worth/model_rents.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/numeric/int128.h"
#include "placement/fleet/worth/demand_classes.h"

namespace berth::placement {
namespace {

constexpr int kPasses = 12;
constexpr int64_t kPressureMax = 2 * kRentUnit;

int64_t MultiplyDivide(int64_t a, int64_t b, int64_t divisor) {
  return static_cast<int64_t>(absl::int128(a) * b / divisor);
}

using ByModel = std::array<int64_t, kModelsMax>;

struct Named {
  uint64_t models = 0;
  int64_t size = 0;
  ByModel parts = {};
};

// Takes back what `named` had put on its models, and pours it on those of the least pressure until
// they are level.
void Pour(Named& named, const ByModel& left, ByModel& load) {
  std::array<int, kModelsMax> models;
  int count = 0;
  for (uint64_t rest = named.models; rest != 0; rest &= rest - 1) {
    const int model = std::countr_zero(rest);
    load[model] -= named.parts[model];
    named.parts[model] = 0;
    models[count++] = model;
  }
  const auto pressure = [&](int model) { return load[model] * kRentUnit / left[model]; };
  std::stable_sort(models.begin(), models.begin() + count,
                   [&](int a, int b) { return pressure(a) < pressure(b); });
  int64_t level_left = 0;
  int64_t level_load = named.size;
  int taking = 0;
  for (; taking < count; ++taking) {
    const int model = models[taking];
    if (taking > 0 && level_load * kRentUnit / level_left <= pressure(model)) break;
    level_left += left[model];
    level_load += load[model];
  }
  for (int i = 0; i < taking; ++i) {
    const int model = models[i];
    const int64_t level = MultiplyDivide(level_load, left[model], level_left);
    named.parts[model] = std::max<int64_t>(0, level - load[model]);
    load[model] += named.parts[model];
  }
}

}  // namespace

std::array<int64_t, kModelsMax> ModelRents(const std::vector<WorthNode>& nodes,
                                           const DeviceKinds& kinds,
                                           const std::map<uint64_t, int64_t>& size_by_models) {
  ByModel left;
  left.fill(1);
  uint64_t present = 0;
  int64_t size_left = 0;
  for (const WorthNode& node : nodes) {
    if (!node.present) continue;
    present |= uint64_t{1} << node.model;
    for (int i = 0; i < node.devices; ++i) {
      const int64_t size = SizeOf(node.LeftOf(i, kinds), kinds.smallest());
      left[node.model] += size;
      size_left += size;
    }
  }
  int64_t demand = 0;
  for (const auto& [models, size] : size_by_models) demand += size;

  ByModel rents = {};
  if (demand == 0) return rents;
  std::vector<Named> all_named;
  for (const auto& [models, size] : size_by_models) {
    const uint64_t here = models & present;
    if (here == 0 || here == present) continue;  // names none, or accepts all
    all_named.push_back({.models = here, .size = MultiplyDivide(size, size_left, demand)});
  }
  ByModel load = {};
  for (int pass = 0; pass < kPasses; ++pass) {
    for (Named& named : all_named) Pour(named, left, load);
  }
  for (int model = 0; model < kModelsMax; ++model) {
    const int64_t pressure = std::min(kPressureMax, load[model] * kRentUnit / left[model]);
    const int64_t square = pressure * pressure / kRentUnit;
    rents[model] = square * square / kRentUnit / 2;
  }
  return rents;
}

}  // namespace berth::placement

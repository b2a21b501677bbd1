#include "placement/fleet/worth/prices.h"

#include <algorithm>
#include <tuple>

#include "placement/fleet/node_states.h"
#include "placement/vector_clones.h"

namespace berth::placement {
namespace {

constexpr int64_t kOne = 1024;           // 1.0 for rates and ratios
constexpr int64_t kCpuStep = 512;        // to which a supply's CPU is rounded down
constexpr int64_t kNeededParts = 64;     // of a copy
constexpr int64_t kRatioMax = 4 * kOne;  // by how much a class can seem overserved
constexpr int64_t kColdRate = 102;       // a tenth, that falls to a fiftieth
constexpr int64_t kWarmRate = 34;

// Rounded up, but for a tenth of a cell, since MiB are rounded as well.
int CellsNeeded(int64_t units, int32_t total) {
  return static_cast<int>(std::max<int64_t>(1, (units * kCells * 10 / total + 9) / 10));
}

}  // namespace

std::vector<Prices::Item> Prices::MakeItems(const DeviceKinds& kinds,
                                            const std::vector<DemandClass>& classes,
                                            int64_t size_left) const {
  std::map<std::tuple<int32_t, bool, int64_t>, int64_t> counts;
  for (const DemandClass& each : classes) {
    counts[{each.units, each.whole, each.cpu / each.devices}] += each.count * each.devices;
  }
  std::vector<Item> items;
  int64_t demand = 0;
  for (const auto& [key, count] : counts) {
    const auto& [units, whole, cpu] = key;
    Item item = {.units = units,
                 .whole = whole,
                 .cpu = cpu,
                 .size = SizeOf(units, kinds.smallest()),
                 .count = count};
    for (int kind = 0; kind < kinds.size(); ++kind) {
      const int32_t total = kinds.total(kind);
      const int shared = units <= total ? CellsNeeded(units, total) : kCells + 1;
      item.cells.push_back(whole ? kCells : shared);
    }
    const auto known = known_.find(key);
    item.price = known != known_.end() ? known->second : item.size << kPriceBits;
    demand += count * item.size;
    items.push_back(std::move(item));
  }
  for (Item& item : items) {
    item.needed =
        std::max<int64_t>(1, item.count * size_left * kNeededParts / std::max<int64_t>(1, demand));
  }
  return items;
}

void Prices::OrderByCells(const std::vector<Item>& items) {
  for (size_t kind = 0; kind < orders_.size(); ++kind) {
    std::vector<int>& order = orders_[kind];
    order.clear();
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].cells[kind] <= kCells) order.push_back(static_cast<int>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return items[a].cells[kind] < items[b].cells[kind]; });
  }
}

namespace {

template <size_t N>
using Amounts = std::array<int64_t, N>;

// The items that need equally many cells, and the best of them at each price.
struct Candidate {
  int cells = 0;
  Amounts<kCpuPrices> earns = {};
  Amounts<kCpuPrices> item = {};
};

// The best filling of every remainder, at all prices side by side.
BERTH_VECTOR_CLONES void FillTable(const std::vector<Candidate>& candidates,
                                   Amounts<kCpuPrices>* table, Amounts<kCpuPrices>* fills) {
  table[0].fill(0);
  fills[0].fill(-1);
  for (int left = 1; left <= kCells; ++left) {
    Amounts<kCpuPrices> best = table[left - 1];
    Amounts<kCpuPrices> fill;
    fill.fill(-1);
    for (const Candidate& candidate : candidates) {
      if (candidate.cells > left) break;
      const Amounts<kCpuPrices>& rest = table[left - candidate.cells];
      for (int price = 0; price < kCpuPrices; ++price) {
        const int64_t earns = rest[price] + candidate.earns[price];
        fill[price] = earns > best[price] ? candidate.item[price] : fill[price];
        best[price] = earns > best[price] ? earns : best[price];
      }
    }
    table[left] = best;
    fills[left] = fill;
  }
}

}  // namespace

void Prices::FillTables(const std::vector<Item>& items) {
  std::vector<Candidate> candidates;
  for (size_t kind = 0; kind < tables_.size(); ++kind) {
    candidates.clear();
    for (const int i : orders_[kind]) {
      const int cells = items[i].cells[kind];
      if (candidates.empty() || candidates.back().cells != cells) {
        candidates.push_back({.cells = cells});
      }
      Candidate& candidate = candidates.back();
      for (int price = 0; price < kCpuPrices; ++price) {
        const int64_t earns = items[i].price - cpu_prices_[price] * items[i].cpu;
        if (earns <= candidate.earns[price]) continue;  // 0 at first: none is filled at a loss
        candidate.earns[price] = earns;
        candidate.item[price] = i;
      }
    }
    FillTable(candidates, tables_[kind].data(), fills_[kind].data());
  }
}

BERTH_VECTOR_CLONES void Prices::CountCopies(const std::vector<Item>& items) {
  for (Table& unfilled : unfilled_) unfilled.fill({});
  copies_.assign(items.size(), 0);
  // Each supply is filled at the CPU price that is its own.
  for (const Supply& supply : supplies_) {
    ByPrice worth = supply.cpu_worth;
    const SupplyDevice* devices = supply_devices_.data() + supply.first_device;
    for (uint32_t i = 0; i < supply.devices; ++i) {
      const ByPrice& earns = tables_[devices[i].kind][devices[i].cells];
      for (int price = 0; price < kCpuPrices; ++price) worth[price] += earns[price];
    }
    const auto least = std::min_element(worth.begin(), worth.end()) - worth.begin();
    for (uint32_t i = 0; i < supply.devices; ++i) {
      unfilled_[devices[i].kind][devices[i].cells][least] += supply.nodes;
    }
  }
  for (size_t kind = 0; kind < unfilled_.size(); ++kind) {
    for (int cells = kCells; cells > 0; --cells) {
      for (int price = 0; price < kCpuPrices; ++price) {
        const int64_t count = unfilled_[kind][cells][price];
        if (count == 0) continue;
        const int64_t fill = fills_[kind][cells][price];
        if (fill >= 0) copies_[fill] += count;
        unfilled_[kind][fill >= 0 ? cells - items[fill].cells[kind] : cells - 1][price] += count;
      }
    }
  }
}

void Prices::Adjust(std::vector<Item>& items, int64_t rate) const {
  for (size_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    const int64_t ratio = std::min(kRatioMax, copies_[i] * kNeededParts * kOne / item.needed);
    item.price -= item.price * rate / kOne * (ratio - kOne) / kOne;
    item.price = std::clamp(item.price, kPriceUnit, item.size << kPriceBits);
  }
}

int64_t Prices::TakeStock(const std::vector<WorthNode>& nodes, const DeviceKinds& kinds) {
  int64_t size_left = 0;
  int64_t size_total = 0;
  int64_t cpu_total = 0;
  NodeStates states;
  std::array<DeviceWord, kDevicesMax> words;
  struct Counted {
    int64_t cpu = 0;
    int64_t nodes = 0;
  };
  std::vector<Counted> counted;
  supplies_.clear();
  supply_devices_.clear();
  const size_t stride = nodes.size() / kNodesMax + 1;
  for (size_t i = 0; i < nodes.size(); i += stride) {
    const WorthNode& node = nodes[i];
    if (!node.present) continue;
    cpu_total += node.cpu_total;
    size_t devices = 0;
    int kind = 0;
    for (int j = 0; j < node.devices; ++j) {
      if (j == 0 || node.totals[j] != node.totals[j - 1]) kind = kinds.KindOf(node.totals[j]);
      const int32_t left = node.LeftOf(j, kinds);
      size_total += SizeOf(kinds.total(kind), kinds.smallest());
      size_left += SizeOf(left, kinds.smallest());
      const int cells = CellsOf(left, kinds.total(kind));
      if (cells > 0) words[devices++] = static_cast<DeviceWord>(kind) << 8 | cells;
    }
    if (devices == 0) continue;
    std::sort(words.begin(), words.begin() + devices);
    const int64_t cpu = node.cpu_left / kCpuStep * kCpuStep;
    const NodeStateId state = states.Of({.cpu_left = cpu}, {words.data(), devices});
    if (static_cast<size_t>(state) == counted.size()) {
      counted.push_back({.cpu = cpu});
      supplies_.push_back({.first_device = static_cast<uint32_t>(supply_devices_.size()),
                           .devices = static_cast<uint32_t>(devices)});
      for (size_t j = 0; j < devices; ++j) {
        supply_devices_.push_back({.kind = static_cast<uint8_t>(words[j] >> 8),
                                   .cells = static_cast<uint8_t>(words[j] & 0xFF)});
      }
    }
    ++counted[state].nodes;
  }
  const int64_t even_price = size_total * kPriceUnit / std::max<int64_t>(1, cpu_total);
  for (int price = 0; price < kCpuPrices; ++price) {
    cpu_prices_[price] =
        std::max<int64_t>(price > 0 ? 1 : 0, even_price * kCpuPriceQuarters[price] / 4);
    for (size_t i = 0; i < supplies_.size(); ++i) {
      supplies_[i].nodes = counted[i].nodes;
      supplies_[i].cpu_worth[price] = cpu_prices_[price] * counted[i].cpu;
    }
  }
  return size_left;
}

void Prices::Solve(const std::vector<WorthNode>& nodes, const DeviceKinds& kinds,
                   const std::vector<DemandClass>& classes) {
  const int64_t size_left = TakeStock(nodes, kinds);
  const auto kinds_count = static_cast<size_t>(kinds.size());
  tables_.resize(kinds_count);
  fills_.resize(kinds_count);
  unfilled_.resize(kinds_count);
  orders_.resize(kinds_count);

  const bool cold = known_.empty();
  const int rounds = cold ? kRoundsCold : kRoundsWarm;
  std::vector<Item> items = MakeItems(kinds, classes, size_left);
  OrderByCells(items);
  for (int round = 0; round < rounds; ++round) {
    FillTables(items);
    CountCopies(items);
    Adjust(items, cold ? kColdRate * rounds / (rounds + 4 * round) : kWarmRate);
    if (round < rounds / 2) continue;
    for (Item& item : items) item.price_sum += item.price;
  }
  // The mean of the later rounds, which go to and fro about the solution.
  known_.clear();
  for (Item& item : items) {
    item.price = item.price_sum / (rounds - rounds / 2);
    known_[{item.units, item.whole, item.cpu}] = item.price;
  }
  FillTables(items);
}

}  // namespace berth::placement

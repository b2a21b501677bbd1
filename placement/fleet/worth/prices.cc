#include "placement/fleet/worth/prices.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

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

void Prices::FillTables(const std::vector<Item>& items) {
  struct Candidate {
    int cells = 0;
    int item = 0;
    int64_t earns = 0;
  };
  std::vector<Candidate> candidates;
  for (size_t kind = 0; kind < tables_.size(); ++kind) {
    for (int price = 0; price < kCpuPrices; ++price) {
      candidates.clear();  // for each number of cells the best
      for (const int i : orders_[kind]) {
        const int64_t earns = items[i].price - cpu_prices_[price] * items[i].cpu;
        if (earns <= 0) continue;
        const int cells = items[i].cells[kind];
        const Candidate candidate = {.cells = cells, .item = i, .earns = earns};
        if (candidates.empty() || candidates.back().cells != cells) {
          candidates.push_back(candidate);
        } else if (earns > candidates.back().earns) {
          candidates.back() = candidate;
        }
      }
      auto& table = tables_[kind][price];
      auto& fills = fills_[kind][price];
      table[0] = 0;
      fills[0] = -1;
      for (int left = 1; left <= kCells; ++left) {
        int64_t best = table[left - 1];
        int fill = -1;
        for (const Candidate& candidate : candidates) {
          if (candidate.cells > left) break;
          const int64_t earns = table[left - candidate.cells] + candidate.earns;
          if (earns > best) {
            best = earns;
            fill = candidate.item;
          }
        }
        table[left] = best;
        fills[left] = fill;
      }
    }
  }
}

void Prices::CountCopies(const std::vector<Item>& items, const std::vector<Supply>& supplies) {
  for (Table<int64_t>& unfilled : unfilled_) {
    for (auto& row : unfilled) row.fill(0);
  }
  copies_.assign(items.size(), 0);
  // Each supply is filled at the CPU price that is its own.
  for (const Supply& supply : supplies) {
    int64_t least = std::numeric_limits<int64_t>::max();
    int at = 0;
    for (int price = 0; price < kCpuPrices; ++price) {
      int64_t worth = cpu_prices_[price] * supply.cpu;
      for (const auto& [kind, cells] : supply.devices) worth += tables_[kind][price][cells];
      if (worth < least) {
        least = worth;
        at = price;
      }
    }
    for (const auto& [kind, cells] : supply.devices) unfilled_[kind][at][cells] += supply.nodes;
  }
  for (size_t kind = 0; kind < unfilled_.size(); ++kind) {
    for (int price = 0; price < kCpuPrices; ++price) {
      auto& unfilled = unfilled_[kind][price];
      for (int cells = kCells; cells > 0; --cells) {
        const int64_t count = unfilled[cells];
        if (count == 0) continue;
        const int fill = fills_[kind][price][cells];
        if (fill >= 0) copies_[fill] += count;
        unfilled[fill >= 0 ? cells - items[fill].cells[kind] : cells - 1] += count;
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

void Prices::Solve(const std::vector<WorthNode>& nodes, const DeviceKinds& kinds,
                   const std::vector<DemandClass>& classes) {
  int64_t size_left = 0;
  int64_t size_total = 0;
  int64_t cpu_total = 0;
  // By CPU left, and the kinds and cells left of the devices.
  std::map<std::pair<int64_t, std::vector<std::pair<uint8_t, uint8_t>>>, int64_t> counts;
  const size_t stride = nodes.size() / kNodesMax + 1;
  std::vector<std::pair<uint8_t, uint8_t>> devices;
  for (size_t i = 0; i < nodes.size(); i += stride) {
    const WorthNode& node = nodes[i];
    if (!node.present) continue;
    cpu_total += node.cpu_total;
    devices.clear();
    for (int j = 0; j < node.devices; ++j) {
      const int kind = kinds.KindOf(node.totals[j]);
      const int32_t left = node.LeftOf(j, kinds);
      size_total += SizeOf(kinds.total(kind), kinds.smallest());
      size_left += SizeOf(left, kinds.smallest());
      const int cells = CellsOf(left, kinds.total(kind));
      if (cells > 0) devices.emplace_back(static_cast<uint8_t>(kind), static_cast<uint8_t>(cells));
    }
    if (devices.empty()) continue;
    std::sort(devices.begin(), devices.end(), std::greater<>());
    ++counts[{node.cpu_left / kCpuStep * kCpuStep, devices}];
  }
  std::vector<Supply> supplies;
  for (const auto& [key, count] : counts) {
    supplies.push_back({.cpu = key.first, .devices = key.second, .nodes = count});
  }

  const int64_t even_price = size_total * kPriceUnit / std::max<int64_t>(1, cpu_total);
  for (int i = 0; i < kCpuPrices; ++i) {
    cpu_prices_[i] = std::max<int64_t>(i > 0 ? 1 : 0, even_price * kCpuPriceQuarters[i] / 4);
  }
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
    CountCopies(items, supplies);
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

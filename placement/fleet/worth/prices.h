// What a copy of each demand class is worth to the fleet, and what follows for the remainder of a
// device: the dual of "allocate as much as possible of the demand expected until the GPUs are
// full", solved by multiplicative weights. A class that the present remainders serve too often
// gets cheaper, a starved one dearer; none is worth more than its size.
//
// CPU has a price, too, one of a small grid: a node's filling is worth the least over the grid of
// CPU left at that price plus what its devices earn once copies pay for their CPU.
//
// All in integers: prices are in 1/4096 of a thousandth of the smallest device.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "placement/fleet/worth/demand_classes.h"
#include "placement/fleet/worth/worth_node.h"

namespace berth::placement {

inline constexpr int kPriceBits = 12;
inline constexpr int64_t kPriceUnit = int64_t{1} << kPriceBits;
// CPU prices, in quarters of (size of all devices / CPU of all nodes).
inline constexpr std::array<int64_t, 8> kCpuPriceQuarters = {0, 1, 2, 3, 4, 6, 8, 12};
inline constexpr int kCpuPrices = static_cast<int>(kCpuPriceQuarters.size());

class Prices {
 public:
  // Rounds of the solution from nothing, and from the one before.
  static constexpr int kRoundsCold = 200;
  static constexpr int kRoundsWarm = 30;
  // Of a larger fleet a sample is taken as the supply.
  static constexpr size_t kNodesMax = 4096;

  // Requires: a node has a device.
  void Solve(const std::vector<WorthNode>& nodes, const DeviceKinds& kinds,
             const std::vector<DemandClass>& classes);

  int64_t cpu_price(int i) const { return cpu_prices_[i]; }
  // What a device of that kind with so many cells left earns at that price of CPU.
  int64_t Earns(int kind, int cpu_price, int cells) const {
    return tables_[kind][cpu_price][cells];
  }

 private:
  template <class T>
  using Table = std::array<std::array<T, kCells + 1>, kCpuPrices>;
  // The classes that are alike on one device.
  struct Item {
    int32_t units = 0;
    bool whole = false;
    int64_t cpu = 0;   // a device
    int64_t size = 0;  // the most that it may be worth
    int64_t count = 0;
    int64_t needed = 0;  // copies until the GPUs are full, in 1/64
    int64_t price = 0;
    int64_t price_sum = 0;
    std::vector<int> cells = {};  // by kind; more than kCells: does not fit
  };
  // Nodes that are equal as far as prices go.
  struct Supply {
    int64_t cpu = 0;
    std::vector<std::pair<uint8_t, uint8_t>> devices = {};  // kind, cells left
    int64_t nodes = 0;
  };

  std::vector<Item> MakeItems(const DeviceKinds& kinds, const std::vector<DemandClass>& classes,
                              int64_t size_left) const;
  void OrderByCells(const std::vector<Item>& items);
  void FillTables(const std::vector<Item>& items);
  void CountCopies(const std::vector<Item>& items, const std::vector<Supply>& supplies);
  void Adjust(std::vector<Item>& items, int64_t rate) const;

  std::array<int64_t, kCpuPrices> cpu_prices_ = {};
  std::vector<Table<int64_t>> tables_ = {};  // by kind
  // By what item a remainder of so many cells begins to be filled; -1: it loses a cell first.
  std::vector<Table<int>> fills_ = {};
  std::vector<std::vector<int>> orders_ = {};  // by kind: the items, the smallest first
  // Kept for their memory: remainders still to be filled, and copies that were.
  std::vector<Table<int64_t>> unfilled_ = {};
  std::vector<int64_t> copies_ = {};
  // Where the next solution starts: by units, whole and CPU of a device.
  std::map<std::tuple<int32_t, bool, int64_t>, int64_t> known_ = {};
};

}  // namespace berth::placement

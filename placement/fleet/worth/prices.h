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
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
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
  static constexpr int kRoundsCold = 100;
  static constexpr int kRoundsWarm = 20;
  // Of a larger fleet a sample is taken as the supply.
  static constexpr size_t kNodesMax = 4096;

  // Requires: a node has a device.
  void Solve(const std::vector<WorthNode>& nodes, const DeviceKinds& kinds,
             const std::vector<DemandClass>& classes);

  int64_t cpu_price(int i) const { return cpu_prices_[i]; }
  // What a device of that kind with so many cells left earns at each price of CPU.
  const std::array<int64_t, kCpuPrices>& Earns(int kind, int cells) const {
    return tables_[kind][cells];
  }

 private:
  using ByPrice = std::array<int64_t, kCpuPrices>;
  using Table = std::array<ByPrice, kCells + 1>;  // by cells left
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
    ByPrice cpu_worth = {};
    int64_t nodes = 0;
    uint32_t first_device = 0;  // in supply_devices_
    uint32_t devices = 0;
  };
  struct SupplyDevice {
    uint8_t kind = 0;
    uint8_t cells = 0;  // left; more than 0
  };

  std::vector<Item> MakeItems(const DeviceKinds& kinds, const std::vector<DemandClass>& classes,
                              int64_t size_left) const;
  void OrderByCells(const std::vector<Item>& items);
  void FillTables(const std::vector<Item>& items);
  // The GPUs' size left in these nodes, and all prices of CPU.
  int64_t TakeStock(const std::vector<WorthNode>& nodes, const DeviceKinds& kinds);
  void CountCopies(const std::vector<Item>& items);
  void Adjust(std::vector<Item>& items, int64_t rate) const;

  ByPrice cpu_prices_ = {};
  std::vector<Table> tables_ = {};  // by kind
  // By what item a remainder of so many cells begins to be filled; -1: it loses a cell first.
  std::vector<Table> fills_ = {};
  std::vector<std::vector<int>> orders_ = {};  // by kind: the items, the smallest first
  // Kept for their memory: the supply, remainders still to be filled, and copies that were.
  std::vector<Supply> supplies_ = {};
  std::vector<SupplyDevice> supply_devices_ = {};
  std::vector<Table> unfilled_ = {};
  std::vector<int64_t> copies_ = {};
  // Where the next solution starts: by units, whole and CPU of a device.
  std::map<std::tuple<int32_t, bool, int64_t>, int64_t> known_ = {};
};

}  // namespace berth::placement

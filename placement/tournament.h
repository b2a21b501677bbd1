// Who is best of many contestants, kept as they change: each node of a binary tree holds the better
// of the two below it, so a change costs one comparison for each level, and the best is at the top.
//
// Contestants are small numbers that the order knows. `order.Compare(a, b)` is below 0 where a is
// the better one, 0 where neither is; `order.Precedes(a, b)` then says which of them goes first.
// Nodes count how many are as good as their best, so that one of those can be picked by its number.
// Inside placement/ only.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace berth::placement {

struct Winner {
  static constexpr int32_t kNobody = -1;
  int32_t contestant = kNobody;
  int32_t equals = 0;  // how many are as good, itself among them

  bool operator==(const Winner&) const = default;
};

class Tournament {
 public:
  // A place for one contestant, with nobody in it yet.
  template <class Order>
  int32_t AddPlace(const Order& order) {
    ++taken_;
    if (first_free_ != kNone) {
      const int32_t place = first_free_;
      first_free_ = std::exchange(nodes_[capacity_ + place], Winner{}).equals;
      return place;
    }
    if (places_ == capacity_) Grow(order);
    return places_++;
  }
  // Requires: nobody is in it.
  void RemovePlace(int32_t place) {
    --taken_;
    // A free place names the next one.
    nodes_[capacity_ + place].equals = std::exchange(first_free_, place);
  }
  bool empty() const { return taken_ == 0; }

  // Also where the winner is the same and has become better or worse. Whether that may concern whom
  // the best of this tournament competes with: not, where somebody else is and stays ahead.
  template <class Order>
  bool Set(int32_t place, Winner winner, const Order& order) {
    int32_t node = capacity_ + place;
    nodes_[node] = winner;
    for (node /= 2; node > 0; node /= 2) {
      const Winner better = Better(nodes_[2 * node], nodes_[2 * node + 1], order);
      const bool same = std::exchange(nodes_[node], better) == better;
      if (same && better.contestant != winner.contestant) return false;
    }
    return true;
  }

  Winner best() const {
    return nodes_.empty() || nodes_[1].contestant == Winner::kNobody ? Winner{} : nodes_[1];
  }

  struct Equal {
    Winner winner = {};  // of the place where it is
    int32_t number = 0;  // among those of that place
  };
  // The contestant of this number among those as good as the best.
  // Requires: 0 <= number < best().equals.
  template <class Order>
  Equal PickEqual(int32_t number, const Order& order) const {
    int32_t node = 1;
    while (node < capacity_) {
      const Winner left = nodes_[2 * node];
      const bool left_is_as_good = left.contestant != Winner::kNobody &&
                                   order.Compare(left.contestant, nodes_[node].contestant) == 0;
      const int32_t on_the_left = left_is_as_good ? left.equals : 0;
      node = 2 * node + (number < on_the_left ? 0 : 1);
      if (number >= on_the_left) number -= on_the_left;
    }
    return {.winner = nodes_[node], .number = number};
  }

  int64_t bytes() const { return static_cast<int64_t>(nodes_.capacity() * sizeof(Winner)); }

 private:
  template <class Order>
  static Winner Better(const Winner& a, const Winner& b, const Order& order) {
    if (a.contestant == Winner::kNobody) return b.contestant == Winner::kNobody ? Winner{} : b;
    if (b.contestant == Winner::kNobody) return a;
    const int compared = order.Compare(a.contestant, b.contestant);
    if (compared != 0) return compared < 0 ? a : b;
    return {.contestant = order.Precedes(a.contestant, b.contestant) ? a.contestant : b.contestant,
            .equals = a.equals + b.equals};
  }

  template <class Order>
  void Grow(const Order& order) {
    const int32_t capacity = capacity_ == 0 ? 1 : 2 * capacity_;
    std::vector<Winner> nodes(2 * static_cast<size_t>(capacity));
    for (int32_t i = 0; i < places_; ++i) nodes[capacity + i] = nodes_[capacity_ + i];
    for (int32_t i = capacity - 1; i > 0; --i) {
      nodes[i] = Better(nodes[2 * i], nodes[2 * i + 1], order);
    }
    nodes_ = std::move(nodes);
    capacity_ = capacity;
  }

  static constexpr int32_t kNone = -1;

  // The root is node 1, the places are the last half. Its capacity is a power of two.
  std::vector<Winner> nodes_;
  int32_t capacity_ = 0;
  int32_t places_ = 0;  // given out so far, freed ones among them
  int32_t taken_ = 0;
  int32_t first_free_ = kNone;
};

}  // namespace berth::placement

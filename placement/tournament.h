// Who is best of many contestants, kept as they change: each node of a binary tree holds the better
// of the two below it, so a change costs one comparison for each level, and the best is at the top.
//
// Contestants are small numbers that the order knows. `order.Compare(a, b)` is below 0 where a is
// the better one, 0 where neither is; `order.Precedes(a, b)` then says which of them goes first.
// Nodes count how many are as good as their best, so that one of those can be picked by its number.
// Inside placement/ only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::placement {

struct Winner {
  static constexpr int32_t kNobody = -1;
  int32_t contestant = kNobody;
  int32_t equals = 0;  // how many are as good, itself among them
};

class Tournament {
 public:
  // A place for one contestant, with nobody in it yet.
  template <class Order>
  int32_t AddPlace(const Order& order) {
    if (!free_places_.empty()) {
      const int32_t place = free_places_.back();
      free_places_.pop_back();
      return place;
    }
    if (places_ == capacity_) Grow(order);
    return static_cast<int32_t>(places_++);
  }
  // Requires: nobody is in it.
  void RemovePlace(int32_t place) { free_places_.push_back(place); }
  bool empty() const { return places_ == free_places_.size(); }

  // Also where the winner is the same and has become better or worse.
  template <class Order>
  void Set(int32_t place, Winner winner, const Order& order) {
    size_t node = capacity_ + static_cast<size_t>(place);
    nodes_[node] = winner;
    for (node /= 2; node > 0; node /= 2) {
      nodes_[node] = Better(nodes_[2 * node], nodes_[2 * node + 1], order);
    }
  }

  Winner best() const { return nodes_.empty() ? Winner{} : nodes_[1]; }

  struct Equal {
    Winner winner = {};  // of the place where it is
    int32_t number = 0;  // among those of that place
  };
  // The contestant of this number among those as good as the best.
  // Requires: 0 <= number < best().equals.
  template <class Order>
  Equal PickEqual(int32_t number, const Order& order) const {
    size_t node = 1;
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

  int64_t bytes() const {
    return static_cast<int64_t>(nodes_.capacity() * sizeof(Winner) +
                                free_places_.capacity() * sizeof(int32_t));
  }

 private:
  template <class Order>
  static Winner Better(const Winner& a, const Winner& b, const Order& order) {
    if (b.contestant == Winner::kNobody) return a;
    if (a.contestant == Winner::kNobody) return b;
    const int compared = order.Compare(a.contestant, b.contestant);
    if (compared != 0) return compared < 0 ? a : b;
    return {.contestant = order.Precedes(a.contestant, b.contestant) ? a.contestant : b.contestant,
            .equals = a.equals + b.equals};
  }

  template <class Order>
  void Grow(const Order& order) {
    const size_t capacity = capacity_ == 0 ? 1 : 2 * capacity_;
    std::vector<Winner> nodes(2 * capacity);
    for (size_t i = 0; i < places_; ++i) nodes[capacity + i] = nodes_[capacity_ + i];
    for (size_t i = capacity - 1; i > 0; --i) {
      nodes[i] = Better(nodes[2 * i], nodes[2 * i + 1], order);
    }
    nodes_ = std::move(nodes);
    capacity_ = capacity;
  }

  // The root is node 1, the places are the last half. Its capacity is a power of two.
  std::vector<Winner> nodes_;
  size_t capacity_ = 0;
  size_t places_ = 0;  // given out so far, freed ones among them
  std::vector<int32_t> free_places_;
};

}  // namespace berth::placement

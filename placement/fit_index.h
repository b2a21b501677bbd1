// An ordered index that answers "the first entry from this size on that also has this much CPU,
// this much memory, this many free MPS clients and these ports free" without looking at most
// entries.
//
// It is a B+ tree. Beside each child stands the room that the best of its entries has in each
// dimension, so that a search passes over subtrees none of whose entries can do. Such a bound mixes
// the best of several entries, so a search may enter a subtree in vain; what it returns is right.
//
// Holds no instance: only keys, which point to the ids. Nodes are allocated when one overflows, so
// that most changes allocate nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"

namespace berth::placement {

// Entries are in order of preference: the smallest size first, then the lowest instance id, then
// the lowest GPU id.
struct FitKey {
  int64_t size = 0;  // MiB or a number of GPUs; what the index is searched by
  // The first eight bytes of the id, most significant first: decides nearly every tie.
  uint64_t id_prefix = 0;
  const model::InstanceId* id = nullptr;  // outlives the entry
  int32_t slot = 0;                       // of the instance; not part of the order
  int32_t gpu = 0;                        // rank of the GPU's id within its instance
};
inline bool operator<(const FitKey& a, const FitKey& b) {
  if (a.size != b.size) return a.size < b.size;
  if (a.id_prefix != b.id_prefix) return a.id_prefix < b.id_prefix;
  if (a.id != b.id) {
    const int order = a.id->value.compare(b.id->value);
    if (order != 0) return order < 0;
  }
  return a.gpu < b.gpu;
}
uint64_t IdPrefix(const model::InstanceId& id);

// What an entry's instance, and the entry's GPU, have left besides the size.
struct Room {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  int64_t mps_clients = 0;
  uint64_t busy_ports = 0;  // one bit per busy port in use: busy_ports.h

  bool operator==(const Room&) const = default;
};

struct FitQuery {
  int64_t size = 0;
  Room room = {};  // busy_ports: those that must be free
};

inline bool Covers(const Room& has, const Room& asked) {
  return has.cpu_units >= asked.cpu_units && has.memory_mib >= asked.memory_mib &&
         has.mps_clients >= asked.mps_clients && (has.busy_ports & asked.busy_ports) == 0;
}

class FitIndex {
 public:
  struct Entry {
    FitKey key = {};
    Room room = {};
  };

  FitIndex();
  ~FitIndex();
  FitIndex(FitIndex&&) noexcept;
  FitIndex& operator=(FitIndex&&) noexcept;

  // Requires: the key is not there.
  void Insert(const Entry& entry);
  // Both require: the key is there.
  void Erase(const FitKey& key);
  void SetRoom(const FitKey& key, const Room& room);

  // The first entry, in order, that has the size and the room asked for and that `accept` takes
  // too; null when there is none. `accept(const Entry&) -> bool` sees only what suffices otherwise.
  // Every node that it enters takes one from `nodes_left`; below 0 the answer is not known.
  template <class Accept>
  const Entry* FindFirst(const FitQuery& query, Accept accept, int64_t& nodes_left) const {
    return FindFirstIn(*root_, query, accept, nodes_left);
  }

  int64_t size() const { return size_; }
  std::vector<Entry> Entries() const;  // in order
  // Every broken invariant of the tree, in words.
  std::vector<std::string> FindViolations() const;

 private:
  // 16, 32 and 64 were measured within a tenth of each other, at 100 as at 10,000 instances.
  static constexpr int kFanout = 32;

  struct Node {
    bool is_leaf = true;
    int count = 0;
    // In an inner node: the first key of child i, and the bound of its room.
    std::array<Entry, kFanout> entries = {};
    std::array<std::unique_ptr<Node>, kFanout> children = {};  // inner nodes only
  };

  template <class Accept>
  static const Entry* FindFirstIn(const Node& node, const FitQuery& query, Accept& accept,
                                  int64_t& nodes_left) {
    if (--nodes_left < 0) return nullptr;
    for (int i = FirstOfSize(node, query.size); i < node.count; ++i) {
      const Entry& entry = node.entries[i];
      if (!Covers(entry.room, query.room)) continue;
      if (node.is_leaf) {
        if (accept(entry)) return &entry;
        continue;
      }
      const Entry* found = FindFirstIn(*node.children[i], query, accept, nodes_left);
      if (found != nullptr || nodes_left < 0) return found;
    }
    return nullptr;
  }

  // Where a search for this size starts: in an inner node, the last child that may still end in it.
  static int FirstOfSize(const Node& node, int64_t size) {
    const auto begin = node.entries.begin();
    const auto first = std::partition_point(
        begin, begin + node.count, [size](const Entry& entry) { return entry.key.size < size; });
    const int position = static_cast<int>(first - begin);
    return node.is_leaf ? position : std::max(position - 1, 0);
  }

  static int LowerBound(const Node& node, const FitKey& key);
  static int ChildFor(const Node& node, const FitKey& key);
  static Entry Summary(const Node& node);
  static std::unique_ptr<Node> InsertAt(Node& node, int position, const Entry& entry,
                                        std::unique_ptr<Node> child);
  static void RemoveAt(Node& node, int position);
  static std::unique_ptr<Node> InsertInto(Node& node, const Entry& entry);
  static Room EraseFrom(Node& node, const FitKey& key);
  static void MergeWithNeighbour(Node& parent, int position);
  static std::optional<Room> SetRoomIn(Node& node, const FitKey& key, const Room& room);
  static void AppendEntries(const Node& node, std::vector<Entry>& entries);
  static int CheckNode(const Node& node, std::vector<std::string>& violations);

  std::unique_ptr<Node> root_;
  int64_t size_ = 0;
};

}  // namespace berth::placement

#include "placement/fit_index.h"

#include <utility>

#include "model/check.h"

namespace berth::placement {
namespace {

// Siblings that together fill less than this become one node. Below the fan-out, so that a node
// does not split and merge in turns.
constexpr int MergeBelow(int fanout) { return fanout * 3 / 4; }

bool SameKey(const FitKey& a, const FitKey& b) { return !(a < b) && !(b < a); }

void Widen(Room& bound, const Room& room) {
  bound.cpu_units = std::max(bound.cpu_units, room.cpu_units);
  bound.memory_mib = std::max(bound.memory_mib, room.memory_mib);
  bound.mps_clients = std::max(bound.mps_clients, room.mps_clients);
  bound.busy_ports &= room.busy_ports;
}

// Whether the bound may be what it is because of this room, so that without it the bound may be
// less. `ports`: those that all others may have busy.
bool MayRestOn(const Room& bound, const Room& room, uint64_t ports) {
  return room.cpu_units == bound.cpu_units || room.memory_mib == bound.memory_mib ||
         room.mps_clients == bound.mps_clients ||
         (ports & ~room.busy_ports & ~bound.busy_ports) != 0;
}

}  // namespace

uint64_t IdPrefix(const model::InstanceId& id) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < sizeof(prefix); ++i) {
    const unsigned char byte = i < id.value.size() ? static_cast<unsigned char>(id.value[i])
                                                   : static_cast<unsigned char>(0);
    prefix = prefix << 8 | byte;
  }
  return prefix;
}

FitIndex::FitIndex() : root_(std::make_unique<Node>()) {}
FitIndex::~FitIndex() = default;
FitIndex::FitIndex(FitIndex&&) noexcept = default;
FitIndex& FitIndex::operator=(FitIndex&&) noexcept = default;

void FitIndex::Insert(const Entry& entry) {
  ++size_;
  std::unique_ptr<Node> sibling = InsertInto(*root_, entry);
  if (sibling == nullptr) return;

  auto root = std::make_unique<Node>();
  root->is_leaf = false;
  root->count = 2;
  root->entries[0] = Summary(*root_);
  root->entries[1] = Summary(*sibling);
  root->children[0] = std::move(root_);
  root->children[1] = std::move(sibling);
  root_ = std::move(root);
}

void FitIndex::Erase(const FitKey& key) {
  --size_;
  EraseFrom(*root_, key);
  while (!root_->is_leaf && root_->count == 1) {
    std::unique_ptr<Node> only = std::move(root_->children[0]);
    root_ = std::move(only);
  }
  if (root_->count == 0) root_->is_leaf = true;
}

void FitIndex::SetRoom(const FitKey& key, const Room& room) { SetRoomIn(*root_, key, room); }

std::vector<FitIndex::Entry> FitIndex::Entries() const {
  std::vector<Entry> entries;
  entries.reserve(size_);
  AppendEntries(*root_, entries);
  return entries;
}

std::vector<std::string> FitIndex::FindViolations() const {
  std::vector<std::string> violations;
  CheckNode(*root_, violations);
  const std::vector<Entry> entries = Entries();
  if (static_cast<int64_t>(entries.size()) != size_) {
    violations.push_back("an index counts " + std::to_string(size_) + " entries and holds " +
                         std::to_string(entries.size()));
  }
  for (size_t i = 1; i < entries.size(); ++i) {
    if (!(entries[i - 1].key < entries[i].key)) {
      violations.push_back("an index is out of order at entry " + std::to_string(i));
    }
  }
  return violations;
}

int FitIndex::LowerBound(const Node& node, const FitKey& key) {
  const auto begin = node.entries.begin();
  const auto found = std::partition_point(begin, begin + node.count,
                                          [&key](const Entry& entry) { return entry.key < key; });
  return static_cast<int>(found - begin);
}

// The last child whose first key is not above this one; keys below all of them go to the first.
int FitIndex::ChildFor(const Node& node, const FitKey& key) {
  const auto begin = node.entries.begin();
  const auto above = std::partition_point(
      begin, begin + node.count, [&key](const Entry& entry) { return !(key < entry.key); });
  return std::max(static_cast<int>(above - begin) - 1, 0);
}

FitIndex::Entry FitIndex::Summary(const Node& node) {
  Entry summary = node.entries[0];
  for (int i = 1; i < node.count; ++i) Widen(summary.room, node.entries[i].room);
  return summary;
}

// Returns the new right sibling when the node was full.
std::unique_ptr<FitIndex::Node> FitIndex::InsertAt(Node& node, int position, const Entry& entry,
                                                   std::unique_ptr<Node> child) {
  if (node.count == kFanout) {
    constexpr int kHalf = kFanout / 2;
    auto right = std::make_unique<Node>();
    right->is_leaf = node.is_leaf;
    right->count = kFanout - kHalf;
    std::move(node.entries.begin() + kHalf, node.entries.end(), right->entries.begin());
    std::move(node.children.begin() + kHalf, node.children.end(), right->children.begin());
    node.count = kHalf;
    Node& half = position <= kHalf ? node : *right;
    InsertAt(half, position <= kHalf ? position : position - kHalf, entry, std::move(child));
    return right;
  }
  const auto entries = node.entries.begin();
  std::move_backward(entries + position, entries + node.count, entries + node.count + 1);
  node.entries[position] = entry;
  if (!node.is_leaf) {
    const auto children = node.children.begin();
    std::move_backward(children + position, children + node.count, children + node.count + 1);
    node.children[position] = std::move(child);
  }
  ++node.count;
  return nullptr;
}

void FitIndex::RemoveAt(Node& node, int position) {
  const auto entries = node.entries.begin();
  std::move(entries + position + 1, entries + node.count, entries + position);
  if (!node.is_leaf) {
    const auto children = node.children.begin();
    std::move(children + position + 1, children + node.count, children + position);
    node.children[node.count - 1] = nullptr;
  }
  --node.count;
}

std::unique_ptr<FitIndex::Node> FitIndex::InsertInto(Node& node, const Entry& entry) {
  if (node.is_leaf) {
    const int position = LowerBound(node, entry.key);
    BERTH_CHECK(position == node.count || !SameKey(node.entries[position].key, entry.key));
    return InsertAt(node, position, entry, nullptr);
  }
  const int i = ChildFor(node, entry.key);
  std::unique_ptr<Node> sibling = InsertInto(*node.children[i], entry);
  if (sibling == nullptr) {
    if (entry.key < node.entries[i].key) node.entries[i].key = entry.key;
    Widen(node.entries[i].room, entry.room);
    return nullptr;
  }
  node.entries[i] = Summary(*node.children[i]);
  const Entry summary = Summary(*sibling);
  return InsertAt(node, i + 1, summary, std::move(sibling));
}

// Returns the room that the entry had.
Room FitIndex::EraseFrom(Node& node, const FitKey& key) {
  if (node.is_leaf) {
    const int position = LowerBound(node, key);
    BERTH_CHECK(position < node.count && SameKey(node.entries[position].key, key));
    const Room room = node.entries[position].room;
    RemoveAt(node, position);
    return room;
  }
  const int i = ChildFor(node, key);
  Node& child = *node.children[i];
  const Room room = EraseFrom(child, key);
  if (child.count == 0) {
    RemoveAt(node, i);
    return room;
  }
  node.entries[i].key = child.entries[0].key;
  if (MayRestOn(node.entries[i].room, room, child.entries[0].room.busy_ports)) {
    node.entries[i].room = Summary(child).room;
  }
  if (child.count < MergeBelow(kFanout)) MergeWithNeighbour(node, i);
  return room;
}

// Keeps nodes from thinning out, so that the tree stays about as deep as its size asks for.
// Siblings need not be equally full: two of them together are never below half of one.
void FitIndex::MergeWithNeighbour(Node& parent, int position) {
  for (const int left : {position, position - 1}) {
    if (left < 0 || left + 1 >= parent.count) continue;
    Node& into = *parent.children[left];
    Node& from = *parent.children[left + 1];
    if (into.count + from.count >= MergeBelow(kFanout)) continue;
    std::move(from.entries.begin(), from.entries.begin() + from.count,
              into.entries.begin() + into.count);
    std::move(from.children.begin(), from.children.begin() + from.count,
              into.children.begin() + into.count);
    into.count += from.count;
    Widen(parent.entries[left].room, parent.entries[left + 1].room);
    RemoveAt(parent, left + 1);
    return;
  }
}

// Returns the room that the entry had where the node's own bound may have changed with it.
std::optional<Room> FitIndex::SetRoomIn(Node& node, const FitKey& key, const Room& room) {
  if (node.is_leaf) {
    const int position = LowerBound(node, key);
    BERTH_CHECK(position < node.count && SameKey(node.entries[position].key, key));
    const Room before = std::exchange(node.entries[position].room, room);
    return before == room ? std::nullopt : std::optional(before);
  }
  const int i = ChildFor(node, key);
  const std::optional<Room> before = SetRoomIn(*node.children[i], key, room);
  if (!before) return std::nullopt;
  Room bound = node.entries[i].room;
  if (MayRestOn(bound, *before, room.busy_ports)) {
    bound = Summary(*node.children[i]).room;
  } else {
    Widen(bound, room);
  }
  if (std::exchange(node.entries[i].room, bound) == bound) return std::nullopt;
  return before;
}

void FitIndex::AppendEntries(const Node& node, std::vector<Entry>& entries) {
  for (int i = 0; i < node.count; ++i) {
    if (node.is_leaf) {
      entries.push_back(node.entries[i]);
    } else {
      AppendEntries(*node.children[i], entries);
    }
  }
}

// Returns the depth of the node's leaves.
int FitIndex::CheckNode(const Node& node, std::vector<std::string>& violations) {
  if (node.is_leaf) return 0;
  int depth = -1;
  for (int i = 0; i < node.count; ++i) {
    const Node& child = *node.children[i];
    const int child_depth = CheckNode(child, violations);
    if (depth >= 0 && child_depth != depth) violations.push_back("an index has uneven leaves");
    depth = child_depth;
    if (child.count == 0) {
      violations.push_back("an index has an empty node");
      continue;
    }
    const Entry summary = Summary(child);
    if (!SameKey(summary.key, node.entries[i].key)) {
      violations.push_back("an index has a wrong first key");
    }
    if (!(summary.room == node.entries[i].room)) {
      violations.push_back("an index has a wrong bound");
    }
    if (i > 0 && node.children[i - 1]->count + child.count < kFanout / 2) {
      violations.push_back("an index has two siblings that should be one");
    }
  }
  return depth + 1;
}

}  // namespace berth::placement

// The tree behind placement, against a sorted map.
#include "placement/fit_index.h"

#include <map>

#include <catch2/catch.hpp>

#include "model/rng.h"

namespace berth::placement {
namespace {

FitKey Key(int64_t size, const model::InstanceId& id, int32_t gpu = 0) {
  return {.size = size, .id_prefix = IdPrefix(id), .id = &id, .gpu = gpu};
}

template <class Accept>
const FitIndex::Entry* Find(const FitIndex& index, const FitQuery& query, Accept accept) {
  int64_t nodes_left = 1'000'000;
  return index.FindFirst(query, accept, nodes_left);
}

TEST_CASE("an empty index finds nothing", "[placement]") {
  const FitIndex index;

  CHECK(Find(index, {}, [](const FitIndex::Entry&) { return true; }) == nullptr);
  CHECK(index.size() == 0);
}

TEST_CASE("what the caller does not accept is passed over in order", "[placement]") {
  const std::vector<model::InstanceId> ids = {{"a"}, {"b"}, {"c"}};
  FitIndex index;
  for (const model::InstanceId& id : ids) index.Insert({.key = Key(5, id)});
  std::string seen;

  const FitIndex::Entry* found = Find(index, {.size = 5}, [&](const FitIndex::Entry& entry) {
    seen += entry.key.id->value;
    return entry.key.id->value == "b";
  });

  REQUIRE(found != nullptr);
  CHECK(found->key.id->value == "b");
  CHECK(seen == "ab");
}

TEST_CASE("a search that comes by too many nodes says that it does not know", "[placement]") {
  std::vector<model::InstanceId> ids;
  for (int i = 0; i < 1000; ++i) ids.push_back({"i-" + std::to_string(i)});
  FitIndex index;
  for (const model::InstanceId& id : ids) index.Insert({.key = Key(5, id)});
  const auto nobody = [](const FitIndex::Entry&) { return false; };

  int64_t nodes_left = 10;
  CHECK(index.FindFirst({.size = 5}, nobody, nodes_left) == nullptr);
  CHECK(nodes_left < 0);

  nodes_left = 1000;
  CHECK(index.FindFirst({.size = 5}, nobody, nodes_left) == nullptr);
  CHECK(nodes_left >= 0);
}

TEST_CASE("an index of any size finds what a sorted map finds", "[placement]") {
  struct Case {
    std::string why;
    int64_t entries;
    uint64_t sizes;  // how many different ones
  };
  const auto c = GENERATE(values<Case>({
      {"one node", 20, 1000},
      {"two levels", 500, 1000},
      {"three levels", 6000, 1'000'000},
      {"many of one size", 3000, 3},
  }));
  INFO(c.why);
  model::Rng rng(c.entries);
  std::vector<model::InstanceId> ids(c.entries);
  for (model::InstanceId& id : ids) id.value = "id" + std::to_string(rng.Below(1'000'000'000));
  FitIndex index;
  std::map<FitKey, Room> expected;
  const auto random_room = [&rng] {
    return Room{.cpu_units = static_cast<int64_t>(rng.Below(30)),
                .memory_mib = static_cast<int64_t>(rng.Below(30)),
                .mps_clients = static_cast<int64_t>(rng.Below(30)),
                .busy_ports = rng.Next() | rng.Next()};
  };
  const auto random_entry = [&] {
    auto found = expected.lower_bound(
        Key(static_cast<int64_t>(rng.Below(c.sizes)), ids[rng.Below(ids.size())]));
    return found == expected.end() ? expected.begin() : found;
  };

  // Grows to its size, lives there, and shrinks away.
  for (int64_t step = 0; step < c.entries * 6; ++step) {
    const bool grows = static_cast<int64_t>(expected.size()) < c.entries && step < c.entries * 4;
    const uint64_t dice = rng.Below(10);
    if (expected.empty() || dice < (grows ? 6u : 1u)) {
      const FitKey key = Key(static_cast<int64_t>(rng.Below(c.sizes)), ids[rng.Below(ids.size())],
                             static_cast<int32_t>(rng.Below(8)));
      const Room room = random_room();
      if (expected.emplace(key, room).second) index.Insert({.key = key, .room = room});
    } else if (dice < 8) {
      const auto entry = random_entry();
      index.Erase(entry->first);
      expected.erase(entry);
    } else {
      const auto entry = random_entry();
      entry->second = random_room();
      index.SetRoom(entry->first, entry->second);
    }
    if (step % 16 == 0) {
      FitQuery query{.size = static_cast<int64_t>(rng.Below(c.sizes + 1)), .room = random_room()};
      query.room.busy_ports = rng.Next() & rng.Next() & rng.Next() & rng.Next();
      const FitIndex::Entry* found =
          Find(index, query, [](const FitIndex::Entry&) { return true; });
      const auto first = std::find_if(
          expected.begin(), expected.end(), [&query](const std::pair<const FitKey, Room>& entry) {
            return entry.first.size >= query.size && Covers(entry.second, query.room);
          });
      REQUIRE((found == nullptr) == (first == expected.end()));
      if (found != nullptr) {
        REQUIRE(!(found->key < first->first));
        REQUIRE(!(first->first < found->key));
      }
    }
    if (step % (c.entries / 4) == 0) {
      REQUIRE(index.FindViolations() == std::vector<std::string>{});
      REQUIRE(index.size() == static_cast<int64_t>(expected.size()));
    }
  }
}

}  // namespace
}  // namespace berth::placement

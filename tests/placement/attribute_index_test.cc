// The index against the queries themselves, on random instances and random expressions.
#include "placement/attribute_index.h"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fixture.h"
#include "model/rng.h"
#include "placement/inventory_impl.h"
#include "placement/query.h"
#include "rules.h"

namespace berth::placement {
namespace {

using model::Rng;

template <class T>
const T& Pick(Rng& rng, const std::vector<T>& from) {
  return from[rng.Below(from.size())];
}

const std::vector<std::string> kValues = {"a", "b", "ab", "c", "''", "rack-1", "rack-2"};

std::string RandomTest(Rng& rng) {
  static const std::vector<std::string> kOrder = {"==", "!=", ">", ">=", "<", "<="};
  const auto number = [&rng] { return std::to_string(rng.Below(4)); };
  switch (rng.Below(10)) {
    case 0:
      return "agentConnected == " + std::string(rng.Below(2) == 0 ? "true" : "false");
    case 1:
      return "agentVersion " + Pick(rng, kOrder) + " 1." + number();
    case 2:
      return "ec2InstanceId =~ 'i-[0-" + number() + "].*'";
    case 3:
      return "registeredAt " + Pick(rng, kOrder) + " 1970-01-0" + std::to_string(1 + rng.Below(4));
    case 4:
      return "runningTasksCount " + Pick(rng, kOrder) + " " + number();
    case 5:
      return "task:group == g" + number();
    default:
      break;
  }
  static const std::vector<std::string> kNames = {"zone", "rack", "ecs.capability.gpu-sharing-mps",
                                                  "of-nobody"};
  const std::string subject = "attribute:" + Pick(rng, kNames) + " ";
  switch (rng.Below(6)) {
    case 0:
      return subject + "exists";
    case 1:
      return subject + "!exists";
    case 2:
      return subject + "in [" + Pick(rng, kValues) + ", " + Pick(rng, kValues) + "]";
    case 3:
      return subject + "!in [" + Pick(rng, kValues) + "]";
    case 4:
      return subject + (rng.Below(2) == 0 ? "=~" : "!~") + " '(a|rack-).*'";
    default:
      return subject + Pick(rng, kOrder) + " " + Pick(rng, kValues);
  }
}

std::string RandomExpression(Rng& rng, int depth) {
  const uint64_t dice = depth == 0 ? 9 : rng.Below(10);
  if (dice >= 7) return RandomTest(rng);
  if (dice >= 5) return "not(" + RandomExpression(rng, depth - 1) + ")";
  return "(" + RandomExpression(rng, depth - 1) + (dice < 3 ? " and " : " or ") +
         RandomExpression(rng, depth - 1) + ")";
}

class Cluster {
 public:
  explicit Cluster(Rng& rng) : rng_(rng) {}

  // A new instance, one that registers anew, one that goes, or one whose tasks change.
  void Step() {
    const std::string id = "i-" + std::to_string(rng_.Below(40));
    const bool is_there = inventory.Contains({id});
    if (!is_there || rng_.Below(3) == 0) {
      Put(id);
    } else if (rng_.Below(6) == 0 && !tasks_[id]) {
      inventory.Remove({id});
    } else {
      inventory.SetConnected({id}, rng_.Below(2) == 0);
      inventory.SetRunningTasks({id}, static_cast<int64_t>(rng_.Below(4)));
      if (!tasks_[id] && rng_.Below(2) == 0) {
        inventory.Reserve({id}, {.group = "g" + std::to_string(rng_.Below(4))});
        tasks_[id] = true;
      }
    }
  }

  Inventory inventory;

 private:
  void Put(const std::string& id) {
    Machine machine{.id = id, .attributes = {}};
    if (rng_.Below(2) == 0) machine.gpus = {Gpu("g0", rng_.Below(2) == 0 ? 0 : kGpuMib)};
    if (rng_.Below(3) == 0) machine.attributes.push_back("zone");
    if (rng_.Below(2) == 0) machine.attributes.push_back(model::kGpuSharingCapability);
    model::ContainerInstance record = Record(machine);
    const auto add = [&record](const std::string& name, const std::string& value) {
      record.attributes.push_back({.name = name, .value = value});
    };
    if (machine.attributes.empty() && rng_.Below(3) > 0) add("zone", Pick(rng_, kValues));
    if (rng_.Below(3) > 0) add("rack", "rack-" + std::to_string(rng_.Below(8)));
    record.version_info.agent_version = rng_.Below(5) == 0 ? "dev" : "1." + Number();
    record.ec2_instance_id = "i-" + Number();
    record.registered_at = absl::UnixEpoch() + absl::Hours(24 * rng_.Below(4));
    inventory.Put(record);
    if (rng_.Below(2) == 0) inventory.SetEligible({id}, true);
  }
  std::string Number() { return std::to_string(rng_.Below(5)); }

  Rng& rng_;
  std::map<std::string, bool> tasks_;
};

TEST_CASE("the attribute index finds what the queries match", "[placement]") {
  Rng rng(11);
  Cluster cluster(rng);
  int64_t found = 0;
  int64_t left_open = 0;
  int64_t looked_at = 0;
  for (int i = 0; i < 2000; ++i) {
    for (int step = 0; step < 5; ++step) cluster.Step();
    const std::string text = RandomExpression(rng, 3);
    const auto query = Query::Compile(text);
    INFO(text);
    REQUIRE(query.ok());

    const AttributeIndex& index = cluster.inventory.impl().attributes;
    const AttributeIndex::Matches matches = index.Find(**query);

    REQUIRE(index.all().Count() == cluster.inventory.size());
    for (const auto& instance : cluster.inventory.impl().instances) {
      if (instance == nullptr) continue;
      const bool surely = matches.surely.Contains(instance->slot);
      const bool perhaps = matches.perhaps.Contains(instance->slot);
      const bool holds = cluster.inventory.Matches(instance->id, **query);
      INFO(instance->id.value);
      if (holds ? !perhaps : surely) FAIL("the index has it wrong");
      const StaticMatch alone = MatchStatically(**query, *instance);
      const StaticMatch expected = surely    ? StaticMatch::kYes
                                   : perhaps ? StaticMatch::kDepends
                                             : StaticMatch::kNo;
      if (alone != expected) FAIL("the index and the instance alone differ");
      found += holds ? 1 : 0;
      left_open += expected == StaticMatch::kDepends ? 1 : 0;
      ++looked_at;
    }
  }
  // Neither all nor nothing, and most is known without looking at the tasks.
  CHECK(found > looked_at / 5);
  CHECK(found < looked_at * 4 / 5);
  CHECK(left_open > looked_at / 20);
  CHECK(left_open < looked_at / 2);
}

TEST_CASE("a value of many instances is found as one of few", "[placement]") {
  AttributeIndex index;
  std::vector<Instance> instances(1000);
  for (size_t i = 0; i < instances.size(); ++i) {
    instances[i].slot = static_cast<int32_t>(i);
    Register(instances[i], Record(In("i-" + std::to_string(i), i % 4 == 0 ? "a" : "b")));
    index.Add(instances[i]);
  }
  const auto in_b = *Query::Compile("attribute:zone == b");
  const auto count = [&] { return index.Find(*in_b).surely.Count(); };

  CHECK(count() == 750);
  for (size_t i = 0; i < 900; ++i) index.Remove(instances[i]);
  CHECK(count() == 75);
  for (size_t i = 0; i < 900; ++i) index.Add(instances[i]);
  CHECK(count() == 750);
  for (const Instance& instance : instances) index.Remove(instance);
  CHECK(count() == 0);
}

}  // namespace
}  // namespace berth::placement

// Rules drawn at random, as the engine and as the naive scan know them. They ask for attributes
// zone, color and color2, for groups g0, g1, ... and for agents 1.9.9 and 1.10.0.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "model/rng.h"
#include "naive.h"
#include "placement/query.h"

namespace berth::placement {

struct KnownQuery {
  std::string text;
  std::function<bool(const naive::Instance&)> holds;
};

inline const std::vector<KnownQuery>& Queries() {
  using naive::AttributeValue;
  using naive::CountTasks;
  static const std::vector<KnownQuery> kQueries = {
      {"attribute:zone == a", [](const auto& i) { return AttributeValue(i, "zone") == "a"; }},
      {"attribute:zone != a",
       [](const auto& i) { return AttributeValue(i, "zone") && AttributeValue(i, "zone") != "a"; }},
      {"attribute:zone in [a, b]",
       [](const auto& i) {
         return AttributeValue(i, "zone") == "a" || AttributeValue(i, "zone") == "b";
       }},
      {"attribute:color exists",
       [](const auto& i) { return AttributeValue(i, "color").has_value(); }},
      {"not(task:group == g1)", [](const auto& i) { return CountTasks(i, "g1") == 0; }},
      {"task:group =~ 'g[23]'",
       [](const auto& i) { return CountTasks(i, "g2") + CountTasks(i, "g3") > 0; }},
      {"runningTasksCount < 2", [](const auto& i) { return i.running_tasks < 2; }},
      {"attribute:ecs.capability.gpu-sharing-mps exists or agentVersion >= 1.10",
       [](const auto& i) {
         return AttributeValue(i, "ecs.capability.gpu-sharing-mps").has_value() ||
                i.record.version_info.agent_version == "1.10.0";
       }},
  };
  return kQueries;
}

inline Strategy RandomStrategy(model::Rng& rng) {
  using Kind = Strategy::Kind;
  using Field = Strategy::Field;
  static const std::vector<Strategy> kStrategies = {{Kind::kRandom, Field::kNone, ""},
                                                    {Kind::kSpread, Field::kInstanceId, ""},
                                                    {Kind::kSpread, Field::kAttribute, "zone"},
                                                    {Kind::kSpread, Field::kAttribute, "color"},
                                                    {Kind::kSpread, Field::kAttribute, "color2"},
                                                    {Kind::kBinpack, Field::kCpu, ""},
                                                    {Kind::kBinpack, Field::kMemory, ""},
                                                    {Kind::kBinpack, Field::kGpuMemory, ""}};
  // Seldom random, since it leaves nothing for those after it.
  return kStrategies[rng.Below(10) == 0 ? 0 : 1 + rng.Below(kStrategies.size() - 1)];
}

struct BothRules {
  Rules engine = {};
  naive::Rules scan = {};
};

inline BothRules RandomRules(model::Rng& rng) {
  BothRules rules;
  for (uint64_t i = rng.Below(2) == 0 ? rng.Below(3) : 0; i > 0; --i) {
    const KnownQuery& query = Queries()[rng.Below(Queries().size())];
    rules.engine.member_of.push_back(*Query::Compile(query.text));
    rules.scan.member_of.push_back(query.holds);
  }
  rules.engine.distinct_instance = rules.scan.distinct_instance = rng.Below(5) == 0;
  for (uint64_t i = rng.Below(4); i > 0; --i) {
    rules.engine.strategies.push_back(RandomStrategy(rng));
  }
  rules.scan.strategies = rules.engine.strategies;
  return rules;
}

// What registrations say for rules to ask for.
inline void AddRuledAttributes(model::Rng& rng, model::ContainerInstance& record) {
  const auto chance = [&rng](uint64_t percent) { return rng.Below(100) < percent; };
  if (chance(80)) {
    record.attributes.push_back({.name = "zone", .value = std::string(1, "abc"[rng.Below(3)])});
  }
  if (chance(30)) record.attributes.push_back({.name = "color"});
  if (chance(60)) {
    record.attributes.push_back({.name = "color2", .value = "c" + std::to_string(rng.Below(9))});
  }
  std::sort(record.attributes.begin(), record.attributes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  record.version_info.agent_version = chance(50) ? "1.9.9" : "1.10.0";
}

}  // namespace berth::placement

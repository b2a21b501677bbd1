// Which step of the funnel turns an instance away, and what waiting is worth: never, not now,
// forbidden. Hand-made clusters with known answers.
#include <catch2/catch.hpp>

#include "scene.h"

namespace berth::placement {
namespace {

const Machine kSmall{.id = "a",
                     .cpu_units = 1000,
                     .memory_mib = 1000,
                     .gpus = {Gpu("g0", 16000), Gpu("g1", 16000)},
                     .values = {{"zone", "z1"}},
                     .reserved_tcp_ports = {22},
                     .mps_clients_max = 2};

Demand OnPort(int64_t port) { return {.tcp_ports = {port}}; }

struct Case {
  std::string why;
  std::function<void(Scene&)> before;
  Demand demand;
  Rules rules;
  Dimension dimension;
  Verdict verdict;
};

const auto kNothing = [](Scene&) {};

std::vector<Case> Cases() {
  using D = Dimension;
  using V = Verdict;
  const auto run = [](Demand demand) {
    return [demand](Scene& scene) { scene.Run("t", "a", demand); };
  };
  return {
      {"status: drained, with room",
       [](Scene& scene) { scene.Drain("a"); },
       Plain(1, 1),
       {},
       D::kStatus,
       V::kForbidden},
      {"status: drained, and too small anyway",
       [](Scene& scene) { scene.Drain("a"); },
       Plain(1001, 1),
       {},
       D::kStatus,
       V::kNever},
      {"agent: it may come back",
       [](Scene& scene) { scene.Disconnect("a"); },
       Plain(1, 1),
       {},
       D::kAgent,
       V::kNotNow},
      {"agent: away, and a constraint besides", [](Scene& scene) { scene.Disconnect("a"); },
       Plain(1, 1), MemberOf({"attribute:zone == z2"}), D::kAgent, V::kForbidden},
      {"health: connected and ACTIVE, and not eligible",
       [](Scene& scene) { scene.inventory.SetEligible({"a"}, false); },
       Plain(1, 1),
       {},
       D::kHealth,
       V::kNotNow},
      {"launch type",
       kNothing,
       {.launch_type = model::LaunchType::kExternal},
       {},
       D::kLaunchType,
       V::kNever},
      {"attribute", kNothing, {.required_attributes = {"x"}}, {}, D::kAttribute, V::kNever},
      {"CPU in use", run(Plain(600, 0)), Plain(500, 0), {}, D::kCpu, V::kNotNow},
      {"CPU, one unit short of all", kNothing, Plain(1001, 0), {}, D::kCpu, V::kNever},
      {"memory in use", run(Plain(0, 600)), Plain(0, 500), {}, D::kMemory, V::kNotNow},
      {"memory that it never had", kNothing, Plain(0, 1001), {}, D::kMemory, V::kNever},
      {"a task's port", run(OnPort(80)), OnPort(80), {}, D::kPorts, V::kNotNow},
      {"the host's port", kNothing, OnPort(22), {}, D::kPorts, V::kNever},
      {"GPU count: in use", run(Dedicated(1)), Dedicated(2), {}, D::kGpuCount, V::kNotNow},
      {"GPU count: more than it has", kNothing, Dedicated(3), {}, D::kGpuCount, V::kNever},
      {"GPU count: ALL, one in use", run(Shared(1)), AllGpus(), {}, D::kGpuCount, V::kNotNow},
      {"GPU memory: in use on both",
       [](Scene& scene) {
         scene.Run("t1", "a", Shared(9000));
         scene.Run("t2", "a", Shared(9000));
       },
       Shared(8000),
       {},
       D::kGpuMemory,
       V::kNotNow},
      {"GPU memory: more than one GPU has", kNothing, Shared(16001), {}, D::kGpuMemory, V::kNever},
      {"MPS clients: in use",
       [](Scene& scene) {
         scene.Run("t1", "a", Shared(1, 2));
         scene.Run("t2", "a", Dedicated(1));
       },
       Shared(1),
       {},
       D::kMpsClients,
       V::kNotNow},
      {"MPS clients: more than one GPU takes",
       kNothing,
       Shared(1, 3),
       {},
       D::kMpsClients,
       V::kNever},
      {"distinctInstance",
       [](Scene& scene) { scene.Run("t", "a", Plain(1, 1), "web"); },
       Plain(1, 1),
       {.distinct_instance = true},
       D::kDistinctInstance,
       V::kForbidden},
      {"memberOf", kNothing, Plain(1, 1), MemberOf({"attribute:zone == z2"}), D::kMemberOf,
       V::kForbidden},
      {"full, and a constraint besides: waiting is no help", run(Plain(1000, 0)), Plain(1, 1),
       MemberOf({"attribute:zone == z2"}), D::kCpu, V::kForbidden},
      {"full in one thing, too small in another",
       run(Plain(1000, 0)),
       Plain(1, 1001),
       {},
       D::kCpu,
       V::kNever},
  };
}

TEST_CASE("each step of the funnel, and what waiting is worth", "[placement][explanation]") {
  const std::vector<Case> cases = Cases();
  const size_t i = GENERATE_COPY(range<size_t>(0, cases.size()));
  const Case& c = cases[i];
  INFO(c.why);
  Scene scene({kSmall});
  c.before(scene);
  REQUIRE_FALSE(Place(c.demand, scene.inventory, c.rules, {.group = "web"}));

  const Explanation why = scene.Why(c.demand, c.rules);

  REQUIRE(why.funnel.size() == 1);
  CHECK(ToString(why.funnel.front().dimension) == ToString(c.dimension));
  CHECK(why.funnel.front().instances == 1);
  REQUIRE(why.verdict);
  CHECK(ToString(*why.verdict) == ToString(c.verdict));
  REQUIRE(why.closest.size() == 1);
  CHECK(why.closest.front().shortfall.verdict == c.verdict);
  CHECK(why.not_now + why.forbidden + why.never == 1);
  CHECK(why.busy.empty() == (c.verdict != Verdict::kNotNow || c.dimension == Dimension::kAgent ||
                             c.dimension == Dimension::kHealth));
}

TEST_CASE("the whole is as good as its best instance", "[placement][explanation]") {
  Scene scene({{.id = "busy", .cpu_units = 100},
               {.id = "drained", .cpu_units = 100},
               {.id = "tiny", .cpu_units = 10}});
  scene.Run("t", "busy", Plain(100, 0));
  scene.Drain("drained");

  const Explanation all = scene.Why(Plain(50, 0));

  CHECK(all.verdict == Verdict::kNotNow);
  CHECK(all.not_now == 1);
  CHECK(all.forbidden == 1);
  CHECK(all.never == 1);

  scene.Drain("busy");
  CHECK(scene.Why(Plain(50, 0)).verdict == Verdict::kForbidden);
  CHECK(scene.Why(Plain(101, 0)).verdict == Verdict::kNever);
}

TEST_CASE("equal shortfalls stand together, the closest first", "[placement][explanation]") {
  Scene scene({{.id = "c", .cpu_units = 90, .memory_mib = 100},
               {.id = "b", .cpu_units = 90, .memory_mib = 100},
               {.id = "a", .cpu_units = 80, .memory_mib = 100},
               {.id = "d", .cpu_units = 100, .memory_mib = 100},
               {.id = "e", .cpu_units = 100, .memory_mib = 100},
               {.id = "f", .cpu_units = 100, .memory_mib = 100}});
  scene.Run("t1", "d", Plain(70, 0));
  scene.Run("t2", "e", Plain(50, 0));
  scene.Run("t3", "f", Plain(0, 70));

  const Explanation why = scene.Why(Plain(95, 50));

  std::vector<std::string> groups;
  for (const Explanation::Group& group : why.closest) {
    std::string text(ToString(group.shortfall.verdict));
    text += " " + std::string(ToString(group.shortfall.dimension));
    text += " " + std::to_string(group.shortfall.had) + ":";
    for (const model::InstanceId& id : group.examples) text += " " + id.value;
    groups.push_back(text);
    CHECK(group.instances == std::ssize(group.examples));
  }
  CHECK(groups == std::vector<std::string>{"NOT_NOW MEMORY 30: f", "NOT_NOW CPU 50: e",
                                           "NOT_NOW CPU 30: d", "NEVER CPU 90: b c",
                                           "NEVER CPU 80: a"});
  CHECK(why.Summary() == "needs 50 MiB of memory; 30 of 100 are left on instance f");
}

TEST_CASE("groups of a large cluster are the closest, counted whole", "[placement][explanation]") {
  Scene scene({});
  const int64_t sizes = kShortfallGroupsMax + 20;
  for (int64_t i = 0; i < sizes * 10; ++i) {
    // In an order that brings far ones and close ones by turns.
    scene.Add({.id = std::to_string(10'000 + i), .cpu_units = 1 + i * 7 % sizes});
  }

  const Explanation why = scene.Why(Plain(1000, 0));

  REQUIRE(std::ssize(why.closest) == kShortfallGroupsMax);
  for (int64_t g = 0; g < kShortfallGroupsMax; ++g) {
    CHECK(why.closest[g].shortfall.had == sizes - g);
    CHECK(why.closest[g].instances == 10);
    CHECK(std::ssize(why.closest[g].examples) == kGroupInstancesMax);
    CHECK(std::is_sorted(why.closest[g].examples.begin(), why.closest[g].examples.end()));
  }
  CHECK(why.never == sizes * 10);
}

TEST_CASE("instances without the same attribute stand together", "[placement][explanation]") {
  Scene scene({{.id = "a", .attributes = {"y"}}, {.id = "b", .attributes = {}}});

  const Explanation why = scene.Why({.required_attributes = {"x", "y"}});

  REQUIRE(why.closest.size() == 1);
  CHECK(why.closest.front().instances == 2);
  CHECK(why.closest.front().shortfall.attribute == "x");
}

}  // namespace
}  // namespace berth::placement

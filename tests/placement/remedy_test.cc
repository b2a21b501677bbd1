// What would make a demand fit: on hand-made clusters with known answers. Each remedy is carried
// out, one at a time on a cluster of its own, and the task must then find its place.
#include "placement/remedy.h"

#include <catch2/catch.hpp>

#include "placement/query.h"
#include "scene.h"

namespace berth::placement {
namespace {

using Texts = std::vector<std::string>;

Demand OnPort(int64_t port) { return {.cpu_units = 10, .tcp_ports = {port}}; }
Demand WithCpu(Demand demand, int64_t cpu_units) {
  demand.cpu_units = cpu_units;
  return demand;
}

Machine OneGpu(std::string id, int64_t gpu_mib, int64_t cpu_units = 1000) {
  return {.id = std::move(id),
          .cpu_units = cpu_units,
          .memory_mib = 1000,
          .gpus = {Gpu("g0", gpu_mib)}};
}

struct Case {
  std::string why;
  std::function<Scene()> make;
  Demand demand;
  Rules rules;
  Texts remedies;
};

std::vector<Case> Cases() {
  return {
      {"an agent that is away",
       [] {
         Scene scene({{.id = "a", .cpu_units = 100}});
         scene.Disconnect("a");
         return scene;
       },
       Plain(50, 50),
       {},
       {"bring back the agent of instance a",
        "add an instance with at least 50 CPU units and 50 MiB of memory"}},
      {"an instance that drains",
       [] {
         Scene scene({{.id = "b"}, {.id = "a"}});
         scene.Drain("a");
         scene.Drain("b");
         return scene;
       },
       Plain(50, 50),
       {},
       {"make instance a ACTIVE again",
        "add an instance with at least 50 CPU units and 50 MiB of memory"}},
      {"one that drains and is too small besides is no help",
       [] {
         Scene scene({{.id = "a", .cpu_units = 10}});
         scene.Drain("a");
         return scene;
       },
       Plain(50, 50),
       {},
       {"add an instance with at least 50 CPU units and 50 MiB of memory"}},
      {"a port that a task has",
       [] {
         Scene scene({{.id = "a"}});
         scene.Run("web-1", "a", OnPort(80));
         return scene;
       },
       OnPort(80),
       {},
       {"free host port 80/tcp on instance a", "stop task web-1 on instance a",
        "add an instance with at least 10 CPU units and 0 MiB of memory"}},
      {"a port that the host has is not to be freed",
       [] { return Scene({{.id = "a", .reserved_tcp_ports = {80}}}); },
       OnPort(80),
       {},
       {"add an instance with at least 10 CPU units and 0 MiB of memory"}},
      {"a port whose task has another place to go to",
       [] {
         Scene scene({{.id = "a"}, {.id = "b", .cpu_units = 10}});
         scene.Run("web-1", "a", OnPort(80));
         return scene;
       },
       WithCpu(OnPort(80), 20),
       {},
       {"move task web-1 to instance b: instance a then has room",
        "free host port 80/tcp on instance a", "ask for at most 10 CPU units: instance b has that",
        "stop task web-1 on instance a",
        "add an instance with at least 20 CPU units and 0 MiB of memory"}},
      {"less CPU, as much as the roomiest has",
       [] {
         return Scene({{.id = "a", .cpu_units = 100}, {.id = "b", .cpu_units = 300}});
       },
       Plain(500, 50),
       {},
       {"ask for at most 300 CPU units: instance b has that",
        "add an instance with at least 500 CPU units and 50 MiB of memory"}},
      {"less memory",
       [] {
         return Scene({{.id = "a", .memory_mib = 100}, {.id = "b", .memory_mib = 30}});
       },
       Plain(1, 500),
       {},
       {"ask for at most 100 MiB of memory: instance a has that",
        "add an instance with at least 1 CPU units and 500 MiB of memory"}},
      {"less of both, where one is not enough",
       [] { return Scene({{.id = "a", .cpu_units = 100, .memory_mib = 100}}); },
       Plain(200, 200),
       {},
       {"ask for at most 100 CPU units and 100 MiB of memory: instance a has that",
        "add an instance with at least 200 CPU units and 200 MiB of memory"}},
      {"less GPU memory: the largest gap",
       [] {
         Scene scene({OneGpu("a", 16000), OneGpu("b", 20000)});
         scene.Run("t1", "b", Shared(5000));
         return scene;
       },
       WithCpu(Shared(30000), 10),
       {},
       {"ask for at most 16000 MiB of GPU memory: instance a has that",
        "add 1 GPU of at least 30000 MiB to instance a",
        "add an instance with at least 10 CPU units and 0 MiB of memory and 1 GPU of at least "
        "30000 "
        "MiB"}},
      {"fewer GPUs, or more of them where the fewest are missing",
       [] {
         return Scene({{.id = "a", .gpus = {Gpu("g0")}},
                       {.id = "b", .gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2")}}});
       },
       Dedicated(4),
       {},
       {"ask for at most 3 GPUs: instance b has that", "add 1 GPU to instance b",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 4 GPUs"}},
      {"ALL the GPUs of a machine that has none",
       [] { return Scene({{.id = "a"}}); },
       AllGpus(),
       {},
       {"add 1 GPU to instance a",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU"}},
      {"ALL the GPUs, of which one is in use: it has to end",
       [] {
         Scene scene({{.id = "a", .gpus = {Gpu("g0"), Gpu("g1")}}});
         scene.Run("t1", "a", Dedicated(1));
         return scene;
       },
       AllGpus(),
       {},
       {"stop task t1 on instance a",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU"}},
      {"the smallest task that is enough is the one to stop",
       [] {
         Scene scene({{.id = "a", .gpus = {Gpu("g0", 16000)}}});
         scene.Run("large", "a", Shared(8000));
         scene.Run("middle", "a", Shared(5000));
         scene.Run("small", "a", Shared(2000));
         return scene;
       },
       Shared(5500),
       {},
       {"ask for at most 1000 MiB of GPU memory: instance a has that",
        "stop task middle on instance a", "add 1 GPU of at least 5500 MiB to instance a",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU of at least 5500 "
        "MiB"}},
      {"a task to move to another GPU of the same machine",
       [] {
         Scene scene({{.id = "a", .gpus = {Gpu("g0", 16000), Gpu("g1", 16000)}}});
         scene.Run("t1", "a", Shared(9000));  // g0
         scene.Run("t2", "a", Shared(7000));  // g0
         scene.Run("t3", "a", Shared(6000));  // g1
         scene.Stop("t2");                    // 7000 on g0, 10000 on g1
         return scene;
       },
       Shared(15000),
       {},
       {"move task t3 to instance a (GPU g0): instance a then has room",
        "ask for at most 10000 MiB of GPU memory: instance a has that",
        "stop task t3 on instance a", "add 1 GPU of at least 15000 MiB to instance a",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU of at least 15000 "
        "MiB"}},
      {"two tasks, where one is not enough",
       [] {
         Scene scene({{.id = "a", .gpus = {Gpu("g0", 16000)}}});
         scene.Run("t1", "a", Shared(8000));
         scene.Run("t2", "a", Shared(8000));
         return scene;
       },
       Shared(15000),
       {},
       {"stop task t1 and task t2 on instance a", "add 1 GPU of at least 15000 MiB to instance a",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU of at least 15000 "
        "MiB"}},
      {"of several, those that need not end stay",
       [] {
         Scene scene({{.id = "a", .cpu_units = 100, .gpus = {Gpu("g0", 16000)}}});
         scene.Run("cpu", "a", Plain(100, 0));
         scene.Run("gpu", "a", Shared(16000));
         scene.Run("idle", "a", Plain(0, 1));
         return scene;
       },
       WithCpu(Shared(15000), 100),
       {},
       {"stop task cpu and task gpu on instance a",
        "add an instance with at least 100 CPU units and 0 MiB of memory and 1 GPU of at least "
        "15000 MiB"}},
      {"MPS clients: another GPU with fewer tasks has less memory, or one ends",
       [] {
         Scene scene(
             {{.id = "a", .gpus = {Gpu("g0", 9000), Gpu("g1", 1000)}, .mps_clients_max = 1}});
         scene.Run("t1", "a", Shared(2000));  // g0
         return scene;
       },
       Shared(5000),
       {},
       {"ask for at most 1000 MiB of GPU memory: instance a has that", "stop task t1 on instance a",
        "add 1 GPU of at least 5000 MiB to instance a",
        "add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU of at least 5000 "
        "MiB"}},
      {"distinctInstance is to be left out",
       [] {
         Scene scene({{.id = "a"}});
         scene.Run("t1", "a", Plain(1, 1), "web");
         return scene;
       },
       Plain(1, 1),
       {.distinct_instance = true},
       {"leave out distinctInstance: instance a has room",
        "add an instance with at least 1 CPU units and 1 MiB of memory"}},
      {"the one memberOf that stands in the way",
       [] {
         return Scene({{.id = "a", .values = {{"zone", "z1"}}},
                       {.id = "b", .cpu_units = 1, .values = {{"zone", "z2"}}}});
       },
       Plain(10, 1),
       MemberOf({"attribute:zone exists", "attribute:zone == z3"}),
       {"leave out memberOf 'attribute:zone == z3': instance a has room",
        "add an instance with at least 10 CPU units and 1 MiB of memory"}},
      {"two constraints in the way: leaving out one is no help",
       [] {
         return Scene({{.id = "a", .values = {{"zone", "z1"}}}});
       },
       Plain(10, 1),
       MemberOf({"attribute:rack exists", "attribute:zone == z3"}),
       {"add an instance with at least 10 CPU units and 1 MiB of memory"}},
      {"what a constraint forbids is not proposed for shrinking to it",
       [] {
         return Scene({In("a", "z1"), {.id = "b", .cpu_units = 20, .values = {{"zone", "z2"}}}});
       },
       Plain(100 * 1024, 1),
       MemberOf({"attribute:zone == z2"}),
       {"ask for at most 20 CPU units: instance b has that",
        "add an instance with at least 102400 CPU units and 1 MiB of memory"}},
      {"no capability: only another machine helps",
       [] { return Scene({{.id = "a", .gpus = {Gpu("g0")}, .attributes = {}}}); },
       Shared(1000),
       {},
       {"add an instance with at least 0 CPU units and 0 MiB of memory and 1 GPU of at least 1000 "
        "MiB"}},
      {"EXTERNAL needs a machine that says so",
       [] { return Scene({{.id = "a"}}); },
       {.cpu_units = 1, .launch_type = model::LaunchType::kExternal},
       {},
       {"add an instance with at least 1 CPU units and 0 MiB of memory"}},
      {"for FARGATE no machine will do",
       [] { return Scene({{.id = "a"}}); },
       {.cpu_units = 1, .launch_type = model::LaunchType::kFargate},
       {},
       {}},
      {"an empty cluster",
       [] { return Scene({}); },
       Plain(1, 1),
       {},
       {"add an instance with at least 1 CPU units and 1 MiB of memory"}},
      {"equal remedies: the lowest id",
       [] {
         return Scene({{.id = "b", .cpu_units = 30}, {.id = "a", .cpu_units = 30}});
       },
       Plain(50, 1),
       {},
       {"ask for at most 30 CPU units: instance a has that",
        "add an instance with at least 50 CPU units and 1 MiB of memory"}},
  };
}

TEST_CASE("each remedy that is told works when carried out", "[placement][explanation]") {
  const std::vector<Case> cases = Cases();
  const size_t i = GENERATE_COPY(range<size_t>(0, cases.size()));
  const Case& c = cases[i];
  INFO(c.why);
  const Scene asked = c.make();
  REQUIRE_FALSE(Place(c.demand, asked.inventory, c.rules, {.group = "web"}));

  const Explanation why = asked.Why(c.demand, c.rules);

  Texts texts;
  for (const Remedy& remedy : why.remedies) texts.push_back(Describe(remedy));
  CHECK(texts == c.remedies);
  for (const Remedy& remedy : why.remedies) {
    INFO(Describe(remedy));
    Scene scene = c.make();
    const std::string where = scene.Carry(remedy, c.demand, c.rules);
    const bool is_new = remedy.kind == Remedy::Kind::kAddInstance;
    // A constraint may keep it off a new machine without attributes.
    if (is_new && !c.rules.member_of.empty()) continue;
    CHECK(where.substr(0, where.find('/')) == (is_new ? "new" : remedy.instance.value));
    CHECK(scene.inventory.FindViolations() == Texts{});
  }
}

TEST_CASE("a shrunk demand is the largest that fits", "[placement][explanation]") {
  Scene scene({OneGpu("a", 16000)});
  scene.Run("t1", "a", Shared(5000));
  Demand demand = Shared(20000);

  const Explanation why = scene.Why(demand);

  REQUIRE(why.remedies.front().kind == Remedy::Kind::kShrink);
  const Remedy::Shrunk& shrunk = why.remedies.front().shrunk.front();
  CHECK(shrunk.from == 20000);
  CHECK(shrunk.to == 11000);
  demand.gpu.memory_mib = 11001;
  CHECK_FALSE(Place(demand, scene.inventory));
  demand.gpu.memory_mib = 11000;
  CHECK(Place(demand, scene.inventory));
}

TEST_CASE("where it fits there is nothing to remedy", "[placement][explanation]") {
  Scene scene({{.id = "a", .cpu_units = 1}, {.id = "b"}});

  const Explanation why = scene.Why(Plain(2, 2));

  CHECK(why.fitting == 1);
  CHECK(why.remedies.empty());
  CHECK(why.Summary() == "it fits on 1 of 2 instances");
}

TEST_CASE("no more tasks are named than somebody would end", "[placement][explanation]") {
  Scene scene({{.id = "a", .gpus = {Gpu("g0", 16000)}}});
  for (int i = 0; i <= kRemedyTasksMax; ++i) {
    scene.Run("t" + std::to_string(i), "a", Shared(16000 / (kRemedyTasksMax + 1)));
  }

  const Explanation why = scene.Why(Shared(16000));

  CHECK(std::none_of(why.remedies.begin(), why.remedies.end(), [](const Remedy& remedy) {
    return remedy.kind == Remedy::Kind::kStopTasks || remedy.kind == Remedy::Kind::kMoveTasks;
  }));
}

// Random clusters: whatever is proposed must work, and must be on the instance that is named.
TEST_CASE("whatever the cluster, remedies work", "[placement][explanation]") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 201));
  INFO("seed " << seed);
  const auto make = [seed] {
    model::Rng rng(seed);
    Scene scene({});
    const int machines = 1 + static_cast<int>(rng.Below(4));
    for (int m = 0; m < machines; ++m) {
      Machine machine{.id = "i-" + std::to_string(m),
                      .cpu_units = static_cast<int64_t>(1 + rng.Below(8)) * 100,
                      .memory_mib = static_cast<int64_t>(1 + rng.Below(8)) * 100,
                      .values = {{"zone", rng.Below(2) == 0 ? "z1" : "z2"}},
                      .mps_clients_max = static_cast<int64_t>(1 + rng.Below(4))};
      for (uint64_t g = rng.Below(4); g > 0; --g) {
        machine.gpus.push_back(
            Gpu("g" + std::to_string(g), static_cast<int64_t>(1 + rng.Below(4)) * 4000));
      }
      scene.Add(machine);
      for (int t = 0; t < 6; ++t) {
        Demand demand =
            Plain(static_cast<int64_t>(rng.Below(300)), static_cast<int64_t>(rng.Below(300)));
        const uint64_t kind = rng.Below(4);
        if (kind == 0) demand.gpu = Dedicated(1).gpu;
        if (kind == 1) demand.gpu = Shared(static_cast<int64_t>(1 + rng.Below(9000))).gpu;
        if (kind == 2) demand.tcp_ports = {static_cast<int64_t>(80 + rng.Below(2))};
        if (std::holds_alternative<Placement>(PlaceOn({machine.id}, demand, scene.inventory))) {
          scene.Run(machine.id + "-" + std::to_string(t), machine.id, demand,
                    rng.Below(2) == 0 ? "web" : "others");
        }
      }
      if (rng.Below(6) == 0) scene.Drain(machine.id);
      if (rng.Below(6) == 0) scene.Disconnect(machine.id);
    }
    return scene;
  };
  model::Rng rng(seed + 1000);
  Demand demand = Plain(static_cast<int64_t>(rng.Below(700)), static_cast<int64_t>(rng.Below(700)));
  const uint64_t kind = rng.Below(5);
  if (kind < 2) demand.gpu = Shared(static_cast<int64_t>(1 + rng.Below(16000)), 2).gpu;
  if (kind == 2) demand.gpu = Dedicated(static_cast<int64_t>(1 + rng.Below(3))).gpu;
  if (kind == 3) demand.gpu = AllGpus().gpu;
  if (rng.Below(3) == 0) demand.tcp_ports = {80};
  Rules rules;
  if (rng.Below(3) == 0) rules = MemberOf({"attribute:zone == z1"});
  rules.distinct_instance = rng.Below(3) == 0;
  const Scene asked = make();
  if (Place(demand, asked.inventory, rules, {.group = "web"})) return;

  const Explanation why = asked.Why(demand, rules);

  CHECK(why.fitting == 0);
  for (const Remedy& remedy : why.remedies) {
    INFO(Describe(remedy));
    if (remedy.kind == Remedy::Kind::kAddInstance && !rules.member_of.empty()) continue;
    Scene scene = make();
    const std::string where = scene.Carry(remedy, demand, rules);
    const std::string expected =
        remedy.kind == Remedy::Kind::kAddInstance ? "new" : remedy.instance.value;
    if (remedy.kind == Remedy::Kind::kShrink) {
      CHECK(where != "nowhere");  // a smaller one may fit elsewhere, and better
    } else {
      CHECK(where.substr(0, where.find('/')) == expected);
    }
  }
}

}  // namespace
}  // namespace berth::placement

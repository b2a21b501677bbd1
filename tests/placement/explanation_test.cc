// Why a task found no place: the funnel, the first shortfall of each instance, the sentence.
#include "placement/explanation.h"

#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

using model::LaunchType;

// "RESOURCE:GPU: needs ...", for the first instance turned away.
std::string FirstDetail(const Explanation& why) {
  if (why.turned_away.empty()) return "nobody was turned away";
  const TurnedAway& entry = why.turned_away.front();
  return std::string(EcsReason(entry.shortfall.dimension)) + ": " + why.Detail(entry);
}

Demand WithPorts(std::vector<int64_t> tcp, std::vector<int64_t> udp) {
  return {.tcp_ports = std::move(tcp), .udp_ports = std::move(udp)};
}

Demand Requiring(std::string attribute) { return {.required_attributes = {std::move(attribute)}}; }

Demand On(LaunchType launch_type) { return {.launch_type = launch_type}; }

TEST_CASE("the sentence says what was asked, what there is and where", "[placement]") {
  struct Case {
    std::string why;
    Machine machine;
    std::vector<Demand> before;
    Demand demand;
    std::string detail;
    bool never;
  };
  const Machine small{.id = "b",
                      .cpu_units = 1000,
                      .memory_mib = 1000,
                      .gpus = {Gpu("g0", 16000), Gpu("g1", 16000)},
                      .reserved_tcp_ports = {22}};
  const Machine plain{.id = "b", .attributes = {}};
  const Machine half_known{.id = "b", .gpus = {Gpu("g0"), Gpu("g1", 0)}};
  const Machine two_clients{.id = "b", .gpus = {Gpu("g0")}, .mps_clients_max = 2};
  const auto c = GENERATE_COPY(values<Case>({
      {"CPU in use",
       small,
       {Plain(900, 0)},
       Plain(200, 0),
       "RESOURCE:CPU: needs 200 CPU units; 100 of 1000 are left on instance b",
       false},
      {"CPU that it never had",
       small,
       {},
       Plain(1001, 0),
       "RESOURCE:CPU: needs 1001 CPU units; instance b has only 1000 in all",
       true},
      {"memory in use",
       small,
       {Plain(0, 999)},
       Plain(0, 2),
       "RESOURCE:MEMORY: needs 2 MiB of memory; 1 of 1000 is left on instance b",
       false},
      {"memory that it never had",
       small,
       {},
       Plain(0, 2000),
       "RESOURCE:MEMORY: needs 2000 MiB of memory; instance b has only 1000 in all",
       true},
      {"CPU comes before memory",
       small,
       {},
       Plain(2000, 2000),
       "RESOURCE:CPU: needs 2000 CPU units; instance b has only 1000 in all",
       true},
      {"a port of a task",
       small,
       {WithPorts({80}, {})},
       WithPorts({80}, {}),
       "RESOURCE:PORTS: needs host port 80/tcp; it is in use on instance b",
       false},
      {"a UDP port",
       small,
       {WithPorts({}, {53})},
       WithPorts({53}, {53}),
       "RESOURCE:PORTS: needs host port 53/udp; it is in use on instance b",
       false},
      {"a port of the host",
       small,
       {},
       WithPorts({22}, {}),
       "RESOURCE:PORTS: needs host port 22/tcp; it is in use on instance b by the host itself",
       true},
      {"whole GPUs in use",
       small,
       {Shared(1)},
       Dedicated(2),
       "RESOURCE:GPU: needs 2 idle GPUs; 1 of 2 is idle on instance b",
       false},
      {"one whole GPU",
       small,
       {Dedicated(2)},
       Dedicated(1),
       "RESOURCE:GPU: needs 1 idle GPU; 0 of 2 are idle on instance b",
       false},
      {"more whole GPUs than any machine has",
       small,
       {},
       Dedicated(3),
       "RESOURCE:GPU: needs 3 idle GPUs; no instance of the cluster could ever hold it: the most "
       "is "
       "2 GPUs",
       true},
      {"ALL",
       small,
       {Shared(1)},
       AllGpus(),
       "RESOURCE:GPU: needs all GPUs of an instance idle; 1 of 2 is idle on instance b",
       false},
      {"ALL where there is no GPU",
       plain,
       {},
       AllGpus(),
       "RESOURCE:GPU: needs a GPU; no instance of the cluster has one",
       true},
      {"a gap that is too small",
       small,
       {Dedicated(1), Shared(1000)},
       Shared(15500),
       "RESOURCE:GPU: needs 15500 MiB on one GPU; the largest gap is 15000 MiB on instance b; "
       "15000 "
       "MiB are free in total",
       false},
      {"enough in total, not on one",
       small,
       {},
       Shared(16001, 2),
       "RESOURCE:GPU: needs 16001 MiB on one GPU; no GPU of the cluster could ever hold it: the "
       "largest has 16000 MiB",
       true},
      {"nothing free",
       small,
       {Dedicated(2)},
       Shared(1),
       "RESOURCE:GPU: needs 1 MiB on one GPU; none is free on any",
       false},
      {"the last client is taken",
       two_clients,
       {Shared(1), Shared(1)},
       Shared(1),
       "RESOURCE:GPU: needs 1 MPS client on one GPU; GPU g0 on instance b has the memory, but 2 of "
       "2 "
       "clients are in use",
       false},
      {"more clients than a GPU takes",
       two_clients,
       {},
       Shared(3, 3),
       "RESOURCE:GPU: needs 3 MPS clients on one GPU; a GPU of instance b takes at most 2",
       true},
      {"no capability",
       plain,
       {},
       Shared(1),
       "ATTRIBUTE: needs attribute ecs.capability.gpu-sharing-mps; instance b does not have it",
       true},
      {"a GPU of unknown size",
       half_known,
       {},
       Shared(1),
       "ATTRIBUTE: needs attribute ecs.capability.gpu-sharing-mps; instance b does not offer it, "
       "since the memory of GPU g1 is not known",
       true},
      {"another attribute",
       plain,
       {},
       Requiring("ecs.capability.task-eni"),
       "ATTRIBUTE: needs attribute ecs.capability.task-eni; instance b does not have it",
       true},
      {"EXTERNAL",
       plain,
       {},
       On(LaunchType::kExternal),
       "ATTRIBUTE: needs an instance with attribute ecs.capability.external for launch type "
       "EXTERNAL; instance b does not have it",
       true},
      {"FARGATE",
       plain,
       {},
       On(LaunchType::kFargate),
       "ATTRIBUTE: needs Fargate capacity; there are only container instances",
       true},
  }));
  INFO(c.why);
  World world({c.machine});
  for (const Demand& demand : c.before) REQUIRE(world.Run(demand));
  REQUIRE_FALSE(Place(c.demand, world.inventory));

  const Explanation why = Explain(c.demand, world.inventory);

  CHECK(FirstDetail(why) == c.detail);
  REQUIRE(why.turned_away.size() == 1);
  CHECK(why.turned_away.front().shortfall.verdict ==
        (c.never ? Verdict::kNever : Verdict::kNotNow));
  CHECK(why.verdict == why.turned_away.front().shortfall.verdict);
}

TEST_CASE("a machine of the other launch type is told from one that is busy", "[placement]") {
  World world({Machine{.id = "b", .attributes = {model::kExternalCapability}}});

  CHECK(FirstDetail(Explain(On(LaunchType::kManagedInstances), world.inventory)) ==
        "ATTRIBUTE: needs an instance without attribute ecs.capability.external for launch type "
        "MANAGED_INSTANCES; instance b has it");
}

TEST_CASE("an instance whose agent is away is turned away for that", "[placement]") {
  World world({{.id = "b", .cpu_units = 100}});
  world.inventory.SetEligible({"b"}, false);

  const Explanation now = Explain(Plain(1, 1), world.inventory);
  const Explanation never = Explain(Plain(200, 1), world.inventory);

  const std::string away = "AGENT: instance b takes no tasks now: its agent is not connected";
  CHECK(FirstDetail(now) == away);
  CHECK(now.verdict == Verdict::kNotNow);
  CHECK(FirstDetail(never) == away + "; it could not hold the task even when empty");
  CHECK(never.verdict == Verdict::kNever);
}

TEST_CASE("what waits for one thing and can never have another is told so", "[placement]") {
  World world({{.id = "b", .cpu_units = 1000, .gpus = {Gpu("g0", 8000)}}});
  REQUIRE(world.Run(Plain(1000, 0)));
  Demand demand = Shared(9000);
  demand.cpu_units = 500;

  CHECK(
      FirstDetail(Explain(demand, world.inventory)) ==
      "RESOURCE:CPU: needs 500 CPU units; 0 of 1000 are left on instance b; it could not hold the "
      "task even when empty");
}

TEST_CASE("the largest gap is named wherever it is, the lowest id first", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0", 9000)}},
               {.id = "b", .gpus = {Gpu("g0", 16000), Gpu("g1", 7000)}},
               {.id = "c", .gpus = {Gpu("g0", 16000)}},
               {.id = "d", .gpus = {Gpu("g0", 24000)}},
               {.id = "e", .cpu_units = 1, .gpus = {Gpu("g0", 24000)}}});
  REQUIRE(
      world.Run({.gpu = {.kind = GpuDemand::Kind::kShared, .memory_mib = 20000, .containers = 1}}));
  Demand demand = Shared(20480);
  demand.cpu_units = 2;

  const Explanation why = Explain(demand, world.inventory);

  CHECK(why.largest_gap_mib == 16000);
  CHECK(why.largest_gap_instance.value == "b");
  CHECK(
      FirstDetail(why) ==
      "RESOURCE:GPU: needs 20480 MiB on one GPU; the largest gap is 16000 MiB on instance b; 52000 "
      "MiB are free in total");
  CHECK(why.verdict == Verdict::kNotNow);
}

TEST_CASE("the funnel counts each instance once, by its first shortfall, in order", "[placement]") {
  World world({{.id = "attribute", .attributes = {}},
               {.id = "cpu-1", .cpu_units = 1, .gpus = {Gpu("g0")}},
               {.id = "cpu-2", .cpu_units = 1, .memory_mib = 1, .gpus = {Gpu("g0")}},
               {.id = "memory", .memory_mib = 1, .gpus = {Gpu("g0")}},
               {.id = "ports", .gpus = {Gpu("g0", 1)}, .reserved_tcp_ports = {80}},
               {.id = "gpu", .gpus = {Gpu("g0", 1)}},
               {.id = "clients", .gpus = {Gpu("g0")}, .mps_clients_max = 1},
               {.id = "agent", .cpu_units = 1, .attributes = {}},
               {.id = "external", .attributes = {model::kExternalCapability}}});
  world.inventory.SetEligible({"agent"}, false);
  world.inventory.SetEligible({"external"}, false);
  Demand demand = Shared(2000, 2);
  demand.cpu_units = 2;
  demand.memory_mib = 2;
  demand.tcp_ports = {80};

  const Explanation why = Explain(demand, world.inventory);

  std::vector<std::pair<Dimension, int64_t>> funnel;
  int64_t sum = 0;
  for (const Explanation::Count& count : why.funnel) {
    funnel.emplace_back(count.dimension, count.instances);
    sum += count.instances;
  }
  CHECK(funnel == std::vector<std::pair<Dimension, int64_t>>{{Dimension::kLaunchType, 1},
                                                             {Dimension::kAgent, 1},
                                                             {Dimension::kAttribute, 1},
                                                             {Dimension::kCpu, 2},
                                                             {Dimension::kMemory, 1},
                                                             {Dimension::kPorts, 1},
                                                             {Dimension::kGpuMemory, 1},
                                                             {Dimension::kMpsClients, 1}});
  CHECK(why.instances == 9);
  CHECK(sum == 9);
  CHECK(why.demand.gpu.memory_mib == 2000);
  CHECK(std::is_sorted(
      why.turned_away.begin(), why.turned_away.end(),
      [](const TurnedAway& a, const TurnedAway& b) { return a.instance < b.instance; }));
}

TEST_CASE("an instance with room is not turned away", "[placement]") {
  World world({{.id = "full", .cpu_units = 1}, {.id = "room"}});

  const Explanation why = Explain(Plain(2, 2), world.inventory);

  CHECK(why.instances == 2);
  REQUIRE(why.turned_away.size() == 1);
  CHECK(why.turned_away.front().instance.value == "full");
  CHECK(why.verdict == std::nullopt);
}

TEST_CASE("a large cluster is counted whole and listed in part", "[placement]") {
  World world;
  for (int64_t i = 0; i < kTurnedAwayMax + 1; ++i) {
    world.Add({.id = std::to_string(1000 - i), .cpu_units = 1});
  }

  const Explanation why = Explain(Plain(2, 2), world.inventory);

  REQUIRE(why.funnel.size() == 1);
  CHECK(why.funnel.front().instances == kTurnedAwayMax + 1);
  REQUIRE(static_cast<int64_t>(why.turned_away.size()) == kTurnedAwayMax);
  CHECK(why.turned_away.front().instance.value == "1000");
  CHECK(why.turned_away[1].instance.value == "900");
}

TEST_CASE("in an empty cluster nobody is turned away, and that is not never", "[placement]") {
  const Explanation why = Explain(Shared(1), Inventory());

  CHECK(why.instances == 0);
  CHECK(why.turned_away.empty());
  CHECK(why.verdict == std::nullopt);
}

}  // namespace
}  // namespace berth::placement

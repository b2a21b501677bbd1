// Which instances are asked at all: agent, launch type, attributes, ports.
#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

using model::LaunchType;

TEST_CASE("a new instance takes tasks only once it is said to be eligible", "[placement]") {
  Inventory inventory;
  inventory.Put(Record({.id = "a", .gpus = {Gpu("g0")}}));

  CHECK(Where(Place(Plain(1, 1), inventory)) == "nowhere");

  inventory.SetEligible({"a"}, true);

  CHECK(Where(Place(Plain(1, 1), inventory)) == "a");
}

TEST_CASE("a draining instance takes no new task and shows those it has [46]", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0")}}});
  REQUIRE(world.Run(Shared(4000), "t"));

  world.inventory.SetEligible({"a"}, false);

  CHECK(Where(Place(Shared(1), world.inventory)) == "nowhere");
  CHECK(Where(Place(Plain(1, 1), world.inventory)) == "nowhere");
  CHECK(Text(world.Gpu("a", "g0")) == "NVIDIA_MPS 18587/22587 1");

  world.Stop("t");

  CHECK(Text(world.Gpu("a", "g0")) == "IDLE 22587/22587 0");
  CHECK(Where(Place(Dedicated(1), world.inventory)) == "nowhere");

  world.inventory.SetEligible({"a"}, true);

  CHECK(Where(Place(Dedicated(1), world.inventory)) == "a/g0");
}

TEST_CASE("registering anew does not make an instance eligible", "[placement]") {
  World world({{.id = "a"}});
  world.inventory.SetEligible({"a"}, false);

  world.inventory.Put(Record({.id = "a"}));

  CHECK(Where(Place(Plain(1, 1), world.inventory)) == "nowhere");
}

TEST_CASE("launch types go to the machines that serve them", "[placement]") {
  struct Case {
    std::string why;
    LaunchType launch_type;
    std::string where;
  };
  const auto c = GENERATE(values<Case>({
      {"EC2: without the external capability", LaunchType::kEc2, "own"},
      {"MANAGED_INSTANCES: the same", LaunchType::kManagedInstances, "own"},
      {"EXTERNAL: with it", LaunchType::kExternal, "external"},
      {"FARGATE: no machine", LaunchType::kFargate, "nowhere"},
  }));
  INFO(c.why);
  World world({{.id = "own"}, {.id = "external", .attributes = {model::kExternalCapability}}});
  Demand demand = Plain(1, 1);
  demand.launch_type = c.launch_type;

  CHECK(Where(Place(demand, world.inventory)) == c.where);
}

TEST_CASE("every required attribute has to be there", "[placement]") {
  struct Case {
    std::string why;
    std::vector<std::string> required;
    std::string where;
  };
  const auto c = GENERATE(values<Case>({
      {"none: the lowest id", {}, "a"},
      {"one that only one has", {"ecs.capability.task-eni"}, "b"},
      {"one that both have", {"com.amazonaws.ecs.capability.ecr-auth"}, "a"},
      {"both", {"com.amazonaws.ecs.capability.ecr-auth", "ecs.capability.task-eni"}, "b"},
      {"one that none has", {"ecs.capability.task-eni", "ecs.capability.x"}, "nowhere"},
      {"one that is no capability", {"rack"}, "c"},
      {"one that is no capability and one that is", {"ecs.capability.task-eni", "rack"}, "c"},
      {"one that is no capability and none has", {"row"}, "nowhere"},
  }));
  INFO(c.why);
  const std::string ecr = "com.amazonaws.ecs.capability.ecr-auth";
  World world({{.id = "a", .attributes = {ecr}},
               {.id = "b", .attributes = {ecr, "ecs.capability.task-eni"}},
               {.id = "c", .attributes = {ecr, "ecs.capability.task-eni", "rack"}}});
  Demand demand = Plain(1, 1);
  demand.required_attributes = c.required;

  CHECK(Where(Place(demand, world.inventory)) == c.where);
}

TEST_CASE("a capability that comes or goes with a registration counts from then on",
          "[placement]") {
  World world({Machine{.id = "a", .attributes = {}}});
  Demand demand = Plain(1, 1);
  demand.required_attributes = {"ecs.capability.task-eni"};
  CHECK(Where(Place(demand, world.inventory)) == "nowhere");

  world.inventory.Put(Record({.id = "a", .attributes = {"ecs.capability.task-eni"}}));
  CHECK(Where(Place(demand, world.inventory)) == "a");

  world.inventory.Put(Record({.id = "a", .attributes = {}}));
  CHECK(Where(Place(demand, world.inventory)) == "nowhere");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("more capabilities than fit one machine word are told apart", "[placement]") {
  const auto name = [](int i) { return "ecs.capability.x" + std::to_string(i); };
  World world;
  for (int i = 0; i < 200; ++i) {
    world.Add({.id = "i-" + std::to_string(i), .attributes = {name(i), name(i + 1)}});
  }
  for (const int i : {1, 63, 64, 65, 128, 199}) {
    Demand demand = Plain(1, 1);
    demand.required_attributes = {name(i), name(i + 1)};
    std::sort(demand.required_attributes.begin(), demand.required_attributes.end());

    CHECK(Where(Place(demand, world.inventory)) == "i-" + std::to_string(i));
  }
}

TEST_CASE("a static host port is taken once per instance and protocol", "[placement]") {
  World world({{.id = "a", .reserved_tcp_ports = {22}, .reserved_udp_ports = {53}}, {.id = "b"}});
  Demand tcp = Plain(1, 1);
  tcp.tcp_ports = {80};
  Demand udp = Plain(1, 1);
  udp.udp_ports = {80};
  Demand ssh = Plain(1, 1);
  ssh.tcp_ports = {22};

  CHECK(Where(world.Run(tcp, "t")) == "a");
  CHECK(Where(world.Run(udp)) == "a");
  CHECK(Where(world.Run(tcp)) == "b");
  CHECK(Where(world.Run(tcp)) == "nowhere");
  CHECK(Where(world.Run(ssh)) == "b");
  CHECK(world.inventory.Find({"a"}).tcp_ports_in_use == std::vector<int64_t>{22, 80});
  CHECK(world.inventory.Find({"a"}).udp_ports_in_use == std::vector<int64_t>{53, 80});

  world.Stop("t");

  CHECK(world.inventory.Find({"a"}).tcp_ports_in_use == std::vector<int64_t>{22});
  CHECK(Where(world.Run(tcp)) == "a");
}

TEST_CASE("a port in use nearly everywhere is found where it is free", "[placement]") {
  constexpr int kInstances = 300;
  World world;
  for (int i = 0; i < kInstances; ++i) {
    world.Add({.id = "i-" + std::to_string(1000 + i), .gpus = {Gpu("g0")}});
  }
  Demand web = Shared(100);
  web.tcp_ports = {443};
  for (int i = 0; i < kInstances; ++i) REQUIRE(world.Run(web, std::to_string(i)));
  CHECK(Where(world.Run(web)) == "nowhere");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});

  world.Stop("123");

  CHECK(Where(world.Run(web, "123")) == "i-1123/g0");

  for (int i = 0; i < kInstances; ++i) world.Stop(std::to_string(i));
  CHECK(Where(world.Run(web)) == "i-1000/g0");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

}  // namespace
}  // namespace berth::placement

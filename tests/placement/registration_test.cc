// What a registration anew, a restart and a removal do to what tasks hold.
#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

Reservation Holding(model::GpuUse use, std::vector<model::GpuId> gpus, int64_t memory_mib = 0,
                    int64_t containers = 0) {
  return {.gpu_use = use,
          .gpus = std::move(gpus),
          .gpu_memory_mib = memory_mib,
          .gpu_containers = containers};
}

TEST_CASE("a machine that comes back smaller keeps its tasks and has nothing left [41]",
          "[placement]") {
  World world({{.cpu_units = 2048, .memory_mib = 4096, .gpus = {Gpu("g0")}}});
  Demand demand = Shared(22500);
  demand.cpu_units = 2000;
  demand.memory_mib = 4000;
  REQUIRE(world.Run(demand, "t"));

  world.inventory.Put(Record({.cpu_units = 1024, .memory_mib = 1024, .gpus = {Gpu("g0", 22000)}}));

  const InstanceState state = world.inventory.Find({"i-1"});
  CHECK(state.remaining_cpu_units == 0);
  CHECK(state.remaining_memory_mib == 0);
  CHECK(Text(state.gpus[0]) == "NVIDIA_MPS 0/22000 1");
  CHECK(Where(Place(Shared(1), world.inventory)) == "nowhere");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});

  world.Stop("t");

  CHECK(Text(world.Gpu("i-1", "g0")) == "IDLE 22000/22000 0");
  CHECK(world.inventory.Find({"i-1"}).remaining_memory_mib == 1024);
  CHECK(Where(Place(Shared(22000), world.inventory)) == "i-1/g0");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("a machine that comes back larger has the difference left", "[placement]") {
  World world({{.gpus = {Gpu("g0", 10000)}}});
  REQUIRE(world.Run(Shared(8000)));

  world.inventory.Put(Record({.gpus = {Gpu("g0", 12000), Gpu("g1", 5000)}}));

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 4000/12000 1");
  CHECK(Where(Place(Shared(4001), world.inventory)) == "i-1/g1");
  CHECK(Where(Place(Shared(4000), world.inventory)) == "i-1/g0");
}

TEST_CASE("a GPU that has vanished is held by its tasks and given to no other", "[placement]") {
  World world({{.gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2")}}});
  REQUIRE(world.Run(Shared(4000, 2), "shared"));  // g0
  REQUIRE(world.Run(Dedicated(1), "dedicated"));  // g1

  world.inventory.Put(Record({.gpus = {Gpu("g2")}}));

  InstanceState state = world.inventory.Find({"i-1"});
  REQUIRE(state.gpus.size() == 3);
  CHECK(state.gpus[0].id.value == "g2");
  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 0/0 2");
  CHECK(Text(world.Gpu("i-1", "g1")) == "DEDICATED 0/0 1");
  CHECK(Where(Place(Shared(1), world.inventory)) == "i-1/g2");
  CHECK(Where(Place(AllGpus(), world.inventory)) == "i-1/g2");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});

  world.Stop("shared");
  world.Stop("dedicated");

  state = world.inventory.Find({"i-1"});
  REQUIRE(state.gpus.size() == 1);
  CHECK(state.gpus[0].id.value == "g2");
}

TEST_CASE("a GPU that vanished and came back is as its tasks left it", "[placement]") {
  World world({{.gpus = {Gpu("g0"), Gpu("g1")}}});
  REQUIRE(world.Run(Shared(4000), "t"));

  world.inventory.Put(Record({.gpus = {Gpu("g1")}}));
  world.inventory.Put(Record({.gpus = {Gpu("g1"), Gpu("g0")}}));

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 18587/22587 1");
  CHECK(Where(Place(Shared(1), world.inventory)) == "i-1/g0");
}

TEST_CASE("sharers stay when their machine ceases to offer sharing", "[placement]") {
  World world({{.gpus = {Gpu("g0"), Gpu("g1")}}});
  REQUIRE(world.Run(Shared(4000), "t"));

  world.inventory.Put(Record({.gpus = {Gpu("g0"), Gpu("g1", 0)}}));

  CHECK(Where(Place(Shared(1), world.inventory)) == "nowhere");
  CHECK(Where(Place(Dedicated(1), world.inventory)) == "i-1/g1");
  CHECK(Where(Place(Dedicated(2), world.inventory)) == "nowhere");

  world.Stop("t");

  CHECK(Where(Place(Dedicated(2), world.inventory)) == "i-1/g0,g1");
}

TEST_CASE("a port that the host now claims stays in use when the task ends", "[placement]") {
  World world({Machine{}});
  Demand web = Plain(1, 1);
  web.tcp_ports = {8080};
  REQUIRE(world.Run(web, "t"));
  world.inventory.Put(Record({.reserved_tcp_ports = {8080, 8080}}));
  CHECK(world.inventory.Find({"i-1"}).tcp_ports_in_use == std::vector<int64_t>{8080});

  world.Stop("t");

  CHECK(world.inventory.Find({"i-1"}).tcp_ports_in_use == std::vector<int64_t>{8080});
  CHECK(Where(world.Run(web)) == "nowhere");

  world.inventory.Put(Record({}));

  CHECK(Where(world.Run(web)) == "i-1");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("a GPU id given twice in one registration counts once", "[placement]") {
  World world({{.gpus = {Gpu("g0"), Gpu("g0", 5)}}});

  CHECK(world.inventory.Find({"i-1"}).gpus.size() == 1);
  CHECK(Where(Place(Dedicated(2), world.inventory)) == "nowhere");
  CHECK(Where(Place(Shared(kGpuMib), world.inventory)) == "i-1/g0");
}

TEST_CASE("after a restart what was placed is held again, whatever the machine has now [45]",
          "[placement]") {
  World world({{.cpu_units = 100, .memory_mib = 100, .gpus = {Gpu("g0", 1000)}}});
  Reservation task = Holding(model::GpuUse::kNvidiaMps, {{"g0"}}, 1500, 2);
  task.cpu_units = 200;
  task.memory_mib = 200;
  Reservation on_vanished = Holding(model::GpuUse::kDedicated, {{"g7"}});

  CHECK(world.inventory.Restore({"i-1"}, task));
  CHECK(world.inventory.Restore({"i-1"}, on_vanished));

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 0/1000 2");
  CHECK(Text(world.Gpu("i-1", "g7")) == "DEDICATED 0/0 1");
  CHECK(world.inventory.Find({"i-1"}).remaining_cpu_units == 0);
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});

  world.inventory.Release({"i-1"}, on_vanished);
  world.inventory.Release({"i-1"}, task);

  CHECK(world.inventory.Find({"i-1"}).remaining_cpu_units == 100);
  CHECK(Where(Place(Shared(1000), world.inventory)) == "i-1/g0");
}

TEST_CASE("a record that contradicts others is not restored, and changes nothing", "[placement]") {
  struct Case {
    std::string why;
    Reservation reservation;
  };
  using model::GpuUse;
  const auto c = GENERATE(values<Case>({
      {"a TCP port twice", {.tcp_ports = {80}}},
      {"a UDP port twice", {.udp_ports = {53}}},
      {"a shared GPU as a whole", Holding(GpuUse::kDedicated, {{"g0"}})},
      {"a whole GPU shared", Holding(GpuUse::kNvidiaMps, {{"g1"}}, 1, 1)},
      {"a whole GPU as a whole", Holding(GpuUse::kDedicated, {{"g1"}})},
      {"one GPU twice in one task", Holding(GpuUse::kDedicated, {{"g2"}, {"g2"}})},
      {"a share of two GPUs", Holding(GpuUse::kNvidiaMps, {{"g0"}, {"g2"}}, 1, 1)},
      {"a share of no memory", Holding(GpuUse::kNvidiaMps, {{"g0"}}, 0, 1)},
      {"a share of no container", Holding(GpuUse::kNvidiaMps, {{"g0"}}, 1, 0)},
      {"a GPU without a use", Holding(GpuUse::kIdle, {{"g0"}})},
      {"less than no CPU", {.cpu_units = -1}},
      {"less than no memory", {.memory_mib = -1}},
  }));
  INFO(c.why);
  World world({{.gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2")}}});
  REQUIRE(world.inventory.Restore({"i-1"}, {.tcp_ports = {80}, .udp_ports = {53}}));
  REQUIRE(world.inventory.Restore({"i-1"}, Holding(GpuUse::kNvidiaMps, {{"g0"}}, 100, 1)));
  REQUIRE(world.inventory.Restore({"i-1"}, Holding(GpuUse::kDedicated, {{"g1"}})));

  CHECK_FALSE(world.inventory.Restore({"i-1"}, c.reservation));

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 22487/22587 1");
  CHECK(Text(world.Gpu("i-1", "g1")) == "DEDICATED 0/22587 1");
  CHECK(Text(world.Gpu("i-1", "g2")) == "IDLE 22587/22587 0");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("a removed instance is gone, and may come back as a new one", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0")}}, {.id = "b", .gpus = {Gpu("g0")}}});

  world.inventory.Remove({"a"});

  CHECK_FALSE(world.inventory.Contains({"a"}));
  CHECK(world.inventory.size() == 1);
  CHECK(Where(Place(Dedicated(1), world.inventory)) == "b/g0");

  world.inventory.Put(Record({.id = "a", .gpus = {Gpu("g9")}}));

  CHECK(Where(Place(Dedicated(1), world.inventory)) == "b/g0");

  world.inventory.SetEligible({"a"}, true);

  CHECK(Where(Place(Dedicated(1), world.inventory)) == "a/g9");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

TEST_CASE("an inventory can be moved", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0")}}});

  Inventory moved = std::move(world.inventory);

  CHECK(Where(Place(Shared(1), moved)) == "a/g0");
}

}  // namespace
}  // namespace berth::placement

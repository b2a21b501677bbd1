// Placing on one given instance: what fits, what does not, and which GPU.
#include "placement/place_on.h"

#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

// "a/g0" or the dimension's ECS reason.
std::string WhereOn(const std::string& instance, const Demand& demand, const Inventory& inventory) {
  const auto result = PlaceOn({instance}, demand, inventory);
  if (const auto* shortfall = std::get_if<Shortfall>(&result)) {
    return std::string(EcsReason(shortfall->dimension));
  }
  return Where(std::get<Placement>(result));
}

TEST_CASE("a task goes to the instance named, though another would suit it better", "[placement]") {
  World world({{.id = "a", .memory_mib = 100}, {.id = "b", .memory_mib = 200}});
  REQUIRE(Where(Place(Plain(1, 50), world.inventory)) == "a");

  CHECK(WhereOn("b", Plain(1, 50), world.inventory) == "b");
}

TEST_CASE("what the instance named lacks is said, though another has it", "[placement]") {
  World world({{.id = "big"},
               {.id = "small",
                .cpu_units = 1024,
                .memory_mib = 100,
                .attributes = {"ecs.capability.x"},
                .reserved_tcp_ports = {22}}});
  Demand ssh = Plain(1, 1);
  ssh.tcp_ports = {22};
  Demand needs = Plain(1, 1);
  needs.required_attributes = {"ecs.capability.y"};

  CHECK(WhereOn("small", Plain(1024, 100), world.inventory) == "small");
  CHECK(WhereOn("small", Plain(1025, 100), world.inventory) == "RESOURCE:CPU");
  CHECK(WhereOn("small", Plain(1024, 101), world.inventory) == "RESOURCE:MEMORY");
  CHECK(WhereOn("small", ssh, world.inventory) == "RESOURCE:PORTS");
  CHECK(WhereOn("small", needs, world.inventory) == "ATTRIBUTE");
  CHECK(WhereOn("small", Dedicated(1), world.inventory) == "RESOURCE:GPU");
  CHECK(WhereOn("small", Shared(1), world.inventory) == "ATTRIBUTE");
  world.inventory.SetEligible({"small"}, false);
  CHECK(WhereOn("small", Plain(1, 1), world.inventory) == "AGENT");
}

TEST_CASE("a shared GPU goes before an idle one, the tightest fit first", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2")}}});
  const auto share = [&](const char* gpu, int64_t memory_mib) {
    world.inventory.Reserve({"a"}, {.gpu_use = model::GpuUse::kNvidiaMps,
                                    .gpus = {{gpu}},
                                    .gpu_memory_mib = memory_mib,
                                    .gpu_containers = 1});
  };
  CHECK(WhereOn("a", Shared(1000), world.inventory) == "a/g0");
  share("g1", 1000);
  CHECK(WhereOn("a", Shared(1000), world.inventory) == "a/g1");
  share("g2", 5000);
  CHECK(WhereOn("a", Shared(1000), world.inventory) == "a/g2");
  CHECK(WhereOn("a", Shared(kGpuMib - 1000), world.inventory) == "a/g1");
  CHECK(WhereOn("a", Shared(kGpuMib), world.inventory) == "a/g0");
  CHECK(WhereOn("a", Shared(kGpuMib + 1), world.inventory) == "RESOURCE:GPU");
}

TEST_CASE("a device without a free client is passed over", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0"), Gpu("g1")}, .mps_clients_max = 2}});
  world.inventory.Reserve({"a"}, {.gpu_use = model::GpuUse::kNvidiaMps,
                                  .gpus = {{"g0"}},
                                  .gpu_memory_mib = 10,
                                  .gpu_containers = 1});

  CHECK(WhereOn("a", Shared(10, 1), world.inventory) == "a/g0");
  CHECK(WhereOn("a", Shared(10, 2), world.inventory) == "a/g1");
  CHECK(WhereOn("a", Shared(10, 3), world.inventory) == "RESOURCE:GPU");
}

TEST_CASE("dedicated GPUs are the idle ones with the lowest ids", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g2"), Gpu("g0"), Gpu("g1")}}});

  CHECK(WhereOn("a", Dedicated(2), world.inventory) == "a/g0,g1");
  CHECK(WhereOn("a", AllGpus(), world.inventory) == "a/g0,g1,g2");
  REQUIRE(world.Run(Dedicated(1)));
  CHECK(WhereOn("a", Dedicated(2), world.inventory) == "a/g1,g2");
  CHECK(WhereOn("a", Dedicated(3), world.inventory) == "RESOURCE:GPU");
  CHECK(WhereOn("a", AllGpus(), world.inventory) == "RESOURCE:GPU");
}

}  // namespace
}  // namespace berth::placement

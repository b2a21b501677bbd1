// The rules of sharing a GPU. Numbers in brackets are test cases of the GPU sharing design.
#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

TEST_CASE("all sharing containers of a task go to one GPU, which counts their sum [23]",
          "[placement]") {
  World world({{.gpus = {Gpu("g0")}}});

  CHECK(Where(world.Run(Shared(4000 + 2000, 2))) == "i-1/g0");

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 16587/22587 2");
}

TEST_CASE("a whole GPU is never taken from sharers, nor shared while it is dedicated",
          "[placement]") {
  struct Case {
    std::string why;
    std::vector<model::Gpu> gpus;
    std::vector<Demand> before;
    Demand demand;
    std::string where;
  };
  const auto c = GENERATE(values<Case>({
      {"[24] the only GPU is shared", {Gpu("g0")}, {Shared(6000, 2)}, Dedicated(1), "nowhere"},
      {"1 MiB is enough to keep it", {Gpu("g0")}, {Shared(1)}, Dedicated(1), "nowhere"},
      {"[25] both uses on one instance",
       {Gpu("g0"), Gpu("g1")},
       {Shared(1)},
       Dedicated(1),
       "i-1/g1"},
      {"and the other way round", {Gpu("g0"), Gpu("g1")}, {Dedicated(1)}, Shared(1), "i-1/g1"},
      {"[30] the only GPU is dedicated", {Gpu("g0")}, {Dedicated(1)}, Shared(1), "nowhere"},
      {"a dedicated GPU is not dedicated twice",
       {Gpu("g0")},
       {Dedicated(1)},
       Dedicated(1),
       "nowhere"},
      {"[31] ALL of four, one shared",
       {Gpu("g0"), Gpu("g1"), Gpu("g2"), Gpu("g3")},
       {Shared(1)},
       AllGpus(),
       "nowhere"},
      {"[31] four of four, one shared",
       {Gpu("g0"), Gpu("g1"), Gpu("g2"), Gpu("g3")},
       {Shared(1)},
       Dedicated(4),
       "nowhere"},
      {"[31] three of four, one shared",
       {Gpu("g0"), Gpu("g1"), Gpu("g2"), Gpu("g3")},
       {Shared(1)},
       Dedicated(3),
       "i-1/g1,g2,g3"},
      {"ALL when all are idle", {Gpu("g1"), Gpu("g0")}, {}, AllGpus(), "i-1/g0,g1"},
      {"ALL of no GPU is not a place", {}, {}, AllGpus(), "nowhere"},
      {"ALL after ALL", {Gpu("g0"), Gpu("g1")}, {AllGpus()}, AllGpus(), "nowhere"},
      {"more than there are", {Gpu("g0"), Gpu("g1")}, {}, Dedicated(3), "nowhere"},
  }));
  INFO(c.why);
  World world({{.gpus = c.gpus}});
  for (const Demand& demand : c.before) REQUIRE(world.Run(demand));

  CHECK(Where(world.Run(c.demand)) == c.where);
}

TEST_CASE("one GPU has to hold the sum of what a task shares", "[placement]") {
  struct Case {
    std::string why;
    std::vector<int64_t> left_mib;
    Demand demand;
    std::string where;
  };
  const int64_t kHuge = 1'073'741'824;
  const auto c = GENERATE_COPY(values<Case>({
      {"[26] 10000 on each of two is not 12000", {10000, 10000}, Shared(12000, 2), "nowhere"},
      {"one MiB below", {10000}, Shared(9999), "i-1/g0"},
      {"[27] exactly", {10000}, Shared(10000), "i-1/g0"},
      {"one MiB above", {10000}, Shared(10001), "nowhere"},
      {"[28] nothing left", {0}, Shared(1), "nowhere"},
      {"the second has it", {100, 5000}, Shared(5000), "i-1/g1"},
      {"[36] a sum beyond 32 bits", {10000}, Shared(3 * kHuge, 3), "nowhere"},
      {"[9] the most an integer member can say", {10000}, Shared(2147483647), "nowhere"},
  }));
  INFO(c.why);
  World world;
  Machine machine;
  for (size_t i = 0; i < c.left_mib.size(); ++i) {
    machine.gpus.push_back(Gpu("g" + std::to_string(i), 100 + c.left_mib[i]));
  }
  world.Add(machine);
  for (size_t i = 0; i < c.left_mib.size(); ++i) {
    world.inventory.Reserve({"i-1"}, {.gpu_use = model::GpuUse::kNvidiaMps,
                                      .gpus = {machine.gpus[i].id},
                                      .gpu_memory_mib = 100,
                                      .gpu_containers = 1});
  }

  CHECK(Where(world.Run(c.demand)) == c.where);
}

TEST_CASE("a GPU that is full by memory stays NVIDIA_MPS with nothing left [27, 28]",
          "[placement]") {
  World world({{.gpus = {Gpu("g0")}}});
  REQUIRE(world.Run(Shared(4000 + 2000, 2)));

  REQUIRE(world.Run(Shared(12288 + 4299, 2)));

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 0/22587 4");
  CHECK(Where(world.Run(Shared(1))) == "nowhere");
}

TEST_CASE("a GPU is IDLE again when its last sharer has ended, and not before [29]",
          "[placement]") {
  World world({{.gpus = {Gpu("g0")}}});
  REQUIRE(world.Run(Shared(4000, 2), "a"));
  REQUIRE(world.Run(Shared(5000, 1), "b"));

  world.Stop("a");

  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 17587/22587 1");
  CHECK(Where(world.Run(Dedicated(1))) == "nowhere");

  world.Stop("b");

  CHECK(Text(world.Gpu("i-1", "g0")) == "IDLE 22587/22587 0");
  CHECK(Where(world.Run(Dedicated(1), "c")) == "i-1/g0");
  CHECK(Text(world.Gpu("i-1", "g0")) == "DEDICATED 0/22587 1");

  world.Stop("c");

  CHECK(Text(world.Gpu("i-1", "g0")) == "IDLE 22587/22587 0");
}

TEST_CASE("of two tasks for the last 5000 MiB exactly one is placed [34]", "[placement]") {
  World world({{.gpus = {Gpu("g0", 6000)}}});
  REQUIRE(world.Run(Shared(1000)));

  CHECK(Where(world.Run(Shared(5000))) == "i-1/g0");
  CHECK(Where(world.Run(Shared(5000))) == "nowhere");
}

TEST_CASE("ten tasks of 4000 MiB fill one GPU five times over [35]", "[placement]") {
  World world({{.gpus = {Gpu("g0")}}});
  int64_t placed = 0;

  for (int i = 0; i < 10; ++i) placed += world.Run(Shared(4000)) ? 1 : 0;

  CHECK(placed == 5);
  CHECK(Text(world.Gpu("i-1", "g0")) == "NVIDIA_MPS 2587/22587 5");
}

TEST_CASE("a GPU takes as many MPS clients as its agent reported, and no more", "[placement]") {
  struct Case {
    std::string why;
    int64_t clients_max;
    int64_t in_use;
    int64_t containers;
    std::string where;
  };
  const auto c = GENERATE(values<Case>({
      {"[38] the 48th of 48", 48, 47, 1, "i-1/g0"},
      {"[38] the 49th of 48", 48, 48, 1, "nowhere"},
      {"[39] the 60th of 60", 60, 59, 1, "i-1/g0"},
      {"[39] the 61st of 60", 60, 60, 1, "nowhere"},
      {"[40] three where two are left", 48, 46, 3, "nowhere"},
      {"three where three are left", 48, 45, 3, "i-1/g0"},
      {"an idle GPU has a limit too", 2, 0, 3, "nowhere"},
      {"and up to it all is well", 3, 0, 3, "i-1/g0"},
  }));
  INFO(c.why);
  World world({{.gpus = {Gpu("g0")}, .mps_clients_max = c.clients_max}});
  for (int64_t i = 0; i < c.in_use; ++i) REQUIRE(world.Run(Shared(100)));

  CHECK(Where(world.Run(Shared(300, c.containers))) == c.where);
}

TEST_CASE("sharing is offered only with the capability and a memory figure for every GPU",
          "[placement]") {
  struct Case {
    std::string why;
    Machine machine;
    std::string shared;
    std::string dedicated;
  };
  const auto c = GENERATE(values<Case>({
      {"both", {.gpus = {Gpu("g0"), Gpu("g1")}}, "i-1/g0", "i-1/g0"},
      {"no capability", {.gpus = {Gpu("g0")}, .attributes = {}}, "nowhere", "i-1/g0"},
      {"[37] one of two unknown", {.gpus = {Gpu("g0"), Gpu("g1", 0)}}, "nowhere", "i-1/g0"},
      {"the only one unknown", {.gpus = {Gpu("g0", 0)}}, "nowhere", "i-1/g0"},
      {"no GPU at all", {.gpus = {}}, "nowhere", "nowhere"},
  }));
  INFO(c.why);
  World world({c.machine});
  Demand unspoken = Shared(1000);
  unspoken.required_attributes.clear();

  CHECK(Where(Place(Shared(1000), world.inventory)) == c.shared);
  CHECK(Where(Place(unspoken, world.inventory)) == c.shared);
  CHECK(Where(Place(Dedicated(1), world.inventory)) == c.dedicated);
}

}  // namespace
}  // namespace berth::placement

// Which of several places a task gets.
#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

TEST_CASE("a task that shares a GPU gets the one that costs others least [42]", "[placement]") {
  struct Use {
    std::string gpu;
    int64_t total_mib;
    int64_t shared_mib;  // 0: idle; below 0: dedicated
  };
  struct Case {
    std::string why;
    int64_t ask_mib;
    std::vector<Use> gpus;
    std::string chosen;
  };
  const auto c = GENERATE(values<Case>({
      {"a shared GPU before an idle one", 4096, {{"g0", 22587, 0}, {"g1", 9000, 1000}}, "i-1/g1"},
      {"even where the idle one fits more tightly",
       4096,
       {{"g0", 4096, 0}, {"g1", 22587, 1000}},
       "i-1/g1"},
      {"the tightest fit of two shared", 4096, {{"g0", 10000, 1000}, {"g1", 6000, 1000}}, "i-1/g1"},
      {"an exact fit is a fit", 5000, {{"g0", 6000, 1000}}, "i-1/g0"},
      {"an idle one when no shared has room",
       9000,
       {{"g0", 9999, 1000}, {"g1", 22587, 0}},
       "i-1/g1"},
      {"the tightest of two idle", 9000, {{"g0", 22587, 0}, {"g1", 10000, 0}}, "i-1/g1"},
      {"equal gaps: the lowest id", 1000, {{"g1", 6000, 1000}, {"g0", 6000, 1000}}, "i-1/g0"},
      {"equal idle: the lowest id", 1000, {{"g1", 6000, 0}, {"g0", 6000, 0}}, "i-1/g0"},
      {"equal gaps of unequal GPUs", 1000, {{"g1", 6000, 1000}, {"g0", 9000, 4000}}, "i-1/g0"},
      {"never a dedicated one", 1, {{"g0", 22587, -1}}, "nowhere"},
      {"nothing fits", 30000, {{"g0", 22587, 0}}, "nowhere"},
  }));
  INFO(c.why);
  Machine machine;
  for (const Use& use : c.gpus) machine.gpus.push_back(Gpu(use.gpu, use.total_mib));
  World world({machine});
  for (const Use& use : c.gpus) {
    if (use.shared_mib == 0) continue;
    Reservation held{.gpu_use = model::GpuUse::kDedicated, .gpus = {{use.gpu}}};
    if (use.shared_mib > 0) {
      held.gpu_use = model::GpuUse::kNvidiaMps;
      held.gpu_memory_mib = use.shared_mib;
      held.gpu_containers = 1;
    }
    world.inventory.Reserve({"i-1"}, held);
  }

  CHECK(Where(Place(Shared(c.ask_mib), world.inventory)) == c.chosen);
}

TEST_CASE("a shared GPU goes before an idle one on whichever instance it is", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0", 5000)}}, {.id = "b", .gpus = {Gpu("g0", 6000)}}});
  world.inventory.Reserve({"b"}, {.gpu_use = model::GpuUse::kNvidiaMps,
                                  .gpus = {{"g0"}},
                                  .gpu_memory_mib = 100,
                                  .gpu_containers = 1});

  CHECK(Where(world.Run(Shared(1000))) == "b/g0");
}

TEST_CASE("a demand for whole GPUs gets the instance with the fewest idle that suffice",
          "[placement]") {
  struct Case {
    std::string why;
    Demand demand;
    std::string where;
  };
  const auto c = GENERATE(values<Case>({
      {"one: the instance with one", Dedicated(1), "one/g0"},
      {"two: the lower id of two with two", Dedicated(2), "two-a/g0,g1"},
      {"three: the one with four", Dedicated(3), "zfour/g0,g1,g2"},
      {"five: none", Dedicated(5), "nowhere"},
      {"ALL: the smallest whole instance", AllGpus(), "one/g0"},
  }));
  INFO(c.why);
  World world({{.id = "zfour", .gpus = {Gpu("g3"), Gpu("g2"), Gpu("g1"), Gpu("g0")}},
               {.id = "two-b", .gpus = {Gpu("g0"), Gpu("g1")}},
               {.id = "two-a", .gpus = {Gpu("g1"), Gpu("g0")}},
               {.id = "one", .gpus = {Gpu("g0")}}});

  CHECK(Where(Place(c.demand, world.inventory)) == c.where);
}

TEST_CASE("idle GPUs count, not all GPUs", "[placement]") {
  World world({{.id = "a", .gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2")}},
               {.id = "b", .gpus = {Gpu("g0"), Gpu("g1"), Gpu("g2"), Gpu("g3")}}});
  world.inventory.Reserve({"b"},
                          {.gpu_use = model::GpuUse::kDedicated, .gpus = {{"g0"}, {"g2"}, {"g3"}}});

  CHECK(Where(Place(Dedicated(1), world.inventory)) == "b/g1");
  CHECK(Where(Place(AllGpus(), world.inventory)) == "a/g0,g1,g2");
}

TEST_CASE("a task without a GPU spares the machines that have one", "[placement]") {
  struct Case {
    std::string why;
    Demand demand;
    std::string where;
  };
  const auto c = GENERATE(values<Case>({
      {"the least memory that fits, without a GPU", Plain(100, 1000), "plain-small"},
      {"exactly what is there", Plain(100, 4000), "plain-small"},
      {"one MiB more", Plain(100, 4001), "plain-big"},
      {"CPU counts as well", Plain(3000, 1000), "plain-big"},
      {"a GPU machine when no other has room", Plain(100, 9000), "gpu"},
      {"none", Plain(100, 20000), "nowhere"},
      {"nothing at all still wants a place", Plain(0, 0), "plain-small"},
  }));
  INFO(c.why);
  World world({{.id = "gpu", .cpu_units = 4096, .memory_mib = 10000, .gpus = {Gpu("g0")}},
               {.id = "plain-big", .cpu_units = 4096, .memory_mib = 8000},
               {.id = "plain-small", .cpu_units = 2048, .memory_mib = 4000}});

  CHECK(Where(Place(c.demand, world.inventory)) == c.where);
}

TEST_CASE("ties go to the lowest instance id, even when ids begin alike", "[placement]") {
  struct Case {
    std::string why;
    std::vector<std::string> ids;
    std::string chosen;
  };
  const auto c = GENERATE(values<Case>({
      {"a difference in the first bytes", {"b", "a"}, "a"},
      {"a difference after the eighth byte", {"instance-2", "instance-1"}, "instance-1"},
      {"one is the beginning of the other", {"instance-10", "instance-1"}, "instance-1"},
      {"one is the beginning of the other, early", {"ab", "a"}, "a"},
      {"bytes above 127 are high", {"\xc3\xa9", "z"}, "z"},
  }));
  INFO(c.why);
  World world;
  for (const std::string& id : c.ids) world.Add({.id = id, .gpus = {Gpu("g0")}});

  CHECK(Where(Place(Plain(1, 1), world.inventory)) == c.chosen);
  CHECK(Where(Place(Shared(1), world.inventory)) == c.chosen + "/g0");
  CHECK(Where(Place(Dedicated(1), world.inventory)) == c.chosen + "/g0");
}

TEST_CASE("an earlier place is left again once its instance has no CPU or memory", "[placement]") {
  World world({{.id = "a", .cpu_units = 1024, .gpus = {Gpu("g0", 8000)}},
               {.id = "b", .memory_mib = 1024, .gpus = {Gpu("g0", 9000)}},
               {.id = "c", .gpus = {Gpu("g0", 10000)}}});
  Demand demand = Shared(1000);
  demand.cpu_units = 1000;
  demand.memory_mib = 1000;

  CHECK(Where(world.Run(demand)) == "a/g0");
  CHECK(Where(world.Run(demand)) == "b/g0");
  CHECK(Where(world.Run(demand)) == "c/g0");
  CHECK(Where(world.Run(demand)) == "c/g0");
}

}  // namespace
}  // namespace berth::placement

// A cluster's fragmentation, kept over changes, against the paper's measure taken afresh.
#include "placement/cluster_fragmentation.h"

#include <catch2/catch.hpp>

#include "model/rng.h"
#include "placement/fleet/fragmentation.h"
#include "placement/place.h"
#include "scene.h"

namespace berth::placement {
namespace {

// A task of the mix: nothing is placed for it.
void NoteShared(ClusterFragmentation& cluster, int64_t mib, int times = 1, int64_t cpu_units = 0) {
  for (int i = 0; i < times; ++i) {
    cluster.Note({.cpu_units = cpu_units,
                  .gpu_use = model::GpuUse::kNvidiaMps,
                  .gpus = {{"any"}},
                  .gpu_memory_mib = mib,
                  .gpu_containers = 1});
  }
}
void NoteWhole(ClusterFragmentation& cluster, int gpus, int times = 1) {
  Reservation reservation{.gpu_use = model::GpuUse::kDedicated};
  for (int i = 0; i < gpus; ++i) reservation.gpus.push_back({std::to_string(i)});
  for (int i = 0; i < times; ++i) cluster.Note(reservation);
}

Machine WithGpus(std::string id, int gpus, int64_t mib, int64_t cpu_units = 1000) {
  Machine machine{.id = std::move(id), .cpu_units = cpu_units, .memory_mib = 10'000};
  for (int i = 0; i < gpus; ++i) machine.gpus.push_back(Gpu("g" + std::to_string(i), mib));
  return machine;
}

struct Case {
  std::string why;
  std::function<Scene()> make;
  std::function<void(ClusterFragmentation&)> mix;
  int64_t fragmented_milli_mib;
  int64_t idle_mib;
};

TEST_CASE("what is idle is fragmented as far as typical tasks cannot use it", "[fragmentation]") {
  const Case c = GENERATE(values<Case>({
      {"an idle GPU that all fit on", [] { return Scene({WithGpus("a", 1, 1000)}); },
       [](auto& mix) { NoteShared(mix, 400); }, 0, 1000},
      {"too little is left",
       [] {
         Scene scene({WithGpus("a", 1, 1000)});
         scene.Run("t", "a", Shared(700));
         return scene;
       },
       [](auto& mix) { NoteShared(mix, 400); }, 300'000, 300},
      {"too little on one of two: that one's",
       [] {
         Scene scene({WithGpus("a", 2, 1000)});
         scene.Run("t", "a", Shared(700));
         return scene;
       },
       [](auto& mix) { NoteShared(mix, 400); }, 300'000, 1300},
      {"a whole GPU where both are shared",
       [] {
         Scene scene({WithGpus("a", 2, 1000)});
         scene.Run("t", "a", Shared(700));
         scene.Run("u", "a", Shared(600));
         return scene;
       },
       [](auto& mix) { NoteWhole(mix, 1); }, 700'000, 700},
      {"the mean over the mix, by its shares",
       [] {
         Scene scene({WithGpus("a", 1, 1000)});
         scene.Run("t", "a", Shared(700));
         return scene;
       },
       [](auto& mix) {
         NoteShared(mix, 200, 3);
         NoteShared(mix, 400, 1);
       },
       75'000, 300},
      {"no CPU left: all of it",
       [] {
         Scene scene({WithGpus("a", 1, 1000, 100)});
         scene.Run("t", "a", Plain(60, 1));
         return scene;
       },
       [](auto& mix) { NoteShared(mix, 400, 1, 50); }, 1'000'000, 1000},
      {"GPUs are idle for tasks that want none", [] { return Scene({WithGpus("a", 1, 1000)}); },
       [](auto& mix) { mix.Note({.cpu_units = 10}); }, 1'000'000, 1000},
      {"no instance with GPUs", [] { return Scene({WithGpus("a", 0, 0)}); },
       [](auto& mix) { NoteShared(mix, 400); }, 0, 0},
      {"a dedicated GPU is not idle",
       [] {
         Scene scene({WithGpus("a", 2, 1000)});
         scene.Run("t", "a", Dedicated(1));
         return scene;
       },
       [](auto& mix) { NoteWhole(mix, 2); }, 1'000'000, 1000},
      {"sharing is not offered",
       [] {
         Machine machine = WithGpus("a", 1, 1000);
         machine.attributes = {};
         return Scene({machine});
       },
       [](auto& mix) { NoteShared(mix, 400); }, 1'000'000, 1000},
      {"no MPS client is left: nobody can have the rest of that GPU",
       [] {
         Machine machine = WithGpus("a", 1, 1000);
         machine.mps_clients_max = 2;
         Scene scene({machine});
         scene.Run("t", "a", Shared(100, 2));
         return scene;
       },
       [](auto& mix) { NoteShared(mix, 400); }, 900'000, 900},
      {"an instance that drains does not count, nor what is idle there",
       [] {
         Scene scene({WithGpus("a", 1, 1000), WithGpus("b", 1, 1000)});
         scene.Run("t", "a", Shared(700));
         scene.Run("u", "b", Shared(800));
         scene.Drain("a");
         return scene;
       },
       [](auto& mix) { NoteShared(mix, 400); }, 200'000, 200},
      {"nor one whose agent is away",
       [] {
         Scene scene({WithGpus("a", 1, 1000)});
         scene.Disconnect("a");
         return scene;
       },
       [](auto& mix) { NoteWhole(mix, 2); }, 0, 0},
      {"no task is known yet", [] { return Scene({WithGpus("a", 1, 1000)}); }, [](auto&) {}, 0,
       1000},
  }));
  INFO(c.why);
  const Scene scene = c.make();
  ClusterFragmentation cluster;
  c.mix(cluster);

  const FragmentationFigures figures = cluster.Read(scene.inventory);

  CHECK(figures.fragmented_milli_mib == c.fragmented_milli_mib);
  CHECK(figures.idle_mib == c.idle_mib);
}

TEST_CASE("the most fragmented instances come first, with their devices", "[fragmentation]") {
  Scene scene({WithGpus("a", 2, 1000), WithGpus("b", 1, 1000), WithGpus("c", 1, 1000)});
  scene.Run("t", "a", Shared(700));
  scene.Run("u", "b", Shared(610));
  ClusterFragmentation cluster;
  NoteShared(cluster, 400);

  const std::vector<FragmentedInstance> worst = cluster.Worst(scene.inventory, 10);

  REQUIRE(worst.size() == 2);
  CHECK(worst[0].instance.value == "b");
  CHECK(worst[0].figures.fragmented_milli_mib == 390'000);
  CHECK(worst[1].instance.value == "a");
  REQUIRE(worst[1].devices.size() == 2);
  CHECK(worst[1].devices[0].figures == FragmentationFigures{300'000, 300});
  CHECK(worst[1].devices[1].figures == FragmentationFigures{0, 1000});
  CHECK(cluster.Worst(scene.inventory, 1).size() == 1);
}

// What FiguresOf makes of an instance, from what clients are shown of it.
int64_t Afresh(const Inventory& inventory, const std::string& id, const TaskMix& mix) {
  const InstanceState state = inventory.Find({id});
  std::vector<DeviceState> devices;
  for (const GpuState& gpu : state.gpus) {
    devices.push_back({.left = static_cast<int32_t>(gpu.remaining_memory_mib),
                       .total = static_cast<int32_t>(gpu.total_memory_mib),
                       .tasks = gpu.use == model::GpuUse::kDedicated
                                    ? DeviceState::kTakenWhole
                                    : static_cast<int32_t>(gpu.containers)});
  }
  return std::llround(1000 * Fragmentation(state.remaining_cpu_units, 0, devices, mix));
}

TEST_CASE("what is kept over changes is what is taken afresh", "[fragmentation]") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 11));
  INFO("seed " << seed);
  model::Rng rng(seed);
  const auto demand = [&rng]() -> Demand {
    Demand made = rng.Below(4) == 0 ? Dedicated(1 + static_cast<int64_t>(rng.Below(2)))
                                    : Shared(100 * (1 + static_cast<int64_t>(rng.Below(8))));
    made.cpu_units = 10 * static_cast<int64_t>(rng.Below(30));
    return made;
  };
  Inventory inventory;
  std::map<std::string, Machine> machines;
  std::map<std::string, bool> eligible;
  std::vector<Placement> placed;
  ClusterFragmentation cluster;

  for (int step = 0; step < 600; ++step) {
    const std::string id = "i-" + std::to_string(rng.Below(20));
    switch (rng.Below(8)) {
      case 0:
        if (!inventory.Contains({id})) {
          machines[id] = WithGpus(id, static_cast<int>(rng.Below(5)), 1000);
          inventory.Put(Record(machines[id]));
          inventory.SetEligible({id}, eligible[id] = true);
        }
        break;
      case 1:
        if (inventory.Contains({id})) inventory.SetEligible({id}, eligible[id] = rng.Below(3) != 0);
        break;
      case 2:
      case 3:
        if (!placed.empty()) {
          const size_t which = rng.Below(placed.size());
          inventory.Release(placed[which].instance, placed[which].reservation);
          placed.erase(placed.begin() + static_cast<int64_t>(which));
        }
        break;
      default:
        if (auto place = Place(demand(), inventory)) {
          inventory.Reserve(place->instance, place->reservation);
          cluster.Note(place->reservation);
          placed.push_back(*std::move(place));
        }
    }
    if (rng.Below(3) != 0) continue;  // so that several changes come at once

    const FragmentationFigures figures = cluster.Read(inventory);

    int64_t afresh = 0;
    int64_t idle = 0;
    int64_t by_device = 0;
    int64_t devices = 0;
    for (const auto& [name, machine] : machines) {
      if (!eligible[name]) continue;
      if (!cluster.mix().tasks().empty()) afresh += Afresh(inventory, name, cluster.mix());
      for (const GpuState& gpu : inventory.Find({name}).gpus) idle += gpu.remaining_memory_mib;
    }
    for (const FragmentedInstance& one : cluster.Worst(inventory, 1000)) {
      for (const auto& device : one.devices) by_device += device.figures.fragmented_milli_mib;
      devices += std::ssize(one.devices);
    }
    REQUIRE(figures.fragmented_milli_mib == afresh);
    REQUIRE(figures.idle_mib == idle);
    REQUIRE(std::abs(by_device - afresh) <= devices + 20);  // but for rounding
  }
}

TEST_CASE("the mix is taken anew in steps that double, then of one size", "[fragmentation]") {
  Scene scene({WithGpus("a", 1, 1000)});
  ClusterFragmentation cluster;
  constexpr int64_t kStep = ClusterFragmentation::kMixStep;
  const auto known = [&cluster, &scene] {
    cluster.Read(scene.inventory);
    return cluster.mix().covered();
  };

  CHECK(known() == 0);
  NoteShared(cluster, 400);
  CHECK(known() == 1);
  NoteShared(cluster, 400, 2);
  CHECK(known() == 3);
  NoteShared(cluster, 400, 2);
  CHECK(known() == 3);
  NoteShared(cluster, 400, 1);
  CHECK(known() == 6);
  NoteShared(cluster, 400, 2 * kStep - 6);
  CHECK(known() == 2 * kStep);
  NoteShared(cluster, 400, kStep - 1);
  CHECK(known() == 2 * kStep);
  NoteShared(cluster, 400, 1);
  CHECK(known() == 3 * kStep);
}

TEST_CASE("a mix of very many shapes is its most frequent ones", "[fragmentation]") {
  Scene scene({WithGpus("a", 1, 1000)});
  ClusterFragmentation cluster;
  for (int64_t mib = 1; mib <= 500; ++mib) NoteShared(cluster, mib);
  cluster.Read(scene.inventory);

  CHECK(static_cast<int64_t>(cluster.mix().tasks().size()) <=
        ClusterFragmentation::kTypicalShapesMax);
}

}  // namespace
}  // namespace berth::placement

// What one placement costs in a Fleet: on the openb cluster (BERTH_OPENB names the folder of its
// data; skipped without), and on clusters of eight GPUs a node from 1,000 to 100,000 nodes.
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "model/rng.h"
#include "placement/fleet/fleet.h"
#include "simulator/arrivals.h"
#include "simulator/openb.h"
#include "simulator/trace.h"

namespace berth {
namespace {

using placement::Fleet;
using placement::FleetChoice;
using placement::GpuNeed;
using placement::GpuPolicyKind;
using placement::ShapeId;
using placement::TaskShape;

constexpr int64_t kSeed = 42;

// What a run frees stays with the process for the next, as in a server, instead of going back to
// the kernel, whose handing out of pages would be measured as well.
const bool kKeepsMemory = [] {
  return mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1 && mallopt(M_TRIM_THRESHOLD, 1 << 30) == 1;
}();

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The openb trace and its arrivals of one seed; nothing where its data is not.
struct Openb {
  simulator::Trace trace = {};
  simulator::Arrivals arrivals = {};
};
const std::optional<Openb>& TheOpenb() {
  static const std::optional<Openb> openb = []() -> std::optional<Openb> {
    const char* folder = std::getenv("BERTH_OPENB");
    if (folder == nullptr) return std::nullopt;
    const auto nodes =
        simulator::ReadTraceNodes(ReadFile(std::string(folder) + "/openb_node_list_gpu_node.csv"));
    const auto tasks =
        simulator::ReadTraceTasks(ReadFile(std::string(folder) + "/openb_pod_list_default.csv"));
    if (!nodes.ok() || !tasks.ok()) return std::nullopt;
    auto trace = simulator::PrepareTrace(*nodes, *tasks);
    if (!trace.ok()) return std::nullopt;
    auto arrivals = simulator::DrawArrivals(*trace, kSeed);
    return Openb{.trace = *std::move(trace), .arrivals = *std::move(arrivals)};
  }();
  return openb;
}

// A fleet of the openb nodes, empty, and the shapes by their number in the trace.
struct OpenbFleet {
  OpenbFleet(const Openb& openb, GpuPolicyKind kind)
      : fleet(MakeGpuPolicy(kind, {.mix = openb.trace.mix, .seed = kSeed})) {
    for (const int32_t node : openb.arrivals.node_order) fleet.Add(openb.trace.resources[node]);
    for (const TaskShape& shape : openb.trace.shapes) shapes.push_back(fleet.Intern(shape));
  }

  Fleet fleet;
  std::vector<ShapeId> shapes = {};
};

// The whole trace, from an empty cluster to 130 % arrived load; an item is one arrival. Everything
// that a policy remembers begins anew each time.
void TraceRun(benchmark::State& state, GpuPolicyKind kind) {
  const std::optional<Openb>& openb = TheOpenb();
  if (!openb) {
    state.SkipWithError("BERTH_OPENB names no folder with the openb data");
    return;
  }
  for (auto _ : state) {
    state.PauseTiming();
    auto run = std::make_unique<OpenbFleet>(*openb, kind);
    state.ResumeTiming();
    for (const int32_t task : openb->arrivals.tasks) {
      const ShapeId id = run->shapes[openb->trace.shape_of_task[task]];
      run->fleet.NoteArrival(id);
      const std::optional<FleetChoice> choice = run->fleet.Choose(id);
      if (choice) run->fleet.Take(choice->slot, id, choice->devices);
    }
    state.PauseTiming();
    run.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(openb->arrivals.tasks));
}

struct Placed {
  int32_t slot = 0;
  ShapeId shape = 0;
  placement::DeviceSet devices = 0;
};

// Places a task and, once the cluster is as full as it should be, ends the oldest: an item is both.
// Tasks come as the trace draws them, again and again.
void OpenbPlaceAndRelease(benchmark::State& state, GpuPolicyKind kind) {
  const std::optional<Openb>& openb = TheOpenb();
  if (!openb) {
    state.SkipWithError("BERTH_OPENB names no folder with the openb data");
    return;
  }
  OpenbFleet run(*openb, kind);
  std::deque<Placed> held;
  int64_t used = 0;
  int64_t turned_away = 0;
  size_t next = 0;
  const auto place = [&] {
    const int32_t number = openb->trace.shape_of_task[openb->arrivals.tasks[next]];
    next = next + 1 == openb->arrivals.tasks.size() ? 0 : next + 1;
    const ShapeId id = run.shapes[number];
    const std::optional<FleetChoice> choice = run.fleet.Choose(id);
    if (!choice) {
      ++turned_away;
      return;
    }
    run.fleet.Take(choice->slot, id, choice->devices);
    held.push_back({.slot = choice->slot, .shape = id, .devices = choice->devices});
    used += simulator::GpuMilli(openb->trace.shapes[number]);
  };
  const auto release = [&] {
    const Placed& oldest = held.front();
    run.fleet.GiveBack(oldest.slot, oldest.shape, oldest.devices);
    used -= simulator::GpuMilli(run.fleet.shape(oldest.shape));
    held.pop_front();
  };
  const int64_t full = openb->trace.gpu_milli * 8 / 10;
  while (used < full) place();
  for (int i = 0; i < 20'000; ++i) {
    place();
    release();
  }
  turned_away = 0;
  for (auto _ : state) {
    place();
    release();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["turned_away"] = static_cast<double>(turned_away);
}

// Nodes of eight GPUs; a hundred shapes, most of which share.
void PlaceAndRelease(benchmark::State& state, GpuPolicyKind kind) {
  model::Rng rng(kSeed);
  std::vector<TaskShape> shapes;
  std::vector<placement::CountedShape> counted;
  for (int i = 0; i < 100; ++i) {
    TaskShape shape = {.cpu = static_cast<int64_t>(1 + rng.Below(16)) * 500,
                       .memory = static_cast<int64_t>(1 + rng.Below(32)) * 256};
    const uint64_t dice = rng.Below(10);
    if (dice < 7) {
      shape.gpu = GpuNeed::kShared;
      shape.units = static_cast<int32_t>(1 + rng.Below(18)) * 50;
    } else if (dice < 9) {
      shape.gpu = GpuNeed::kWhole;
      shape.devices = dice == 7 ? 1 : 2;
    }
    shapes.push_back(shape);
    counted.push_back({.shape = shape, .count = static_cast<int64_t>(1 + rng.Below(100))});
  }
  Fleet fleet(MakeGpuPolicy(kind, {.mix = placement::TaskMix(counted), .seed = kSeed}));
  for (int64_t i = 0; i < state.range(0); ++i) {
    fleet.Add({.cpu = 128000,
               .memory = 786432,
               .tasks_max = 1001,
               .device_totals = std::vector<int32_t>(8, 1000)});
  }
  std::vector<ShapeId> ids;
  for (const TaskShape& shape : shapes) ids.push_back(fleet.Intern(shape));
  std::deque<Placed> held;
  int64_t used = 0;
  const auto place = [&] {
    const ShapeId id = ids[rng.Below(ids.size())];
    const std::optional<FleetChoice> choice = fleet.Choose(id);
    if (!choice) return;
    fleet.Take(choice->slot, id, choice->devices);
    held.push_back({.slot = choice->slot, .shape = id, .devices = choice->devices});
    used += simulator::GpuMilli(fleet.shape(id));
  };
  const auto release = [&] {
    const Placed& oldest = held.front();
    fleet.GiveBack(oldest.slot, oldest.shape, oldest.devices);
    used -= simulator::GpuMilli(fleet.shape(oldest.shape));
    held.pop_front();
  };
  const int64_t full = state.range(0) * 8000 * 8 / 10;
  while (used < full) place();
  for (auto _ : state) {
    place();
    release();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes_per_node"] =
      static_cast<double>(fleet.bytes()) / static_cast<double>(state.range(0));
}

BENCHMARK_CAPTURE(TraceRun, best_fit, GpuPolicyKind::kBestFit)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(TraceRun, fgd, GpuPolicyKind::kFgd)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(TraceRun, worth, GpuPolicyKind::kWorth)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OpenbPlaceAndRelease, best_fit, GpuPolicyKind::kBestFit);
BENCHMARK_CAPTURE(OpenbPlaceAndRelease, fgd, GpuPolicyKind::kFgd);
BENCHMARK_CAPTURE(PlaceAndRelease, best_fit, GpuPolicyKind::kBestFit)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000);
BENCHMARK_CAPTURE(PlaceAndRelease, fgd, GpuPolicyKind::kFgd)->Arg(1'000)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace berth

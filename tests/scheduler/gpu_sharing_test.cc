// gpu-sharing.md section 4, by its numbers.
#include "absl/strings/match.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::GpuId;
using model::GpuUse;
using model::TaskStatus;

std::vector<GpuId> GpusOf(const model::TaskRecord& task, size_t container = 0) {
  return task->containers[container].gpu_ids;
}

struct OneMachine {
  explicit OneMachine(int gpus, int64_t memory_mib = kGpuMib, int64_t clients = 48) {
    id = world.Register({.gpus = Gpus(gpus, memory_mib), .mps_clients_max = clients});
  }
  placement::GpuState Gpu(size_t i = 0) { return world.Instance(id).state.gpus.at(i); }
  // The reason for which one task of it finds no place.
  PlacementFailure Failure(const model::TaskSpec& spec) {
    const RunTask::Reply reply = world.Ok(world.Running(world.Define(spec)));
    CHECK(reply.tasks.empty());
    REQUIRE(reply.failures.size() == 1);
    CHECK(reply.failures[0].instance == id);
    return reply.failures[0];
  }

  World world;
  model::InstanceId id;
};

void Check(const placement::GpuState& gpu, GpuUse use, int64_t remaining_mib, int64_t containers) {
  CHECK(gpu.use == use);
  CHECK(gpu.remaining_memory_mib == remaining_mib);
  CHECK(gpu.containers == containers);
}

model::ContainerOverride Override(const std::string& name,
                                  const model::ResourceRequirement& requirement) {
  return {.name = name, .resource_requirements = {requirement}, .empty_but_for_name = false};
}

}  // namespace

TEST_CASE("case 21: an override that mixes whole and shared GPUs in a task starts nothing") {
  OneMachine m(2);
  RunTask command = m.world.Running(m.world.Define(GpuSpec({Mps(2000), Mps(3000)})));
  model::TaskOverrides overrides;
  overrides.containers = {Override("c1", Whole("1"))};
  command.overrides = std::make_shared<const model::TaskOverrides>(overrides);

  m.world.Refusal(command);

  CHECK(m.world.store.tasks.empty());
  Check(m.Gpu(), GpuUse::kIdle, kGpuMib, 0);
}

TEST_CASE("case 22: an override of the share is what is placed, and the definition stays") {
  OneMachine m(1);
  const DefinitionRecord definition = m.world.Define(GpuSpec({Mps(2000)}));
  RunTask command = m.world.Running(definition);
  model::TaskOverrides overrides;
  overrides.containers = {Override("c0", Mps(3000))};
  command.overrides = std::make_shared<const model::TaskOverrides>(overrides);

  const RunTask::Reply reply = m.world.Ok(command);

  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 3000, 1);
  const auto requirement = model::GpuRequirementOf(reply.tasks.at(0)->spec->containers[0]);
  CHECK(requirement.share.memory_mib == 3000);
  CHECK(model::GpuRequirementOf(definition->spec->containers[0]).share.memory_mib == 2000);
}

TEST_CASE("cases 23, 24: two sharing containers are on one GPU, which no whole-GPU task gets") {
  OneMachine m(1);

  const model::TaskRecord task = m.world.Run(GpuSpec({Mps(4000), Mps(2000)}));

  Check(m.Gpu(), GpuUse::kNvidiaMps, 16587, 2);
  CHECK(GpusOf(task, 0) == std::vector<GpuId>{{"GPU-0"}});
  CHECK(GpusOf(task, 1) == GpusOf(task, 0));
  CHECK(m.Failure(GpuSpec({Whole("1")})).reason == "RESOURCE:GPU");
}

TEST_CASE("case 25: shared and dedicated tasks stand on one instance, on different GPUs") {
  OneMachine m(2);
  m.world.Run(GpuSpec({Mps(4000)}));

  const model::TaskRecord whole = m.world.Run(GpuSpec({Whole("1")}));

  CHECK(GpusOf(whole) == std::vector<GpuId>{{"GPU-1"}});
  Check(m.Gpu(0), GpuUse::kNvidiaMps, kGpuMib - 4000, 1);
  Check(m.Gpu(1), GpuUse::kDedicated, 0, 1);
}

TEST_CASE("case 26: a task is not split over two GPUs, though each of its shares would fit") {
  OneMachine m(2);
  // 12587 on each leaves 10000 on each.
  m.world.Run(GpuSpec({Mps(12587)}));
  m.world.Run(GpuSpec({Mps(12587)}));
  Check(m.Gpu(0), GpuUse::kNvidiaMps, 10000, 1);
  Check(m.Gpu(1), GpuUse::kNvidiaMps, 10000, 1);

  const PlacementFailure failure = m.Failure(GpuSpec({Mps(6000), Mps(6000)}));

  CHECK(failure.reason == "RESOURCE:GPU");
  CHECK(absl::StrContains(failure.detail, "12000"));
  CHECK(absl::StrContains(failure.detail, "10000"));
}

TEST_CASE("cases 27, 28: an exact fit leaves 0, still shared, and not 1 MiB more fits") {
  OneMachine m(1);

  m.world.Run(GpuSpec({Mps(22000), Mps(587)}));

  Check(m.Gpu(), GpuUse::kNvidiaMps, 0, 2);
  CHECK(m.Failure(GpuSpec({Mps(1)})).reason == "RESOURCE:GPU");
}

TEST_CASE("case 29: when the last sharing task stops the GPU is IDLE, and whole again") {
  OneMachine m(1);
  const model::TaskRecord a = m.world.Run(GpuSpec({Mps(4000)}));
  const model::TaskRecord b = m.world.Run(GpuSpec({Mps(2000)}));

  m.world.Stop(a);
  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 2000, 1);
  m.world.Stop(b);
  Check(m.Gpu(), GpuUse::kIdle, kGpuMib, 0);

  m.world.Run(GpuSpec({Whole("1")}));
}

TEST_CASE("case 30: a dedicated GPU is not shared, be it for 1 MiB") {
  OneMachine m(1);
  m.world.Run(GpuSpec({Whole("1")}));

  CHECK(m.Failure(GpuSpec({Mps(1)})).reason == "RESOURCE:GPU");
}

TEST_CASE(
    "case 31: ALL and a count want IDLE GPUs, and fragments of shared ones count for nothing") {
  OneMachine m(4);
  m.world.Run(GpuSpec({Mps(1)}));

  CHECK(m.Failure(GpuSpec({Whole("ALL")})).reason == "RESOURCE:GPU");
  CHECK(m.Failure(GpuSpec({Whole("4")})).reason == "RESOURCE:GPU");
  const model::TaskRecord task = m.world.Run(GpuSpec({Whole("3")}));

  CHECK(GpusOf(task) == std::vector<GpuId>{{"GPU-1"}, {"GPU-2"}, {"GPU-3"}});
}

TEST_CASE("ALL takes every GPU of an idle instance, and gives every one back") {
  OneMachine m(3);

  const model::TaskRecord task = m.world.Run(GpuSpec({Whole("ALL")}));

  CHECK(GpusOf(task).size() == 3);
  for (size_t i = 0; i < 3; ++i) Check(m.Gpu(i), GpuUse::kDedicated, 0, 1);
  m.world.Stop(task);
  for (size_t i = 0; i < 3; ++i) Check(m.Gpu(i), GpuUse::kIdle, kGpuMib, 0);
}

TEST_CASE("whole GPUs are dealt to the containers in order, none of them twice") {
  OneMachine m(3);
  model::TaskSpec spec = GpuSpec({Whole("2"), Whole("1")});
  spec.containers.insert(spec.containers.begin() + 1, Container("log"));

  const model::TaskRecord task = m.world.Run(spec);

  CHECK(GpusOf(task, 0) == std::vector<GpuId>{{"GPU-0"}, {"GPU-1"}});
  CHECK(GpusOf(task, 1).empty());
  CHECK(GpusOf(task, 2) == std::vector<GpuId>{{"GPU-2"}});
}

TEST_CASE("case 32: a share is held until the task stops, not the container") {
  OneMachine m(1);
  model::TaskSpec spec = GpuSpec({Mps(4000), Mps(2000)});
  spec.containers[1].essential = false;
  const model::TaskRecord task = m.world.Run(spec);
  m.world.Report(task, TaskStatus::kRunning);

  m.world.Ok(ReportTask{
      .cluster = {"default"},
      .task = task->id,
      .containers = {{.name = "c1", .status = model::ContainerStatus::kStopped, .exit_code = 0}}});

  CHECK(m.world.Task(task->id)->last_status == TaskStatus::kRunning);
  CHECK(m.world.Task(task->id)->desired_status == model::DesiredStatus::kRunning);
  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 6000, 2);
}

TEST_CASE("case 33: STOPPED reported again gives nothing back again") {
  OneMachine m(1);
  m.world.Run(GpuSpec({Mps(1000)}));
  const model::TaskRecord task = m.world.Run(GpuSpec({Mps(4000)}));
  m.world.Ok(StopTask{.cluster = {"default"}, .task = task->id});
  m.world.Ok(StopTask{.cluster = {"default"}, .task = task->id});
  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 5000, 2);

  for (int i = 0; i < 3; ++i) {
    m.world.Report(task, TaskStatus::kStopped);
    Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 1000, 1);
  }
}

TEST_CASE("case 34: of two RunTask calls for the last 5000 MiB one is placed") {
  OneMachine m(1, 5000);
  const DefinitionRecord definition = m.world.Define(GpuSpec({Mps(5000)}));

  const RunTask::Reply first = m.world.Ok(m.world.Running(definition));
  const RunTask::Reply second = m.world.Ok(m.world.Running(definition));

  CHECK(first.tasks.size() == 1);
  CHECK(first.failures.empty());
  CHECK(second.tasks.empty());
  CHECK(second.failures.size() == 1);
}

TEST_CASE("case 35: of ten tasks of 4000 MiB one GPU takes five, and the rest is one failure") {
  OneMachine m(1);

  const RunTask::Reply reply =
      m.world.Ok(m.world.Running(m.world.Define(GpuSpec({Mps(4000)})), 10));

  CHECK(reply.tasks.size() == 5);
  REQUIRE(reply.failures.size() == 1);
  CHECK(reply.failures[0].reason == "RESOURCE:GPU");
  Check(m.Gpu(), GpuUse::kNvidiaMps, 2587, 5);
}

TEST_CASE("case 36: three shares of 1073741824 MiB do not overflow into a small sum") {
  OneMachine m(1);

  const PlacementFailure failure =
      m.Failure(GpuSpec({Mps(1073741824), Mps(1073741824), Mps(1073741824)}));

  CHECK(failure.reason == "RESOURCE:GPU");
  CHECK(absl::StrContains(failure.detail, "3221225472"));
}

TEST_CASE(
    "case 38: the 49th client is refused with the limit in the detail, though memory is left") {
  OneMachine m(1);
  const DefinitionRecord definition = m.world.Define(GpuSpec({Mps(100)}));
  for (int i = 0; i < 48; ++i) m.world.Run(definition);

  const PlacementFailure failure = m.Failure(GpuSpec({Mps(100)}));

  CHECK(failure.reason == "RESOURCE:GPU");
  CHECK(absl::StrContains(failure.detail, "48"));
  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 4800, 48);
}

TEST_CASE("case 39: an agent that reports 60 clients gets 60, not 61") {
  OneMachine m(1, kGpuMib, 60);
  const DefinitionRecord definition = m.world.Define(GpuSpec({Mps(100)}));
  for (int i = 0; i < 60; ++i) m.world.Run(definition);

  CHECK(m.Failure(GpuSpec({Mps(100)})).reason == "RESOURCE:GPU");
}

TEST_CASE("case 40: a task with three sharing containers needs three clients") {
  OneMachine m(1);
  const DefinitionRecord two = m.world.Define(GpuSpec({Mps(100), Mps(100)}));
  for (int i = 0; i < 23; ++i) m.world.Run(two);
  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 4600, 46);

  CHECK(m.Failure(GpuSpec({Mps(1), Mps(1), Mps(1)})).reason == "RESOURCE:GPU");
  m.world.Run(two);
  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 4800, 48);
}

TEST_CASE("case 41: a GPU that comes back smaller keeps its tasks, shows 0 and takes no more") {
  OneMachine m(1);
  const model::TaskRecord large = m.world.Run(GpuSpec({Mps(22000)}));
  const model::TaskRecord small = m.world.Run(GpuSpec({Mps(500)}));

  m.world.Ok(World::Registration({.gpus = Gpus(1, 22000), .existing = m.id}));

  Check(m.Gpu(), GpuUse::kNvidiaMps, 0, 2);
  CHECK(m.Gpu().total_memory_mib == 22000);
  CHECK(m.Failure(GpuSpec({Mps(1)})).reason == "RESOURCE:GPU");
  SECTION("also after a restart") {
    m.world.Restart();
    Check(m.Gpu(), GpuUse::kNvidiaMps, 0, 2);
    CHECK(m.Failure(GpuSpec({Mps(1)})).reason == "RESOURCE:GPU");
  }
  m.world.Stop(small);
  Check(m.Gpu(), GpuUse::kNvidiaMps, 0, 1);
  m.world.Stop(large);
  Check(m.Gpu(), GpuUse::kIdle, 22000, 0);
}

TEST_CASE("case 42: a shared GPU goes before an IDLE one, the tightest fit first") {
  OneMachine m(3);
  const model::TaskRecord idle_later = m.world.Run(GpuSpec({Whole("1")}));
  m.world.Run(GpuSpec({Mps(20000)}));  // GPU-1: 2587 left
  m.world.Run(GpuSpec({Mps(15000)}));  // GPU-2: 7587 left
  m.world.Stop(idle_later);

  CHECK(GpusOf(m.world.Run(GpuSpec({Mps(2000)}))) == std::vector<GpuId>{{"GPU-1"}});
  CHECK(GpusOf(m.world.Run(GpuSpec({Mps(2000)}))) == std::vector<GpuId>{{"GPU-2"}});
  Check(m.Gpu(0), GpuUse::kIdle, kGpuMib, 0);
}

TEST_CASE(
    "case 37: where one GPU's memory is unknown nothing is shared, and whole GPUs are given") {
  World world;
  const model::InstanceId id = world.Register(
      {.gpus = {{.id = {"GPU-0"}, .memory_mib = kGpuMib}, {.id = {"GPU-1"}, .memory_mib = 0}}});

  const RunTask::Reply reply = world.Ok(world.Running(world.Define(GpuSpec({Mps(100)}))));
  REQUIRE(reply.failures.size() == 1);
  CHECK(reply.failures[0].reason == "ATTRIBUTE");
  CHECK(world.Run(GpuSpec({Whole("1")}))->instance == id);
}

TEST_CASE("case 45: gpuDevices are the same before and after a restart") {
  OneMachine m(4);
  m.world.Run(GpuSpec({Mps(4000, 50), Mps(2000)}));
  m.world.Run(GpuSpec({Mps(1000)}));
  m.world.Run(GpuSpec({Whole("2")}));
  const std::string before = Portrait(m.world);

  m.world.Restart();

  CHECK(Portrait(m.world) == before);
  Check(m.Gpu(0), GpuUse::kNvidiaMps, kGpuMib - 7000, 3);
  Check(m.Gpu(1), GpuUse::kDedicated, 0, 1);
  Check(m.Gpu(3), GpuUse::kIdle, kGpuMib, 0);
}

TEST_CASE("case 46: a DRAINING instance takes no task and still shows what it holds") {
  OneMachine m(2);
  const model::TaskRecord task = m.world.Run(GpuSpec({Mps(4000)}));
  auto draining =
      std::make_shared<model::ContainerInstance>(*m.world.store.instances.begin()->second);
  draining->status = model::InstanceStatus::kDraining;
  m.world.store.Apply(model::PutInstance{draining});

  m.world.Restart();

  Check(m.Gpu(0), GpuUse::kNvidiaMps, kGpuMib - 4000, 1);
  CHECK(m.world.Cluster().registered_instances == 1);
  CHECK(m.world.Refusal(m.world.Running(task->definition)) ==
        "No Container Instances were found in your cluster.");
}

TEST_CASE("case 47: compute percents do not add up: two tasks with 100 each share a GPU") {
  OneMachine m(1);
  m.world.Run(GpuSpec({Mps(1000, 100)}));
  m.world.Run(GpuSpec({Mps(1000, 100)}));

  Check(m.Gpu(), GpuUse::kNvidiaMps, kGpuMib - 2000, 2);
}

}  // namespace berth::scheduler

// The GPU policy of a cluster: the server's, or the one that the tag berth:gpu-policy names.
#include <optional>
#include <set>
#include <string>

#include "placement/inventory_impl.h"
#include "scheduler/state_impl.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using placement::GpuPolicyKind;

constexpr char kTag[] = "berth:gpu-policy";
constexpr char kValues[] =
    "tightest, random, first-fit, worst-fit, best-fit, dot-product, gpu-packing, gpu-clustering, "
    "fgd or worth";

model::Tags Policy(const std::string& name) { return {{.key = kTag, .value = name}}; }

void Tag(World& world, const std::string& policy) {
  world.Ok(TagResource{.resource = model::ClusterName{"default"}, .tags = Policy(policy)});
}

std::string PolicyOf(World& world, const std::string& cluster = "default") {
  return std::string(ToString(world.state.impl().FindCluster({cluster})->inventory().gpu_policy()));
}

// On how many of the GPUs so many sharing tasks come to be.
size_t GpusOf(World& world, int tasks) {
  const DefinitionRecord definition = world.Define(GpuSpec({Mps(2000)}));
  std::set<std::string> gpus;
  for (int i = 0; i < tasks; ++i) {
    const model::TaskRecord task = world.Run(definition);
    gpus.insert(task->instance.value + task->containers[0].gpu_ids.at(0).value);
  }
  return gpus.size();
}

}  // namespace

TEST_CASE("a cluster without the tag has the server's GPU policy") {
  World tightest;
  World worth({}, {.kind = GpuPolicyKind::kWorth});

  CHECK(PolicyOf(tightest) == "tightest");
  CHECK(PolicyOf(worth) == "worth");
  worth.Restart();
  CHECK(PolicyOf(worth) == "worth");
}

TEST_CASE("worst-fit spreads tasks that share GPUs, and best-fit packs them") {
  World spread({}, {.kind = GpuPolicyKind::kWorstFit});
  World packed({}, {.kind = GpuPolicyKind::kBestFit});
  for (World* world : {&spread, &packed}) {
    for (int i = 0; i < 2; ++i) world->Register({.gpus = Gpus(2)});
  }

  CHECK(GpusOf(spread, 4) == 4);
  CHECK(GpusOf(packed, 4) == 1);
}

TEST_CASE("the tag chooses the policy at once, and after a restart") {
  World world;
  for (int i = 0; i < 2; ++i) world.Register({.gpus = Gpus(2)});
  REQUIRE(GpusOf(world, 2) == 1);

  Tag(world, "worst-fit");
  CHECK(PolicyOf(world) == "worst-fit");
  CHECK(GpusOf(world, 3) == 3);
  world.Restart();
  CHECK(PolicyOf(world) == "worst-fit");

  world.Ok(UntagResource{.resource = model::ClusterName{"default"}, .keys = {kTag}});
  CHECK(PolicyOf(world) == "tightest");
  CHECK(GpusOf(world, 2) == 1);
}

TEST_CASE("a cluster is created with the policy of its tags, and leaves it when it is deleted") {
  World world({}, {.kind = GpuPolicyKind::kWorth});
  world.Ok(CreateCluster{.name = {"a"}, .tags = Policy("fgd")});
  CHECK(PolicyOf(world, "a") == "fgd");

  world.Ok(DeleteCluster{.name = {"a"}});
  world.Ok(CreateCluster{.name = {"a"}});

  CHECK(PolicyOf(world, "a") == "worth");
}

TEST_CASE("a value that is no policy is refused with the values that are, and changes nothing") {
  World world;
  const std::string refusal = "the tag berth:gpu-policy is 'Best-Fit'; it must be ";

  CHECK(world.Refusal(CreateCluster{.name = {"a"}, .tags = Policy("Best-Fit")}) ==
        refusal + kValues);
  CHECK(world.state.impl().FindCluster({"a"}) == nullptr);
  CHECK(world.Refusal(TagResource{.resource = model::ClusterName{"default"},
                                  .tags = Policy("Best-Fit")}) == refusal + kValues);
  CHECK(PolicyOf(world) == "tightest");
}

TEST_CASE("the tag means nothing on what is no cluster") {
  World world;
  const model::InstanceId instance = world.Register({});

  world.Ok(TagResource{.resource = InstanceKey{.cluster = {"default"}, .id = instance},
                       .tags = Policy("mine")});

  CHECK(PolicyOf(world) == "tightest");
}

TEST_CASE("each policy runs tasks of every kind, and after a restart goes on") {
  const std::optional<GpuPolicyKind> kind = GENERATE(from_range(placement::GpuPolicyKinds()));
  World world({}, {.kind = kind});
  INFO(ToString(world.gpu_policy));
  for (int i = 0; i < 3; ++i) world.Register({.gpus = Gpus(8)});
  world.Register({});
  const DefinitionRecord shared = world.Define(GpuSpec({Mps(3000), Mps(1000)}));
  const DefinitionRecord whole = world.Define(GpuSpec({Whole("2")}));
  const DefinitionRecord plain = world.Define(Spec());

  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 4; ++i) world.Run(shared);
    world.Run(whole);
    world.Run(plain);
    world.Restart();
  }

  CHECK(world.Cluster().ec2.pending == 12);
}

TEST_CASE("what a policy has learned is learned again after a restart, from the tasks there are") {
  const GpuPolicyKind kind = GENERATE(GpuPolicyKind::kFgd, GpuPolicyKind::kWorth);
  World world({}, {.kind = kind});
  INFO(placement::ToString(kind));
  for (int i = 0; i < 4; ++i) world.Register({.gpus = Gpus(4)});
  const DefinitionRecord shared = world.Define(GpuSpec({Mps(3000)}));
  const DefinitionRecord whole = world.Define(GpuSpec({Whole("1")}));
  for (int i = 0; i < 10; ++i) world.Run(i % 2 == 0 ? shared : whole);
  const auto next = [&] {
    const model::TaskRecord task = world.Run(shared);
    const std::string where = task->instance.value + task->containers[0].gpu_ids.at(0).value;
    world.Stop(task);
    return where;
  };
  const std::string before = next();

  world.Restart();

  CHECK(next() == before);
}

TEST_CASE("a plan right after a restart knows what the policy has learned") {
  World world({}, {.kind = GpuPolicyKind::kFgd});
  for (int i = 0; i < 4; ++i) world.Register({.gpus = Gpus(4)});
  const DefinitionRecord shared = world.Define(GpuSpec({Mps(3000)}));
  for (int i = 0; i < 10; ++i) world.Run(shared);
  const auto epoch = [&] {
    return world.state.impl().FindCluster({"default"})->inventory().impl().gpu_order.epoch();
  };
  world.Restart();
  const uint64_t unlearned = epoch();

  world.Ok(Plan{.task = world.Running(shared)});

  CHECK(epoch() > unlearned);
}

TEST_CASE("asking again with a client token is no new arrival, and a failed task is one") {
  World world({}, {.kind = GpuPolicyKind::kFgd});
  world.Register({.gpus = Gpus(1)});
  const auto epoch = [&] {
    return world.state.impl().FindCluster({"default"})->inventory().impl().gpu_order.epoch();
  };
  RunTask command = world.Running(world.Define(GpuSpec({Mps(1000)})));
  command.client_token = "once";
  world.Ok(command);
  const uint64_t before = epoch();

  for (int i = 0; i < 20; ++i) world.Ok(command);
  CHECK(epoch() == before);

  const RunTask too_large = world.Running(world.Define(GpuSpec({Whole("9")})), 7);
  CHECK(world.Ok(too_large).tasks.empty());
  CHECK(epoch() == before + 1);
}

}  // namespace berth::scheduler

// Sharing containers on the Docker engine of this machine, with a stand-in for NVIDIA's daemon. No
// GPU is there, so none is handed out; all else is as on a machine that has one.
#include <filesystem>

#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "agent/docker/docker_runtime.h"
#include "tests/agent/agent_under_test.h"
#include "tests/fake_nvidia/fake_gpu_control.h"
#include "tests/support/busybox_image.h"

namespace berth::agent {
namespace {

namespace fs = std::filesystem;
using berth::testing::OutputOf;
using testing::FakeGpuControl;
using testing::TempDir;

constexpr char kImage[] = "berth-agent-test:1";
constexpr char kGpu[] = "GPU-33333333-aaaa-bbbb-cccc-000000000003";
constexpr char kInstance[] = "berth-mps-test";

template <typename T>
T Do(net::io_context& context, net::awaitable<T> work) {
  std::future<T> done = net::co_spawn(context, std::move(work), net::use_future);
  context.restart();
  while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    context.run_one_for(std::chrono::milliseconds(10));
    if (context.stopped()) context.restart();
  }
  return done.get();
}

TaskPtr SharingTask() {
  auto task = std::make_shared<TaskPayload>();
  task->arn = testing::TaskArn("mps1");
  task->id = "mps1";
  task->family = "berth-mps-test";
  task->version = "1";
  task->network_mode = model::NetworkMode::kNone;
  ContainerPayload container;
  container.name = "a";
  container.image = kImage;
  container.command = {"sh", "-c",
                       "trap '' TERM; env; ls /run/berth-mps; while :; do sleep 1; done"};
  container.environment = {{"CUDA_MPS_PIPE_DIRECTORY", "/tmp/x"}};
  container.gpu_ids = {{kGpu}};
  container.share = model::NvidiaMps{.memory_mib = 4000, .max_compute_percent = 50};
  task->containers = {container};
  return task;
}

TEST_CASE("A sharing container has its daemon, from first to last (49, 50, 65, 67)") {
  if (!berth::testing::DockerAnswers()) {
    WARN("skipped: no Docker engine answers here");
    return;
  }
  REQUIRE(berth::testing::MakeBusyboxImage(kImage));
  const std::string remove =
      "docker ps -aq --filter label=berth.instance=berth-mps-test | xargs -r docker rm -f 2>&1";
  OutputOf(remove);
  TempDir directory;
  net::io_context context;
  const auto gpus = std::make_shared<FakeGpuControl>();
  DockerRuntime::Settings settings;
  settings.cluster = "default";
  settings.instance = kInstance;
  settings.region = "us-east-1";
  settings.gpus = {{.id = {kGpu}, .memory_mib = 22587}};
  settings.gpu_control = gpus;
  settings.mps.binary =
      fs::read_symlink("/proc/self/exe").parent_path() / "fake-nvidia-cuda-mps-control";
  settings.mps.root = directory.path() + "/mps";
  settings.mps.log_root = directory.path() + "/log";
  settings.mps.record_directory = directory.path() + "/records";
  const auto docker = std::make_shared<DockerClient>("/var/run/docker.sock");
  REQUIRE(Do(context, docker->Negotiate()).ok());
  const auto runtime = std::make_shared<DockerRuntime>(context.get_executor(), docker, settings);
  fs::create_directories(settings.mps.root + "/fake");
  const TaskPtr task = SharingTask();

  REQUIRE(Do(context, runtime->Prepare(task)).ok());
  CHECK(gpus->ModeOf(kGpu) == ComputeMode::kExclusiveProcess);
  const absl::StatusOr<std::string> id = Do(context, runtime->Create(task, 0));
  INFO(std::string(id.status().message()));
  REQUIRE(id.ok());
  REQUIRE(Do(context, runtime->Start(*id)).ok());
  std::string seen;
  for (int i = 0; i < 100 && !absl::StrContains(seen, "\nlog"); ++i) {
    absl::SleepFor(absl::Milliseconds(50));
    seen = "\n" + OutputOf("docker logs " + *id);
  }
  INFO(seen);
  CHECK(absl::StrContains(seen, "\nCUDA_MPS_PIPE_DIRECTORY=/run/berth-mps\n"));
  CHECK(absl::StrContains(seen, "\nCUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=4000M\n"));
  CHECK(absl::StrContains(seen, "\nCUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50\n"));
  CHECK(absl::StrContains(seen, std::string("\nNVIDIA_VISIBLE_DEVICES=") + kGpu + "\n"));
  CHECK(absl::StrContains(seen, "\ncontrol\n"));

  // Its program, which does not heed SIGTERM, is a client of the daemon, and is ended as one first.
  const std::string pid = OutputOf("docker inspect -f '{{.State.Pid}}' " + *id);
  std::ofstream(settings.mps.root + "/fake/clients") << "4711 " << pid << " 1\n";
  const std::string commands =
      settings.mps.root + "/fake/commands-" + fs::path(MpsDirectory("", kGpu)).filename().string();
  REQUIRE(Do(context, runtime->Stop(*id, absl::Seconds(1))).ok());
  CHECK(OutputOf("docker inspect -f '{{.State.Running}}' " + *id) == "false");
  const std::string said = OutputOf("cat " + commands);
  CHECK(absl::StrContains(said, "terminate_client 4711 " + pid));
  CHECK_FALSE(absl::StrContains(said, "terminate_client 4711 1\n"));

  REQUIRE(Do(context, runtime->TearDown(task->arn)).ok());
  CHECK(gpus->ModeOf(kGpu) == ComputeMode::kDefault);
  CHECK_FALSE(fs::exists(MpsDirectory(settings.mps.root, kGpu)));
  OutputOf(remove);
  runtime->Join();
}

}  // namespace
}  // namespace berth::agent

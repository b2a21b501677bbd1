// MPS daemons of shared GPUs, with a stand-in for NVIDIA's program that behaves as the real one.
// The numbers in names are those of gpu-sharing.md, section 4.
#include "agent/mps/mps_manager.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/agent/agent_under_test.h"
#include "tests/fake_nvidia/fake_gpu_control.h"

namespace berth::agent {
namespace {

namespace fs = std::filesystem;
using testing::FakeGpuControl;
using testing::TempDir;

constexpr char kGpu[] = "GPU-11111111-aaaa-bbbb-cccc-000000000001";
constexpr char kOther[] = "GPU-22222222-aaaa-bbbb-cccc-000000000002";

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::string FakeBinary() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "fake-nvidia-cuda-mps-control";
}

// The GPUs, and one agent after the other that shares them.
class Node {
 public:
  Node() {
    settings.binary = FakeBinary();
    settings.root = directory.path() + "/mps";
    settings.log_root = directory.path() + "/log";
    settings.record_directory = directory.path() + "/records";
    settings.probe_limit = absl::Milliseconds(500);
    settings.gate_wait = absl::Milliseconds(100);
    settings.watch_every = absl::Milliseconds(50);
    settings.probe_every = absl::Milliseconds(100);
    settings.signal_limit = absl::Milliseconds(300);
    settings.release_limit = absl::Milliseconds(600);
    fs::create_directories(directory.path() + "/mps/fake");
  }
  ~Node() {
    End();
    for (const char* gpu : {kGpu, kOther}) {
      const pid_t pid = DaemonOf(gpu);
      if (pid > 0) ::kill(pid, SIGKILL);
    }
  }

  // An agent's run; `in_use` are the tasks that it finds.
  void Begin(std::map<std::string, std::string> in_use = {}) {
    const std::vector<model::Gpu> devices = {{.id = {kGpu}, .memory_mib = 22587},
                                             {.id = {kOther}, .memory_mib = 22587}};
    manager = std::make_shared<MpsManager>(
        context.get_executor(), settings, gpus, devices, model::Rng(1),
        [this](const std::string& task, const std::string& reason) { lost[task] = reason; });
    Do(manager->Recover(std::move(in_use)));
  }
  // The agent ends without a word to its daemons, as with kill -9.
  void End() {
    manager = nullptr;
    Run(absl::Milliseconds(150));  // The watch sees it.
  }

  template <typename T>
  T Do(net::awaitable<T> work) {
    std::future<T> done = net::co_spawn(context, std::move(work), net::use_future);
    context.restart();
    while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      context.run_one_for(std::chrono::milliseconds(10));
      if (context.stopped()) context.restart();
    }
    return done.get();
  }
  void Run(absl::Duration duration) {
    context.restart();
    context.run_for(absl::ToChronoMilliseconds(duration));
  }
  template <typename Condition>
  bool Eventually(Condition condition) {
    const absl::Time deadline = absl::Now() + absl::Seconds(10);
    while (!condition()) {
      if (absl::Now() > deadline) return false;
      Run(absl::Milliseconds(20));
    }
    return true;
  }

  std::string Acquire(const std::string& gpu, const std::string& task) {
    return std::string(Do(manager->Acquire(gpu, task)).message());
  }
  bool Release(const std::string& task) { return Do(manager->Release(task)).ok(); }

  std::string Pipes(const std::string& gpu) const { return MpsDirectory(settings.root, gpu); }
  pid_t DaemonOf(const std::string& gpu) const {
    const std::string pid = TextOf(Pipes(gpu) + "/nvidia-cuda-mps-control.pid");
    return pid.empty() ? -1 : std::stoi(pid);
  }
  bool IsServing(const std::string& gpu) const {
    return MpsControlClient(settings.binary, Pipes(gpu), settings.probe_limit).Probe() ==
           MpsProbe::kServing;
  }
  fs::path Told(const std::string& name) const { return settings.root + "/fake/" + name; }
  void Tell(const std::string& name, const std::string& text = "") const {
    std::ofstream(Told(name)) << text;
  }
  std::string Noted(const std::string& kind, const std::string& gpu) const {
    return TextOf(Told(kind + "-" + fs::path(Pipes(gpu)).filename().string()));
  }
  int64_t Starts(const std::string& gpu) const {
    const std::string starts = Noted("starts", gpu);
    return std::count(starts.begin(), starts.end(), '\n');
  }

  TempDir directory;
  MpsSettings settings;
  net::io_context context;
  std::shared_ptr<FakeGpuControl> gpus = std::make_shared<FakeGpuControl>();
  std::map<std::string, std::string> lost;
  std::shared_ptr<MpsManager> manager;
};

TEST_CASE("The first sharing task starts its GPU's daemon, the last one ends it (29, 65)") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kExclusiveProcess);
  CHECK(node.gpus->ModeOf(kOther) == ComputeMode::kDefault);
  REQUIRE(node.IsServing(kGpu));
  const pid_t daemon = node.DaemonOf(kGpu);

  REQUIRE(node.Acquire(kGpu, "b") == "");
  CHECK(node.DaemonOf(kGpu) == daemon);
  REQUIRE(node.Release("a"));
  CHECK(node.IsServing(kGpu));

  REQUIRE(node.Release("b"));
  CHECK_FALSE(FindProcess(daemon));
  CHECK_FALSE(fs::exists(node.Pipes(kGpu)));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
  CHECK(fs::is_empty(node.settings.record_directory));
}

TEST_CASE("A daemon knows its GPU and its directories, and no other CUDA variable") {
  ::setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "10", 1);
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  ::unsetenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  std::vector<std::string> variables;
  std::istringstream lines(node.Noted("environ", kGpu));
  for (std::string line; std::getline(lines, line);) {
    if (absl::StartsWith(line, "CUDA_")) variables.push_back(line);
  }
  std::sort(variables.begin(), variables.end());
  CHECK(variables ==
        std::vector<std::string>{
            absl::StrCat("CUDA_MPS_LOG_DIRECTORY=", MpsDirectory(node.settings.log_root, kGpu)),
            absl::StrCat("CUDA_MPS_PIPE_DIRECTORY=", node.Pipes(kGpu)),
            absl::StrCat("CUDA_VISIBLE_DEVICES=", kGpu)});
  CHECK(absl::StrContains(node.Noted("commands", kGpu),
                          "set_default_device_pinned_mem_limit 0 22587M\n"));
  struct stat found = {};
  REQUIRE(::stat(node.Pipes(kGpu).c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0755);
}

TEST_CASE("Two GPUs have daemons of their own") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  REQUIRE(node.Acquire(kOther, "b") == "");
  CHECK(node.DaemonOf(kGpu) != node.DaemonOf(kOther));
  REQUIRE(node.Release("a"));
  CHECK(node.IsServing(kOther));
}

TEST_CASE("A daemon that does not come up fails the gate after three tries (53)") {
  Node node;
  node.Begin();
  node.Tell("crash-at-start");
  CHECK(node.Acquire(kGpu, "a") == "MPS control daemon is not available on this instance");
  REQUIRE(node.Release("a"));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
}

TEST_CASE("A program that is not there fails the gate (53)") {
  Node node;
  node.settings.binary = "/nowhere/nvidia-cuda-mps-control";
  node.Begin();
  CHECK(node.Acquire(kGpu, "a") == "MPS control daemon is not available on this instance");
  REQUIRE(node.Release("a"));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
}

TEST_CASE("A stopped daemon is not responding, and holds up no other GPU (54)") {
  Node node;
  node.settings.probe_every = absl::Minutes(1);
  node.settings.gate_wait = absl::Milliseconds(500);
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  ::kill(node.DaemonOf(kGpu), SIGSTOP);
  std::future<absl::Status> gated =
      net::co_spawn(node.context, node.manager->Acquire(kGpu, "b"), net::use_future);
  CHECK(node.Acquire(kOther, "c") == "");
  CHECK(gated.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  REQUIRE(node.Eventually(
      [&] { return gated.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  CHECK(std::string(gated.get().message()) ==
        "MPS control daemon is not responding on this instance");
  // It can be ended all the same.
  CHECK(node.Release("a"));
  CHECK(node.Release("b"));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
}

TEST_CASE("A daemon that serves at a later probe is good enough (55)") {
  Node node;
  node.Begin();
  node.Tell("crash-at-start");
  std::future<absl::Status> gated =
      net::co_spawn(node.context, node.manager->Acquire(kGpu, "a"), net::use_future);
  node.Run(absl::Milliseconds(60));
  fs::remove(node.Told("crash-at-start"));
  REQUIRE(node.Eventually(
      [&] { return gated.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  CHECK(gated.get().ok());
}

TEST_CASE("Without its directory a daemon is not asked twice (56)") {
  Node node;
  node.settings.gate_wait = absl::Seconds(5);
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  const pid_t daemon = node.DaemonOf(kGpu);
  fs::remove_all(node.Pipes(kGpu));
  const absl::Time before = absl::Now();
  CHECK(node.Acquire(kGpu, "b") == "MPS control daemon is not available on this instance");
  CHECK(absl::Now() - before < absl::Seconds(3));
  ::kill(daemon, SIGKILL);
}

TEST_CASE("Status 0 is no proof of an answer (58)") {
  const std::string fault = GENERATE("garbage", "empty-answer");
  INFO(fault);
  Node node;
  node.settings.probe_every = absl::Minutes(1);
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  node.Tell(fault);
  CHECK(node.Acquire(kGpu, "b") == "MPS control daemon is not available on this instance");
}

TEST_CASE("A slow answer in time is one") {
  Node node;
  node.Begin();
  node.Tell("slow", "200");
  CHECK(node.Acquire(kGpu, "a") == "");
}

TEST_CASE("A killed daemon takes its tasks along, and is restarted (60)") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  REQUIRE(node.Acquire(kGpu, "b") == "");
  REQUIRE(node.Acquire(kOther, "c") == "");
  const pid_t before = node.DaemonOf(kGpu);
  ::kill(before, SIGKILL);
  REQUIRE(node.Eventually([&] { return node.lost.size() == 2 && node.Starts(kGpu) == 2; }));
  CHECK(absl::StrContains(node.lost["a"], "MPS daemon restarted"));
  CHECK(node.lost.contains("b"));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kExclusiveProcess);
  REQUIRE(node.Eventually([&] { return node.IsServing(kGpu); }));
  CHECK(node.DaemonOf(kGpu) != before);
  // What comes now is not lost with the old ones.
  REQUIRE(node.Acquire(kGpu, "d") == "");
  node.Run(absl::Milliseconds(300));
  CHECK(node.lost.size() == 2);
  CHECK(node.Starts(kGpu) == 2);
}

TEST_CASE("A daemon that answers nobody three times is replaced (59)") {
  Node node;
  node.settings.probe_limit = absl::Milliseconds(200);
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  ::kill(node.DaemonOf(kGpu), SIGSTOP);
  REQUIRE(node.Eventually([&] { return node.lost.contains("a") && node.Starts(kGpu) == 2; }));
}

TEST_CASE("After the agent's death its daemons are taken over (61)") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  const pid_t daemon = node.DaemonOf(kGpu);
  node.End();
  node.Begin({{"a", kGpu}});
  node.Run(absl::Milliseconds(300));
  CHECK(node.DaemonOf(kGpu) == daemon);
  CHECK(node.Starts(kGpu) == 1);
  CHECK(node.lost.empty());
  CHECK(node.manager->GpuOf("a") == kGpu);
  REQUIRE(node.Release("a"));
  CHECK_FALSE(FindProcess(daemon));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
}

TEST_CASE("A daemon that died while the agent was away loses its tasks (60, 61)") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  node.End();
  ::kill(node.DaemonOf(kGpu), SIGKILL);
  node.Begin({{"a", kGpu}});
  CHECK(node.Eventually([&] { return node.lost.contains("a") && node.Starts(kGpu) == 2; }));
}

TEST_CASE("A daemon without tasks that an earlier run left is ended") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  const pid_t daemon = node.DaemonOf(kGpu);
  node.End();
  node.Begin();
  CHECK_FALSE(FindProcess(daemon));
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
}

TEST_CASE("Killed between mode and daemon, the agent puts the mode back (62)") {
  Node node;
  fs::create_directories(node.settings.record_directory);
  std::ofstream(node.settings.record_directory + "/" + kGpu + ".json")
      << EncodeMpsDaemonRecord({.boot_id = BootId(), .pipe_directory = node.Pipes(kGpu)});
  REQUIRE(node.gpus->SetComputeMode(kGpu, ComputeMode::kExclusiveProcess).ok());
  node.Begin();
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
  CHECK(fs::is_empty(node.settings.record_directory));
}

TEST_CASE("A record of another boot says nothing of this one") {
  Node node;
  fs::create_directories(node.settings.record_directory);
  const ProcessId self = *FindProcess(::getpid());
  std::ofstream(node.settings.record_directory + "/" + kGpu + ".json") << EncodeMpsDaemonRecord(
      {.boot_id = "earlier", .pipe_directory = node.Pipes(kGpu), .daemon = self});
  node.Begin();  // And does not end this process.
  CHECK(fs::is_empty(node.settings.record_directory));
}

TEST_CASE("A pid given out anew is not the daemon") {
  Node node;
  fs::create_directories(node.settings.record_directory);
  ProcessId reused = *FindProcess(::getpid());
  reused.start_ticks -= 1;
  std::ofstream(node.settings.record_directory + "/" + kGpu + ".json") << EncodeMpsDaemonRecord(
      {.boot_id = BootId(), .pipe_directory = node.Pipes(kGpu), .daemon = reused});
  node.Begin();
  CHECK(node.gpus->ModeOf(kGpu) == ComputeMode::kDefault);
}

TEST_CASE("A binary without the multi-user server is found out and used without (63)") {
  Node node;
  node.Begin();
  node.Tell("no-multiuser");
  CHECK(node.manager->is_multi_user());
  REQUIRE(node.Acquire(kGpu, "a") == "");
  CHECK_FALSE(node.manager->is_multi_user());
  CHECK(node.IsServing(kGpu));
}

TEST_CASE("A directory that MPS cannot use is refused with the reason (64)") {
  MpsSettings settings;
  CHECK(CheckMpsSettings(settings).ok());
  settings.root = "/" + std::string(119, 'x');
  CHECK(absl::StrContains(std::string(CheckMpsSettings(settings).message()), "too long"));
  settings.root = "/tmp/nvidia-mps";
  CHECK(absl::StrContains(std::string(CheckMpsSettings(settings).message()), "captured"));
  settings.root = "/tmp/nvidia-mps/x";
  CHECK_FALSE(CheckMpsSettings(settings).ok());
  settings.root = "mps";
  CHECK_FALSE(CheckMpsSettings(settings).ok());
}

TEST_CASE("Only the container's own clients are terminated (67)") {
  Node node;
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  // This test's process stands for a client in a container: its cgroup's text is what it has.
  std::string cgroup = TextOf("/proc/self/cgroup");
  cgroup = cgroup.substr(0, cgroup.find('\n'));
  node.Tell("clients", absl::StrCat("4711 ", ::getpid(), " 999999\n"));
  node.Do(node.manager->TerminateClients("a", "no-such-container"));
  CHECK_FALSE(absl::StrContains(node.Noted("commands", kGpu), "terminate_client"));
  node.Do(node.manager->TerminateClients("a", cgroup));
  CHECK(absl::StrContains(node.Noted("commands", kGpu),
                          absl::StrCat("terminate_client 4711 ", ::getpid(), "\n")));
  CHECK_FALSE(absl::StrContains(node.Noted("commands", kGpu), "999999"));
}

TEST_CASE("A share is free only when the driver lists no ended process (68)") {
  Node node;
  node.settings.release_limit = absl::Seconds(20);
  node.Begin();
  REQUIRE(node.Acquire(kGpu, "a") == "");
  node.gpus->List(kGpu, {{.pid = 4194304}});  // above the largest pid
  std::future<absl::Status> released =
      net::co_spawn(node.context, node.manager->Release("a"), net::use_future);
  node.Run(absl::Milliseconds(300));
  CHECK(released.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  node.gpus->List(kGpu, {});
  REQUIRE(node.Eventually(
      [&] { return released.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  CHECK(released.get().ok());
}

TEST_CASE("A compute mode that cannot be set refuses the task, and starts no daemon") {
  Node node;
  node.gpus->RefuseModes();
  node.Begin();
  CHECK(node.Acquire(kGpu, "a") == "MPS control daemon is not available on this instance");
  CHECK(node.Starts(kGpu) == 0);
}

}  // namespace
}  // namespace berth::agent

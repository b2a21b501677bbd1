#include "agent/mps/mps_manager.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/spawn.h"

namespace berth::agent {

namespace {

// gpu-sharing.md H7. What exactly is wrong is in the log: these are read by those who own the task,
// not the machine.
constexpr char kNotAvailable[] = "MPS control daemon is not available on this instance";
constexpr char kNotResponding[] = "MPS control daemon is not responding on this instance";
constexpr char kNotVerified[] = "MPS control daemon verification did not complete";
constexpr char kRestarted[] = "MPS daemon restarted: the task lost its work on the GPU";
constexpr double kJitter = 0.2;

std::string Words(const absl::Status& status) { return std::string(status.message()); }

struct GateTry {
  absl::Status started = absl::OkStatus();
  MpsProbe probe = MpsProbe::kDown;
  std::optional<ProcessId> process = std::nullopt;
  bool multi_user = true;
};

// What the watch has seen.
struct Sight {
  bool wanted = false;                              // else it was stopped on purpose
  std::optional<ProcessId> process = std::nullopt;  // absent: it has ended
  bool serving = true;
};

}  // namespace

MpsManager::MpsManager(net::any_io_executor executor, MpsSettings settings,
                       std::shared_ptr<GpuControl> gpus, const std::vector<model::Gpu>& devices,
                       model::Rng rng, Lost lost)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      rng_(rng),
      lost_(std::move(lost)) {
  for (const model::Gpu& device : devices) {
    gpus_[device.id.value] =
        std::make_unique<Shared>(std::make_unique<MpsDaemon>(settings_, gpus, device));
  }
}

MpsManager::~MpsManager() { Join(); }

void MpsManager::Join() {
  for (auto& [uuid, gpu] : gpus_) gpu->worker.join();
}

std::string MpsManager::PipeDirectory(const std::string& gpu) const {
  return MpsDirectory(settings_.root, gpu);
}

std::string MpsManager::GpuOf(const std::string& task_arn) const {
  const auto found = std::find_if(gpus_.begin(), gpus_.end(), [&](const auto& entry) {
    return entry.second->tasks.contains(task_arn);
  });
  return found == gpus_.end() ? std::string() : found->first;
}

absl::Duration MpsManager::Jittered(absl::Duration wait) {
  const double unit = static_cast<double>(rng_.Next() >> 11) / static_cast<double>(1ULL << 53);
  return wait * (1 + kJitter * (2 * unit - 1));
}

net::awaitable<void> MpsManager::Recover(std::map<std::string, std::string> in_use) {
  const auto self = shared_from_this();
  for (auto& [uuid, shared] : gpus_) {
    Shared& gpu = *shared;
    MpsDaemon* daemon = gpu.daemon.get();
    const bool used = std::any_of(in_use.begin(), in_use.end(), [&uuid = uuid](const auto& entry) {
      return entry.second == uuid;
    });
    const auto load = [daemon, used]() -> absl::StatusOr<ProcessId> {
      absl::Status done = daemon->Load();
      if (done.ok() && !used) done = daemon->Stop();
      if (!done.ok()) return done;
      // One that nobody wrote down is no process at all: the watch then loses its tasks.
      return daemon->process().value_or(ProcessId());
    };
    const absl::StatusOr<ProcessId> process = co_await OnWorker(gpu, load);
    if (!process.ok()) spdlog::error("GPU {}: {}", uuid, Words(process.status()));
    for (const auto& [task, its_gpu] : in_use) {
      if (its_gpu == uuid) gpu.tasks[task] = process.ok() ? *process : ProcessId();
    }
    if (used) Watch(uuid, gpu);
  }
}

net::awaitable<absl::Status> MpsManager::Acquire(std::string uuid, std::string task_arn) {
  const auto self = shared_from_this();
  const auto found = gpus_.find(uuid);
  if (found == gpus_.end()) {
    spdlog::error("task {} shares GPU {}, which is not here", task_arn, uuid);
    co_return absl::UnavailableError(kNotAvailable);
  }
  Shared& gpu = *found->second;
  if (gpu.tasks[task_arn]) co_return absl::OkStatus();  // It was past the gate before a restart.
  const absl::StatusOr<ProcessId> daemon = co_await Gate(gpu);
  // A task that is refused is torn down, and released with that.
  if (!daemon.ok()) co_return daemon.status();
  gpu.tasks[task_arn] = *daemon;
  Watch(uuid, gpu);
  co_return absl::OkStatus();
}

net::awaitable<absl::StatusOr<ProcessId>> MpsManager::Gate(Shared& gpu) {
  MpsDaemon* daemon = gpu.daemon.get();
  const absl::Time deadline = absl::Now() + settings_.gate_limit;
  const auto attempt = [daemon] {
    GateTry result;
    result.started = daemon->Start();
    if (result.started.ok()) result.probe = daemon->Probe();
    result.process = daemon->process();
    result.multi_user = daemon->is_multi_user();
    return result;
  };
  GateTry last;
  bool tried = false;
  int not_responding = 0;
  absl::Duration wait = settings_.gate_wait;
  for (int i = 0; i < settings_.gate_probes; ++i) {
    if (i > 0) {
      const absl::Duration pause = Jittered(wait);
      wait = 2 * wait;
      if (absl::Now() + pause >= deadline) break;
      co_await Sleep(pause);
    }
    last = co_await OnWorker(gpu, attempt);
    tried = true;
    multi_user_ = multi_user_ && last.multi_user;
    if (!last.started.ok()) {
      spdlog::error("{}: {}", daemon->pipe_directory(), Words(last.started));
      continue;
    }
    if (last.probe == MpsProbe::kServing && last.process) co_return *last.process;
    if (last.probe == MpsProbe::kMissingDirectory) break;
    if (last.probe == MpsProbe::kNotResponding &&
        ++not_responding == settings_.gate_probes_not_responding) {
      break;
    }
  }
  if (!tried) co_return absl::DeadlineExceededError(kNotVerified);
  const bool hangs = last.started.ok() && last.probe == MpsProbe::kNotResponding;
  spdlog::error("{}: the MPS control daemon {}", daemon->pipe_directory(),
                hangs ? "does not respond" : "is not available");
  co_return absl::UnavailableError(hangs ? kNotResponding : kNotAvailable);
}

net::awaitable<absl::Status> MpsManager::Release(std::string task_arn) {
  const auto self = shared_from_this();
  const auto found = gpus_.find(GpuOf(task_arn));
  if (found == gpus_.end()) co_return absl::OkStatus();
  Shared& gpu = *found->second;
  MpsDaemon* daemon = gpu.daemon.get();
  const auto await_release = [daemon] {
    daemon->AwaitRelease();
    return 0;
  };
  co_await OnWorker(gpu, await_release);
  // Another may have come meanwhile. A task that comes during Stop waits for the worker, and starts
  // the daemon anew.
  if (gpu.tasks.size() == 1 && gpu.tasks.contains(task_arn)) {
    gpu.tasks.clear();
    const auto stop = [daemon] { return daemon->Stop(); };
    const absl::Status stopped = co_await OnWorker(gpu, stop);
    if (!stopped.ok()) {
      gpu.tasks[task_arn] = std::nullopt;  // It holds the GPU until the next try.
      co_return stopped;
    }
  }
  gpu.tasks.erase(task_arn);
  co_return absl::OkStatus();
}

net::awaitable<void> MpsManager::TerminateClients(std::string task_arn, std::string container_id) {
  const auto self = shared_from_this();
  const auto found = gpus_.find(GpuOf(task_arn));
  if (found == gpus_.end()) co_return;
  MpsDaemon* daemon = found->second->daemon.get();
  const auto terminate = [daemon, container_id] { return daemon->TerminateClients(container_id); };
  const absl::StatusOr<int> terminated = co_await OnWorker(*found->second, terminate);
  if (!terminated.ok()) {
    spdlog::warn("container {}: {}", container_id, Words(terminated.status()));
  } else if (*terminated > 0) {
    spdlog::info("container {}: {} MPS clients terminated", container_id, *terminated);
  }
}

void MpsManager::Watch(const std::string& uuid, Shared& gpu) {
  if (gpu.watched) return;
  gpu.watched = true;
  gpu.probes_failed = 0;
  gpu.probe_at = absl::Now() + settings_.probe_every;
  Spawn(executor_, "MPS watch", WatchWhileUsed(uuid));
}

void MpsManager::LoseTasks(const std::string& uuid, Shared& gpu,
                           const std::optional<ProcessId>& serving) {
  std::vector<std::string> lost;  // To lose one may release it.
  for (auto& [task, daemon] : gpu.tasks) {
    if (!daemon || daemon == serving) continue;
    daemon = std::nullopt;
    lost.push_back(task);
  }
  for (const std::string& task : lost) {
    spdlog::error("GPU {}: its MPS control daemon ended under task {}", uuid, task);
    lost_(task, kRestarted);
  }
}

net::awaitable<void> MpsManager::WatchWhileUsed(std::string uuid) {
  const std::weak_ptr<MpsManager> weak = weak_from_this();
  const absl::Duration every = settings_.watch_every;
  while (true) {
    co_await Sleep(every);
    const std::shared_ptr<MpsManager> self = weak.lock();
    if (self == nullptr) co_return;
    Shared& gpu = *gpus_.at(uuid);
    if (gpu.tasks.empty()) {
      gpu.watched = false;
      co_return;
    }
    MpsDaemon* daemon = gpu.daemon.get();
    const bool probe = absl::Now() >= gpu.probe_at;
    if (probe) gpu.probe_at = absl::Now() + settings_.probe_every;
    const auto look = [daemon, probe] {
      Sight sight{.wanted = daemon->IsWanted()};
      if (daemon->IsRunning()) sight.process = daemon->process();
      if (probe && sight.process) sight.serving = daemon->Probe() == MpsProbe::kServing;
      return sight;
    };
    const Sight sight = co_await OnWorker(gpu, look);
    const bool relied_on = std::any_of(gpu.tasks.begin(), gpu.tasks.end(),
                                       [](const auto& entry) { return entry.second.has_value(); });
    if (!sight.wanted && !relied_on) continue;
    if (probe) gpu.probes_failed = sight.serving ? 0 : gpu.probes_failed + 1;
    const bool wedged = gpu.probes_failed >= settings_.wedged_after_probes;
    LoseTasks(uuid, gpu, wedged ? std::nullopt : sight.process);
    if (sight.process && !wedged) continue;
    gpu.probes_failed = 0;
    const auto restart = [daemon]() -> absl::Status {
      daemon->Kill();
      return daemon->Start();
    };
    const absl::Status restarted = co_await OnWorker(gpu, restart);
    if (!restarted.ok()) {
      spdlog::error("GPU {}: its MPS control daemon cannot be restarted: {}", uuid,
                    Words(restarted));
    }
  }
}

}  // namespace berth::agent

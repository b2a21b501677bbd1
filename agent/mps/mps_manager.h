// The shared GPUs of this instance: which tasks are on them, and the daemon of each.
//
// The first sharing task of a GPU starts its daemon, the last one ends it
// (gpu-sharing.md 2.4, 2.11). One thread, the agent's; what may block is done on a thread of each
// GPU's own, so that one wedged daemon holds up neither the agent nor another GPU.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/asio/thread_pool.hpp>

#include "absl/status/statusor.h"
#include "agent/mps/mps_daemon.h"
#include "agent/mps/mps_settings.h"
#include "agent/net.h"
#include "model/gpu.h"
#include "model/rng.h"

namespace berth::agent {

class MpsManager : public std::enable_shared_from_this<MpsManager> {
 public:
  // A task that lost its GPU's daemon, and with it all that its programs had on the GPU.
  using Lost = std::function<void(const std::string& task_arn, const std::string& reason)>;

  // Requires: CheckMpsSettings is OK.
  MpsManager(net::any_io_executor executor, MpsSettings settings, std::shared_ptr<GpuControl> gpus,
             const std::vector<model::Gpu>& devices, model::Rng rng, Lost lost);
  // Waits for what is under way on the GPUs' threads. Daemons go on running.
  ~MpsManager();

  // Returns when nothing is under way on the GPUs' threads, and nothing will be.
  void Join();

  // At the agent's start, before any task begins. `in_use`: task ARN -> the GPU that it shares.
  // Daemons that serve these are taken over; what else an earlier run left is put back.
  net::awaitable<void> Recover(std::map<std::string, std::string> in_use);
  // The task may create containers that share the GPU. Errors are the task's stop reason.
  net::awaitable<absl::Status> Acquire(std::string gpu, std::string task_arn);
  // All containers of the task have ended. Returns when its memory is free and, after the last
  // task, when the GPU is as it was before. After an error call it again.
  net::awaitable<absl::Status> Release(std::string task_arn);
  // Before a container that does not end by itself is killed. Errors are logged.
  net::awaitable<void> TerminateClients(std::string task_arn, std::string container_id);

  // On the host, to be mounted.
  std::string PipeDirectory(const std::string& gpu) const;
  // Empty: the task shares no GPU here.
  std::string GpuOf(const std::string& task_arn) const;
  // False once a binary has shown that it serves one user at a time.
  bool is_multi_user() const { return multi_user_; }

 private:
  struct Shared {
    Shared(std::unique_ptr<MpsDaemon> its_daemon) : daemon(std::move(its_daemon)) {}
    std::unique_ptr<MpsDaemon> daemon;  // for the worker alone
    net::thread_pool worker{1};
    // Task ARN -> the daemon that its programs use; absent before the gate, and once it is lost.
    std::map<std::string, std::optional<ProcessId>> tasks = {};
    bool watched = false;
    int probes_failed = 0;
    absl::Time probe_at = absl::InfinitePast();
  };

  template <typename Work>
  static net::awaitable<std::invoke_result_t<Work>> Perform(Work work) {
    co_return work();
  }
  template <typename Work>
  net::awaitable<std::invoke_result_t<Work>> OnWorker(Shared& gpu, Work work) {
    co_return co_await net::co_spawn(gpu.worker.get_executor(), Perform(std::move(work)),
                                     net::use_awaitable);
  }

  // The daemon that serves.
  net::awaitable<absl::StatusOr<ProcessId>> Gate(Shared& gpu);
  void Watch(const std::string& uuid, Shared& gpu);
  net::awaitable<void> WatchWhileUsed(std::string uuid);
  void LoseTasks(const std::string& uuid, Shared& gpu, const std::optional<ProcessId>& serving);
  absl::Duration Jittered(absl::Duration wait);

  net::any_io_executor executor_;
  const MpsSettings settings_;
  model::Rng rng_;
  const Lost lost_;
  std::map<std::string, std::unique_ptr<Shared>> gpus_ = {};  // by UUID
  bool multi_user_ = true;
};

}  // namespace berth::agent

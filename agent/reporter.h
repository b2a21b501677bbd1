// Tells the server how far tasks have come, by SubmitTaskStateChange.
//
// Of one task strictly in order: the next report is not begun before the last is acknowledged. Up
// to kReportsAtOnce tasks at a time. What a report says is on disk before it is sent. Tried again
// until acknowledged; only InvalidParameterException makes the agent drop a report.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "agent/backoff.h"
#include "agent/ecs_client.h"
#include "agent/net.h"
#include "agent/task_flow.h"
#include "agent/task_report.h"

namespace berth::agent {

inline constexpr size_t kReportsAtOnce = 10;

class Reporter : public std::enable_shared_from_this<Reporter> {
 public:
  struct Settings {
    std::string cluster = {};
    // How long news of single containers wait for more to go with them.
    absl::Duration batch_window = absl::Seconds(2);
    Backoff::Shape retry = {
        .first = absl::Milliseconds(250), .factor = 1.5, .cap = absl::Seconds(10)};
    model::Rng rng = model::Rng(0);
  };
  using TaskPtr = std::shared_ptr<TaskFlow>;
  using Save = std::function<net::awaitable<void>(TaskPtr)>;

  Reporter(net::any_io_executor executor, std::shared_ptr<EcsClient> server, Save save,
           Settings settings);

  // There may be something new to say of this task.
  void Notify(TaskPtr task);

 private:
  void Enqueue(TaskPtr task);
  void Pump();
  net::awaitable<void> Delay(TaskPtr task);
  net::awaitable<void> SendNext(TaskPtr task);
  net::awaitable<void> Send(TaskPtr task, TaskReport report);

  net::any_io_executor executor_;
  std::shared_ptr<EcsClient> server_;
  Save save_;
  Settings settings_;
  std::deque<TaskPtr> ready_ = {};
  // Tasks in ready_ or being reported: one place each, which is what keeps their order.
  std::set<TaskFlow*> busy_ = {};
  std::set<TaskFlow*> delayed_ = {};
  size_t sending_ = 0;
};

// The body of SubmitTaskStateChange.
std::string ReportBody(const std::string& cluster, const TaskPayload& task, const TaskState& state,
                       const TaskReport& report);

}  // namespace berth::agent

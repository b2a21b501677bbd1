#include "agent/task_report.h"

#include <algorithm>

namespace berth::agent {

namespace {

using model::ContainerStatus;
using model::TaskStatus;

ContainerStatus StatusOf(const ContainerState& container) {
  switch (container.phase) {
    case Phase::kRunning:
    case Phase::kStopping:
      return ContainerStatus::kRunning;
    case Phase::kStopped:
      return ContainerStatus::kStopped;
    default:
      return ContainerStatus::kPending;
  }
}

std::vector<ContainerReport> NewsOfContainers(const TaskState& state) {
  std::vector<size_t> order(state.containers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // In order of time: what has ended first, then by start, so that of two that depend on each other
  // the first comes first.
  std::stable_sort(order.begin(), order.end(), [&state](size_t a, size_t b) {
    const auto key = [&state](size_t i) {
      const ContainerState& container = state.containers[i];
      return std::pair(container.has_run ? container.started_at : absl::InfiniteFuture(),
                       container.finished_at);
    };
    return key(a) < key(b);
  });
  std::vector<ContainerReport> news;
  for (const size_t i : order) {
    const ContainerState& container = state.containers[i];
    const ContainerStatus now = StatusOf(container);
    if (now <= container.reported) continue;
    const bool ran = container.has_run && container.reported < ContainerStatus::kRunning;
    if (now == ContainerStatus::kStopped && ran) news.push_back({i, ContainerStatus::kRunning});
    news.push_back({i, now});
  }
  return news;
}

}  // namespace

std::optional<TaskReport> NextReport(const TaskState& state) {
  if (state.reported == TaskStatus::kStopped) return std::nullopt;
  TaskReport report;
  report.containers = NewsOfContainers(state);
  if (state.reached_running && state.reported < TaskStatus::kRunning) {
    report.status = TaskStatus::kRunning;
    return report;
  }
  if (state.status == TaskStatus::kStopped) {
    report.status = TaskStatus::kStopped;
    return report;
  }
  if (report.containers.empty()) return std::nullopt;
  report.status = state.reported;
  report.may_wait = true;
  return report;
}

void Acknowledge(TaskState& state, const TaskReport& report) {
  state.reported = std::max(state.reported, report.status);
  for (const ContainerReport& entry : report.containers) {
    ContainerStatus& reported = state.containers[entry.container].reported;
    reported = std::max(reported, entry.status);
  }
}

}  // namespace berth::agent

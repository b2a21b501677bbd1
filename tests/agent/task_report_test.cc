#include "agent/task_report.h"

#include <catch2/catch.hpp>

#include "agent/json.h"
#include "agent/reporter.h"

namespace berth::agent {
namespace {

using model::ContainerStatus;
using model::TaskStatus;

const absl::Time kNow = absl::FromUnixSeconds(1'000'000);

ContainerState Running(int started_s = 0) {
  ContainerState state;
  state.phase = Phase::kRunning;
  state.has_run = true;
  state.started_at = kNow + absl::Seconds(started_s);
  return state;
}

ContainerState Ended(int64_t exit_code, int started_s = 0) {
  ContainerState state = Running(started_s);
  state.phase = Phase::kStopped;
  state.exit_code = exit_code;
  state.finished_at = state.started_at + absl::Seconds(1);
  return state;
}

std::vector<std::pair<size_t, ContainerStatus>> Pairs(const TaskReport& report) {
  std::vector<std::pair<size_t, ContainerStatus>> pairs;
  for (const ContainerReport& entry : report.containers) {
    pairs.emplace_back(entry.container, entry.status);
  }
  return pairs;
}

TEST_CASE("a task that has not moved is not reported", "[agent]") {
  TaskState state;
  state.containers.resize(1);

  CHECK_FALSE(NextReport(state).has_value());
}

TEST_CASE("RUNNING carries its containers and is said once", "[agent]") {
  TaskState state;
  state.status = TaskStatus::kRunning;
  state.reached_running = true;
  state.containers = {Running()};

  const std::optional<TaskReport> report = NextReport(state);
  REQUIRE(report.has_value());
  CHECK(report->status == TaskStatus::kRunning);
  CHECK_FALSE(report->may_wait);
  CHECK(Pairs(*report) ==
        std::vector<std::pair<size_t, ContainerStatus>>{{0, ContainerStatus::kRunning}});

  Acknowledge(state, *report);
  CHECK_FALSE(NextReport(state).has_value());
}

TEST_CASE("a container that came and went is told twice in one report, in order", "[agent]") {
  TaskState state;
  state.status = TaskStatus::kRunning;
  state.reached_running = true;
  // The second in the list started first: b waits for a.
  state.containers = {Running(10), Ended(0, 0)};

  const std::optional<TaskReport> report = NextReport(state);

  REQUIRE(report.has_value());
  CHECK(Pairs(*report) ==
        std::vector<std::pair<size_t, ContainerStatus>>{{1, ContainerStatus::kRunning},
                                                        {1, ContainerStatus::kStopped},
                                                        {0, ContainerStatus::kRunning}});
}

TEST_CASE("a task that was RUNNING unsaid and has STOPPED is told both, in order", "[agent]") {
  TaskState state;
  state.status = TaskStatus::kStopped;
  state.reached_running = true;
  state.containers = {Ended(7)};

  std::vector<TaskStatus> said;
  while (const std::optional<TaskReport> report = NextReport(state)) {
    said.push_back(report->status);
    Acknowledge(state, *report);
    REQUIRE(said.size() < 5);
  }

  CHECK(said == std::vector<TaskStatus>{TaskStatus::kRunning, TaskStatus::kStopped});
}

TEST_CASE("a task that never ran is told STOPPED alone", "[agent]") {
  TaskState state;
  state.status = TaskStatus::kStopped;
  state.containers.resize(1);
  state.containers[0].phase = Phase::kStopped;
  state.containers[0].reason = "CannotPullContainerError: no";

  const std::optional<TaskReport> report = NextReport(state);

  REQUIRE(report.has_value());
  CHECK(report->status == TaskStatus::kStopped);
  CHECK(Pairs(*report) ==
        std::vector<std::pair<size_t, ContainerStatus>>{{0, ContainerStatus::kStopped}});
}

TEST_CASE("news of a container alone may wait, and leaves the task's status", "[agent]") {
  TaskState state;
  state.status = TaskStatus::kRunning;
  state.reached_running = true;
  state.reported = TaskStatus::kRunning;
  state.containers = {Running(), Ended(1)};
  state.containers[0].reported = ContainerStatus::kRunning;
  state.containers[1].reported = ContainerStatus::kRunning;

  const std::optional<TaskReport> report = NextReport(state);

  REQUIRE(report.has_value());
  CHECK(report->may_wait);
  CHECK(report->status == TaskStatus::kRunning);
}

TEST_CASE("a report names exit code, reason and ports, and cuts reasons that are too long",
          "[agent]") {
  TaskPayload task;
  task.arn = "arn:aws:ecs:us-east-1:0:task/default/t";
  task.containers.resize(1);
  task.containers[0].name = "a";
  TaskState state;
  state.status = TaskStatus::kStopped;
  for (int i = 0; i < 2000; ++i) state.reason += "\xC3\xA9";
  state.containers = {Ended(137)};
  state.containers[0].runtime_id = "abc";
  state.containers[0].reason = "OutOfMemoryError: Container killed due to memory usage";
  state.containers[0].bindings = {{.bind_ip = "0.0.0.0", .container_port = 80, .host_port = 32768}};
  state.execution_stopped_at = kNow;

  json::Document body;
  REQUIRE(json::Parse(ReportBody("c", task, state, *NextReport(state)), body));

  CHECK(json::StringOr(body, "task") == task.arn);
  CHECK(json::StringOr(body, "status") == "STOPPED");
  CHECK(json::StringOr(body, "reason") == state.reason.substr(0, 2 * 1024));
  CHECK(json::FindNumber(body, "executionStoppedAt") == 1'000'000);
  CHECK(json::Find(body, "pullStartedAt") == nullptr);
  const json::Value* containers = json::FindArray(body, "containers");
  REQUIRE(containers != nullptr);
  REQUIRE(containers->Size() == 2);
  CHECK(json::Find((*containers)[0], "exitCode") == nullptr);  // RUNNING has none.
  CHECK(json::FindInt((*containers)[1], "exitCode") == 137);
  CHECK(json::StringOr((*containers)[1], "runtimeId") == "abc");
  const json::Value* bindings = json::FindArray((*containers)[1], "networkBindings");
  REQUIRE(bindings != nullptr);
  CHECK(json::FindInt((*bindings)[0], "hostPort") == 32768);
  CHECK(json::StringOr((*bindings)[0], "protocol") == "tcp");
}

}  // namespace
}  // namespace berth::agent

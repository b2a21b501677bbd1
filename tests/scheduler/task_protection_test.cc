#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::TaskId;

// Tasks of services come with services; a record that a store kept can be one already.
struct Protecting : World {
  Protecting() {
    Register({});
    standalone = Run(Spec())->id;
    of_service = Run(Spec())->id;
    for (auto& [sequence, task] : store.tasks) {
      if (task->id != of_service) continue;
      auto next = std::make_shared<model::Task>(*task);
      next->group = "service:web";
      task = std::move(next);
    }
    Restart();
  }
  static UpdateTaskProtection On(const TaskId& task, absl::Duration duration = absl::Minutes(120)) {
    return {.cluster = {"default"}, .tasks = {task}, .enabled = true, .duration = duration};
  }
  absl::Time Until(const TaskId& task) {
    const auto reply = Ok(GetTaskProtection{.cluster = {"default"}, .tasks = {task}});
    REQUIRE(reply.tasks.size() == 1);
    return reply.tasks[0].protected_until;
  }

  TaskId standalone;
  TaskId of_service;
};

}  // namespace

TEST_CASE_METHOD(Protecting, "a protection lasts for its time, survives a restart, and runs out") {
  CHECK(Until(of_service) == absl::InfinitePast());

  const TaskProtectionReply reply = Ok(On(of_service));

  REQUIRE(reply.tasks.size() == 1);
  CHECK(reply.tasks[0].protected_until == kStart + absl::Minutes(120));
  Restart();
  now = kStart + absl::Minutes(120) - absl::Seconds(1);
  CHECK(Until(of_service) == kStart + absl::Minutes(120));
  now += absl::Seconds(1);
  CHECK(Until(of_service) == absl::InfinitePast());
}

TEST_CASE_METHOD(Protecting, "protecting again starts the time anew; taking it back ends it") {
  Ok(On(of_service));
  now += absl::Minutes(100);
  Ok(On(of_service, absl::Minutes(60)));
  CHECK(Until(of_service) == kStart + absl::Minutes(160));

  // Its duration is not looked at.
  UpdateTaskProtection off{.cluster = {"default"}, .tasks = {of_service}};
  off.duration = absl::Minutes(99999);
  CHECK(Ok(off).tasks.at(0).protected_until == absl::InfinitePast());
  CHECK(Until(of_service) == absl::InfinitePast());
  CHECK(Do(off).changes.empty());
}

TEST_CASE_METHOD(Protecting, "tasks without a service, on their way out or unknown are failures") {
  UpdateTaskProtection update = On(standalone);
  update.tasks = {standalone, {"feed"}, of_service};
  const TaskProtectionReply updated = Ok(update);
  const TaskProtectionReply got =
      Ok(GetTaskProtection{.cluster = {"default"}, .tasks = update.tasks});

  for (const TaskProtectionReply& reply : {updated, got}) {
    CHECK(reply.tasks.size() == 1);
    REQUIRE(reply.failures.size() == 2);
    CHECK(reply.failures[0].task == standalone);
    CHECK(reply.failures[0].reason == "TASK_NOT_VALID");
    CHECK(reply.failures[1].reason == "MISSING");
  }
  Ok(StopTask{.cluster = {"default"}, .task = of_service});
  CHECK(Ok(On(of_service)).failures.at(0).reason == "TASK_NOT_VALID");
  CHECK(Task(standalone)->protected_until == absl::InfinitePast());
}

TEST_CASE_METHOD(Protecting, "times, and numbers of tasks, have limits") {
  CHECK_THAT(Refusal(On(of_service, absl::Minutes(0))),
             Catch::StartsWith("expiresInMinutes is 0; it must be from 1 to 2880"));
  Ok(On(of_service, absl::Minutes(1)));
  Ok(On(of_service, absl::Minutes(2880)));
  CHECK_THAT(Refusal(On(of_service, absl::Minutes(2881))), Catch::Contains("2881"));

  UpdateTaskProtection update = On(of_service);
  update.tasks = {};
  CHECK(Refusal(update) == "Tasks cannot be empty.");
  update.tasks = std::vector<TaskId>(10, of_service);
  CHECK(Ok(update).tasks.size() == 1);
  update.tasks.push_back(of_service);
  CHECK(Refusal(update) == "taskIds can have at most 10 items.");
  GetTaskProtection get{.cluster = {"default"}, .tasks = std::vector<TaskId>(100, of_service)};
  CHECK(Ok(get).tasks.size() == 1);
  get.tasks.push_back(of_service);
  CHECK(Refusal(get) == "taskIds can have at most 100 items.");
  get.cluster = {"nowhere"};
  CHECK(Refusal(get, ErrorKind::kClusterNotFound) == "Cluster not found.");
  update.cluster = {"nowhere"};
  CHECK(Refusal(update, ErrorKind::kClusterNotFound) == "Cluster not found.");
}

}  // namespace berth::scheduler

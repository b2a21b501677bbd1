#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::TaskStatus;

struct Fixture {
  Fixture() {
    world.Register({.memory_mib = 2000});
    command = world.Running(world.Define(Spec({Container("app", 500)})), 2);
    command.client_token = "token";
    command.fingerprint = "f1";
  }
  World world;
  RunTask command;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a call repeated with its token starts nothing and shows its tasks") {
  const RunTask::Reply first = world.Ok(command);
  world.Report(first.tasks[0], TaskStatus::kRunning);
  world.now += absl::Hours(1);

  const auto again = world.Do(command);

  REQUIRE(again.reply.ok());
  REQUIRE(again.reply->tasks.size() == 2);
  CHECK(again.reply->tasks[0]->id == first.tasks[0]->id);
  CHECK(again.reply->tasks[0]->last_status == TaskStatus::kRunning);
  CHECK(again.reply->tasks[1]->id == first.tasks[1]->id);
  CHECK(again.reply->failures.empty());
  CHECK(again.changes.empty());
  CHECK(again.effects.empty());
}

TEST_CASE_METHOD(Fixture, "a call repeated after a restart starts nothing") {
  const RunTask::Reply first = world.Ok(command);
  world.Restart();

  const RunTask::Reply again = world.Ok(command);

  REQUIRE(again.tasks.size() == 2);
  CHECK(again.tasks[0]->id == first.tasks[0]->id);
  CHECK(world.store.tasks.size() == 2);
}

TEST_CASE_METHOD(Fixture, "the token with any other parameter is a conflict that names the tasks") {
  const RunTask::Reply first = world.Ok(command);
  command.fingerprint = "f2";

  const auto outcome = world.Do(command);

  CHECK(model::KindOf(outcome.reply.status()) == ErrorKind::kConflict);
  CHECK(model::ConflictingTasks(outcome.reply.status()) ==
        std::vector<model::TaskId>{first.tasks[0]->id, first.tasks[1]->id});
  CHECK(world.store.tasks.size() == 2);
}

TEST_CASE_METHOD(Fixture, "the same token in another cluster is another request") {
  world.Ok(command);
  world.Ok(CreateCluster{.name = {"other"}});
  RegisterContainerInstance registration = World::Registration({});
  registration.cluster = {"other"};
  world.Ok(registration);
  command.cluster = {"other"};
  command.fingerprint = "f2";

  CHECK(world.Ok(command).tasks.size() == 2);
  CHECK(world.store.tasks.size() == 4);
  CHECK(world.store.tokens.size() == 2);
}

TEST_CASE_METHOD(Fixture, "without a token each call starts tasks of its own") {
  command.client_token = "";
  world.Ok(command);
  world.Ok(command);

  CHECK(world.store.tasks.size() == 4);
  CHECK(world.store.tokens.empty());
}

TEST_CASE_METHOD(Fixture,
                 "a call that placed some tasks uses its token up, one that placed none not") {
  RunTask filler = command;
  filler.client_token = "";
  filler.count = 3;
  const RunTask::Reply filled = world.Ok(filler);

  const RunTask::Reply some = world.Ok(command);
  CHECK(some.tasks.size() == 1);
  CHECK(some.failures.size() == 1);
  RunTask other = command;
  other.client_token = "other";
  const RunTask::Reply none = world.Ok(other);
  CHECK(none.tasks.empty());

  for (const model::TaskRecord& task : filled.tasks) world.Stop(task);
  CHECK(world.Ok(command).tasks.size() == 1);
  CHECK(world.Ok(command).failures.empty());
  CHECK(world.Ok(other).tasks.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a refused call does not use its token up") {
  RunTask wrong = command;
  wrong.group = "service:x";
  wrong.fingerprint = "f2";
  world.Refusal(wrong);

  CHECK(world.Ok(command).tasks.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a token is good for 24 hours, and then free for another request") {
  const RunTask::Reply first = world.Ok(command);
  world.now = kStart + absl::Hours(24) - absl::Seconds(1);
  CHECK(world.Ok(command).tasks[0]->id == first.tasks[0]->id);

  SECTION("whether or not it was collected") {
    world.now = kStart + absl::Hours(24);
    command.fingerprint = "f2";
    const RunTask::Reply second = world.Ok(command);
    CHECK(second.tasks.at(0)->id != first.tasks[0]->id);
    CHECK(world.Ok(command).tasks.at(0)->id == second.tasks[0]->id);
    CHECK(world.store.tokens.size() == 1);
    // The old tasks go, the new request keeps its token.
    for (const model::TaskRecord& task : first.tasks) world.Stop(task);
    world.now += absl::Hours(24) - absl::Seconds(1);
    world.Ok(Tick{});
    CHECK(world.store.tokens.size() == 1);
  }
  SECTION("and Tick collects it while its tasks live") {
    world.now = kStart + absl::Hours(24);
    world.Ok(Tick{});
    CHECK(world.store.tokens.empty());
    CHECK(world.store.tasks.size() == 2);
  }
}

TEST_CASE("a token goes with the last of its tasks, and shows those that are left") {
  World world({.stopped_tasks = absl::Hours(1)});
  world.Register({});
  RunTask command = world.Running(world.Define(Spec()), 2);
  command.client_token = "token";
  const RunTask::Reply first = world.Ok(command);
  world.Stop(first.tasks[0]);
  world.now += absl::Hours(1);
  world.Stop(first.tasks[1]);

  world.Ok(Tick{});
  REQUIRE(world.Ok(command).tasks.size() == 1);
  CHECK(world.Ok(command).tasks[0]->id == first.tasks[1]->id);

  world.now += absl::Hours(1);
  world.Ok(Tick{});
  CHECK(world.store.tokens.empty());
  CHECK(world.Ok(command).tasks.size() == 2);
}

}  // namespace berth::scheduler

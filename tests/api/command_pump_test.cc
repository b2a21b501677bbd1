// Commands that the server gives itself are never lost.
#include "api/command_pump.h"

#include <atomic>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "tests/api/scripted_store.h"

namespace berth::api {
namespace {

class NoEffects : public EffectSink {
 public:
  void Deliver(scheduler::Effect) override {}
  void Observe(const model::Change&) override {}
};

struct Fixture {
  Fixture(LoopLimits loop_limits, PumpLimits pump_limits)
      : loop({.state = scheduler::State(),
              .ids = ids,
              .store = store,
              .effects = effects,
              .metrics = metrics},
             loop_limits),
        pump(io.get_executor(), loop, pump_limits),
        thread([this] { io.run(); }) {}
  ~Fixture() {
    store.Release();
    pump.Stop();
    loop.Stop();
    io.stop();
    thread.join();
  }
  void Push(int count) {
    for (int i = 0; i < count; ++i) {
      scheduler::CreateCluster command{.name = {"c" + std::to_string(next++)}};
      pump.Push(std::move(command), [this](const auto& reply) { done += reply.ok() ? 1 : 1000; });
    }
  }
  void AwaitDone(int count) {
    while (done < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ScriptedStore store;
  NoEffects effects;
  Metrics metrics;
  model::RandomIdSource ids{model::Rng(1)};
  net::io_context io;
  net::executor_work_guard<net::io_context::executor_type> work{io.get_executor()};
  ClusterLoop loop;
  CommandPump pump;
  std::atomic<int> done = 0;
  int next = 0;
  std::thread thread;
};

LoopLimits QuickLoop() {
  LoopLimits limits;
  limits.store_retry_first = absl::Milliseconds(1);
  limits.store_retry_max = absl::Milliseconds(2);
  return limits;
}
constexpr PumpLimits kQuickPump = {.in_flight_max = 4, .retry_delay = absl::Milliseconds(2)};

}  // namespace

TEST_CASE("only so many commands of the server's own are in the loop at a time", "[pump]") {
  Fixture f(QuickLoop(), kQuickPump);
  f.store.Hold();
  f.Push(100);
  f.store.AwaitCommit();
  CHECK(f.pump.backlog() == 96);
  CHECK(f.done == 0);

  f.store.Release();
  f.AwaitDone(100);
  CHECK(f.done == 100);
  CHECK(f.pump.backlog() == 0);
}

TEST_CASE("a full queue delays the server's own commands and loses none", "[pump]") {
  LoopLimits limits = QuickLoop();
  limits.queue_max = 2;
  Fixture f(limits, kQuickPump);

  f.Push(200);
  f.AwaitDone(200);

  CHECK(f.done == 200);
}

TEST_CASE("a failing store delays the server's own commands and loses none", "[pump]") {
  Fixture f(QuickLoop(), kQuickPump);
  f.Push(1);
  f.AwaitDone(1);
  f.store.FailWith("disk full");
  f.Push(50);
  f.store.AwaitAttempts(10);
  CHECK(f.done == 1);

  f.store.FailWith("");
  f.AwaitDone(51);
  CHECK(f.done == 51);
}

}  // namespace berth::api

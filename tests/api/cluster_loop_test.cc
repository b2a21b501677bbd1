// The loop as actions see it: Submit from coroutines, on a real scheduler.
#include "api/cluster_loop.h"

#include <future>
#include <optional>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "absl/synchronization/notification.h"
#include "model/errors.h"
#include "tests/api/scripted_store.h"

namespace berth::api {
namespace {

using scheduler::CreateCluster;
using scheduler::DescribeClusters;

class NoEffects : public EffectSink {
 public:
  void Deliver(scheduler::Effect) override {}
  void Observe(const model::Change&) override {}
};

class Fixture {
 public:
  explicit Fixture(LoopLimits limits = {})
      : loop_({.state = scheduler::State(),
               .ids = ids_,
               .store = store,
               .effects = effects_,
               .metrics = metrics_},
              limits),
        io_thread_([this] { io_.run(); }) {}
  ~Fixture() {
    store.Release();
    loop_.Stop();
    work_.reset();
    io_thread_.join();
  }

  template <class Command>
  std::future<absl::StatusOr<typename Command::Reply>> Ask(Command command) {
    return net::co_spawn(io_, loop_.Submit(std::move(command)), net::use_future);
  }
  auto Create(const std::string& name) { return Ask(CreateCluster{.name = {name}}); }
  auto Describe(const std::string& name) { return Ask(DescribeClusters{.names = {{name}}}); }

  ClusterLoop& loop() { return loop_; }
  net::io_context& io() { return io_; }

  ScriptedStore store;

 private:
  NoEffects effects_;
  Metrics metrics_;
  model::RandomIdSource ids_{model::Rng(1)};
  net::io_context io_;
  ClusterLoop loop_;
  std::optional<net::executor_work_guard<net::io_context::executor_type>> work_{io_.get_executor()};
  std::thread io_thread_;
};

template <class T>
bool IsReady(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Keeps the loop's thread busy until it is let go.
class Busy : public LoopJob {
 public:
  Busy() : LoopJob(true) {}
  Decided Decide(scheduler::State&, scheduler::Context) override {
    started.Notify();
    go_on.WaitForNotification();
    return {};
  }
  void Refuse(absl::Status) override {}
  void Release() override { released.Notify(); }

  absl::Notification started, go_on, released;
};

}  // namespace

TEST_CASE("a reply leaves only after its change is in the store", "[loop]") {
  Fixture f;
  f.store.Hold();

  auto created = f.Create("a");
  f.store.AwaitCommit();
  CHECK_FALSE(IsReady(created));
  f.store.Release();

  const auto reply = created.get();
  REQUIRE(reply.ok());
  CHECK(reply->record->name.value == "a");
  REQUIRE(f.store.batches().size() == 1);
  CHECK(std::get<model::PutCluster>(f.store.batches()[0].at(0)).record->name.value == "a");
}

TEST_CASE("a read answers at once from what is durable, though a commit hangs", "[loop]") {
  Fixture f;
  REQUIRE(f.Create("kept").get().ok());
  f.store.Hold();
  auto pending = f.Create("pending");
  f.store.AwaitCommit();

  const auto kept = f.Describe("kept").get();
  auto shows_pending = f.Describe("pending");

  REQUIRE(kept.ok());
  CHECK(kept->clusters.size() == 1);
  REQUIRE(f.Describe("kept").get().ok());  // The loop is past the read that waits.
  CHECK_FALSE(IsReady(shows_pending));
  f.store.Release();
  const auto seen = shows_pending.get();
  REQUIRE(seen.ok());
  CHECK(seen->clusters.size() == 1);
  CHECK(pending.get().ok());
}

TEST_CASE("a write is refused while the store fails, naming the cause, and taken again after",
          "[loop]") {
  LoopLimits limits;
  limits.store_retry_first = absl::Milliseconds(1);
  limits.store_retry_max = absl::Milliseconds(2);
  limits.tick_interval = absl::Hours(1);
  Fixture f(limits);
  REQUIRE(f.Create("before").get().ok());
  f.store.FailWith("disk full");
  auto caught = f.Create("caught");
  f.store.AwaitAttempts(3);

  const auto refused = f.Create("refused").get();
  REQUIRE_FALSE(refused.ok());
  CHECK(model::KindOf(refused.status()) == model::ErrorKind::kUnavailable);
  CHECK(std::string(refused.status().message()).find("disk full") != std::string::npos);
  CHECK(f.Describe("before").get().ok());
  CHECK_FALSE(IsReady(caught));

  f.store.FailWith("");
  CHECK(caught.get().ok());
  CHECK(f.loop().health().ok());
  CHECK(f.Create("after").get().ok());
  // What was refused left nothing behind.
  const auto seen = f.Describe("refused").get();
  REQUIRE(seen.ok());
  CHECK(seen->clusters.empty());
}

TEST_CASE("a read that would show an undurable change is refused after its wait", "[loop]") {
  LoopLimits limits;
  limits.read_wait_max = absl::ZeroDuration();
  limits.tick_interval = absl::Milliseconds(5);
  Fixture f(limits);
  f.store.FailWith("disk full");
  auto caught = f.Create("caught");
  f.store.AwaitAttempts(1);

  const auto seen = f.Describe("caught").get();

  REQUIRE_FALSE(seen.ok());
  CHECK(model::KindOf(seen.status()) == model::ErrorKind::kUnavailable);
  f.store.FailWith("");
  CHECK(caught.get().ok());
}

TEST_CASE("one command more than the queue holds is refused at once", "[loop]") {
  LoopLimits limits;
  limits.queue_max = 2;
  Fixture f(limits);
  Busy busy;
  REQUIRE(f.loop().Enqueue(&busy));
  busy.started.WaitForNotification();

  bool posted_done = false;
  const auto done = [&posted_done](const auto&) { posted_done = true; };
  CHECK(f.loop().Post(DescribeClusters{}, [](const auto&) {}));
  CHECK(f.loop().Post(DescribeClusters{}, [](const auto&) {}));
  CHECK(f.loop().queue_length() == 2);
  CHECK_FALSE(f.loop().Post(DescribeClusters{}, done));
  const auto refused = f.Create("a").get();

  REQUIRE_FALSE(refused.ok());
  CHECK(model::KindOf(refused.status()) == model::ErrorKind::kUnavailable);
  busy.go_on.Notify();
  busy.released.WaitForNotification();
  CHECK_FALSE(posted_done);
  // There is room again.
  while (f.loop().queue_length() > 0) std::this_thread::yield();
  CHECK(f.Create("a").get().ok());
}

TEST_CASE("stopping commits what is decided and refuses what still waits", "[loop]") {
  Fixture f;
  f.store.Hold();
  auto decided = f.Create("decided");
  f.store.AwaitCommit();
  Busy busy;
  REQUIRE(f.loop().Enqueue(&busy));
  busy.started.WaitForNotification();
  auto waits = f.Create("waits");
  while (f.loop().queue_length() == 0) std::this_thread::yield();

  std::thread stop([&] { f.loop().Stop(); });
  while (f.loop().Post(DescribeClusters{}, [](const auto&) {})) std::this_thread::yield();
  busy.go_on.Notify();
  f.store.Release();
  stop.join();

  CHECK(decided.get().ok());
  const auto refused = waits.get();
  REQUIRE_FALSE(refused.ok());
  CHECK(model::KindOf(refused.status()) == model::ErrorKind::kUnavailable);
  CHECK_FALSE(f.Create("late").get().ok());
  CHECK(f.store.batch_sizes() == std::vector<size_t>{1});
}

TEST_CASE("a caller resumes on its own executor", "[loop]") {
  Fixture f;
  auto strand = net::make_strand(f.io());
  const auto ask = [](ClusterLoop& loop, auto on) -> net::awaitable<bool> {
    CreateCluster command{.name = {"a"}};
    const auto reply = co_await loop.Submit(std::move(command));
    co_return reply.ok() && on.running_in_this_thread();
  };

  CHECK(net::co_spawn(strand, ask(f.loop(), strand), net::use_future).get());
}

TEST_CASE("waiting for the loop keeps its caller's context running", "[loop]") {
  Fixture f;
  f.store.Hold();
  net::io_context own;
  CreateCluster command{.name = {"a"}};
  auto reply = net::co_spawn(own, f.loop().Submit(std::move(command)), net::use_future);
  std::thread release([&] {
    f.store.AwaitCommit();
    f.store.Release();
  });

  own.run();  // Returns when there is no work left, and there was until the reply came.

  release.join();
  REQUIRE(IsReady(reply));
  CHECK(reply.get().ok());
}

TEST_CASE("commands of many threads at once are each answered once", "[loop]") {
  Fixture f;
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&f, &answered, t] {
      for (int i = 0; i < 200; ++i) {
        const auto name = std::to_string(t) + "-" + std::to_string(i);
        if (f.Create(name).get().ok()) ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  CHECK(answered == 800);
  size_t kept = 0;
  for (const size_t size : f.store.batch_sizes()) kept += size;
  CHECK(kept == 800);
}

}  // namespace berth::api

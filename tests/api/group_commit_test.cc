// The committer by itself: which changes share a transaction, and what waits for which.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/synchronization/mutex.h"
#include "api/committer.h"
#include "model/errors.h"
#include "tests/api/scripted_store.h"

namespace berth::api {
namespace {

// What happened, in order, and to whom.
class Log : public EffectSink {
 public:
  void Note(std::string what) {
    absl::MutexLock lock(&mutex_);
    notes_.push_back(std::move(what));
  }
  void Deliver(scheduler::Effect effect) override {
    Note("effect " + std::get<scheduler::CloseAgentChannel>(effect).instance.value);
  }
  void Observe(const model::Change&) override {}
  std::vector<std::string> notes() const {
    absl::MutexLock lock(&mutex_);
    return notes_;
  }
  void Await(size_t notes) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&] { return notes_.size() >= notes; };
    mutex_.Await(absl::Condition(&there));
  }

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::string> notes_;
};

class NotedJob : public LoopJob {
 public:
  NotedJob(Log& log, std::string name, bool reads_only)
      : LoopJob(reads_only), log_(log), name_(std::move(name)) {}
  Decided Decide(scheduler::State&, scheduler::Context) override { return {}; }
  void Refuse(absl::Status why) override { refusal_ = std::string(why.message()); }
  void Release() override {
    log_.Note(refusal_ ? name_ + " refused: " + *refusal_ : name_);
    delete this;
  }

 private:
  Log& log_;
  std::string name_;
  std::optional<std::string> refusal_;
};

struct Fixture {
  explicit Fixture(LoopLimits limits = {}) : committer(store, log, metrics, limits, 0) {}

  // A command that makes that many changes.
  void Write(const std::string& name, int changes = 1, const std::string& effect = "") {
    LoopJob::Decided decided;
    for (int i = 0; i < changes; ++i) {
      decided.changes.push_back(model::DeleteTask{static_cast<int64_t>(++newest)});
    }
    if (!effect.empty()) decided.effects.push_back(scheduler::CloseAgentChannel{{}, {effect}});
    committer.Add(new NotedJob(log, name, false), std::move(decided), newest);
  }
  void Read(const std::string& name, uint64_t saw_change) {
    committer.Add(new NotedJob(log, name, true), {.saw_change = saw_change}, newest);
  }

  ScriptedStore store;
  Log log;
  Metrics metrics;
  uint64_t newest = 0;
  Committer committer;
};

using Notes = std::vector<std::string>;

LoopLimits QuickRetries() {
  LoopLimits limits;
  limits.store_retry_first = absl::Milliseconds(1);
  limits.store_retry_max = absl::Milliseconds(2);
  return limits;
}

}  // namespace

TEST_CASE("while one transaction is synced the next gathers", "[commit]") {
  Fixture f;
  f.store.Hold();
  f.Write("first");
  f.store.AwaitCommit();

  for (int i = 0; i < 50; ++i) f.Write("later");
  CHECK(f.log.notes().empty());
  f.store.Release();
  f.committer.Stop();

  CHECK(f.store.batch_sizes() == std::vector<size_t>{1, 50});
  CHECK(f.log.notes().size() == 51);
}

TEST_CASE("changes are committed in the order in which they were decided", "[commit]") {
  Fixture f;
  f.store.Hold();
  for (int i = 0; i < 20; ++i) f.Write("write", 3);
  f.store.Release();
  f.committer.Stop();

  int64_t expected = 0;
  for (const auto& batch : f.store.batches()) {
    for (const model::Change& change : batch) {
      CHECK(std::get<model::DeleteTask>(change).sequence == ++expected);
    }
  }
  CHECK(expected == 60);
}

TEST_CASE("a transaction takes no more commands once it is full", "[commit]") {
  LoopLimits limits;
  limits.batch_changes_max = 10;
  Fixture f(limits);
  f.store.Hold();
  f.Write("first");
  f.store.AwaitCommit();

  f.Write("fits", 9);
  f.Write("at 9, still taken", 5);
  f.Write("at 14, goes to the next", 1);
  f.store.Release();
  f.committer.Stop();

  CHECK(f.store.batch_sizes() == std::vector<size_t>{1, 14, 1});
}

TEST_CASE("a read waits for the newest change that it shows and for no other", "[commit]") {
  Fixture f;
  f.Write("kept");
  f.log.Await(1);
  f.store.Hold();
  f.Write("in flight");
  f.store.AwaitCommit();
  f.Write("gathering");

  f.Read("shows nothing", 0);
  f.Read("shows what is kept", 1);
  f.Read("shows what is in flight", 2);
  f.Read("shows what gathers", 3);
  CHECK(f.log.notes() == Notes{"kept", "shows nothing", "shows what is kept"});

  f.store.LetThrough(1);
  f.log.Await(5);
  CHECK(f.log.notes() == Notes{"kept", "shows nothing", "shows what is kept", "in flight",
                               "shows what is in flight"});

  f.store.Release();
  f.committer.Stop();
  CHECK(f.log.notes().back() == "shows what gathers");
}

TEST_CASE("an effect is carried out after its commit and before the reply", "[commit]") {
  Fixture f;
  f.store.Hold();
  f.Write("write", 1, "i1");
  f.store.AwaitCommit();
  CHECK(f.log.notes().empty());

  f.store.Release();
  f.committer.Stop();

  CHECK(f.log.notes() == Notes{"effect i1", "write"});
}

TEST_CASE("a batch that failed is committed whole when the store works again", "[commit]") {
  Fixture f(QuickRetries());
  f.store.FailWith("disk full");
  f.Write("write", 3, "i1");
  f.store.AwaitAttempts(4);
  CHECK(std::string(f.committer.health().message()) == "disk full");
  CHECK(f.store.batch_sizes().empty());
  CHECK(f.log.notes().empty());

  f.store.FailWith("");
  f.log.Await(2);

  CHECK(f.committer.health().ok());
  CHECK(f.store.batch_sizes() == std::vector<size_t>{3});
  CHECK(f.log.notes() == Notes{"effect i1", "write"});
}

TEST_CASE("while the store fails, reads of what it has go on and others end in time", "[commit]") {
  LoopLimits limits = QuickRetries();
  limits.read_wait_max = absl::Seconds(5);
  limits.write_wait_max = absl::Seconds(60);
  Fixture f(limits);
  f.store.FailWith("disk full");
  f.Write("write");
  f.store.AwaitAttempts(2);

  f.Read("durable", 0);
  f.Read("undurable", 1);
  f.committer.RefuseOverdue(absl::Now() + absl::Seconds(4));
  CHECK(f.log.notes() == Notes{"durable"});

  f.committer.RefuseOverdue(absl::Now() + absl::Seconds(6));
  REQUIRE(f.log.notes().size() == 2);
  CHECK(f.log.notes()[1].find("undurable refused: ") == 0);
  CHECK(f.log.notes()[1].find("disk full") != std::string::npos);

  f.committer.RefuseOverdue(absl::Now() + absl::Seconds(61));
  REQUIRE(f.log.notes().size() == 3);
  CHECK(f.log.notes()[2].find("write refused: ") == 0);

  // What was decided is kept all the same, and nobody is answered twice.
  f.store.FailWith("");
  f.committer.Stop();
  CHECK(f.store.batch_sizes() == std::vector<size_t>{1});
  CHECK(f.log.notes().size() == 3);
}

TEST_CASE("stopping commits what was decided", "[commit]") {
  Fixture f;
  f.store.Hold();
  f.Write("one");
  f.store.AwaitCommit();
  f.Write("two");
  f.store.Release();

  f.committer.Stop();

  CHECK(f.log.notes() == Notes{"one", "two"});
  CHECK(f.store.batch_sizes() == std::vector<size_t>{1, 1});
}

TEST_CASE("stopping while the store fails refuses what is not kept", "[commit]") {
  LoopLimits limits;
  limits.store_retry_first = absl::Hours(1);  // Stop cuts the wait short
  Fixture f(limits);
  f.store.FailWith("no space");
  f.Write("one");
  f.store.AwaitAttempts(1);
  f.Write("two");

  f.committer.Stop();

  REQUIRE(f.log.notes().size() == 2);
  CHECK(f.log.notes()[0].find("one refused: ") == 0);
  CHECK(f.log.notes()[1].find("two refused: ") == 0);
  CHECK(f.store.attempts() == 2);
}

TEST_CASE("too much to commit is said, but never while the store fails", "[commit]") {
  LoopLimits limits = QuickRetries();
  limits.uncommitted_changes_max = 3;
  Fixture f(limits);
  f.store.Hold();
  f.Write("two", 2);
  f.store.AwaitCommit();
  CHECK_FALSE(f.committer.IsFull());
  f.Write("one more");
  CHECK(f.committer.IsFull());

  f.store.FailWith("disk full");
  f.store.Release();
  f.store.AwaitAttempts(2);
  f.committer.AwaitRoom(absl::InfiniteFuture());
  CHECK_FALSE(f.committer.IsFull());

  f.store.FailWith("");
  f.committer.Stop();
  CHECK(f.store.batch_sizes() == std::vector<size_t>{2, 1});
}

}  // namespace berth::api

// What happens to acknowledged commits when the disk is full, fails, or loses power.
#include "tests/storage/failing_disk.h"

#include <set>

#include <catch2/catch.hpp>

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using model::Change;
using namespace testing;  // NOLINT: the samples of this folder's tests

constexpr int64_t kTasksPerCommit = 3;
constexpr int64_t kCommits = 8;

// Commit n: its tasks, a client token for them, and an end for a task of the commit before.
std::vector<Change> Batch(int64_t n) {
  static const auto definition = Shared(FullDefinition(1));
  std::vector<Change> changes = {model::PutTaskDefinition{definition}};
  for (int64_t i = 1; i <= kTasksPerCommit; ++i) {
    changes.push_back(model::PutTask{Shared(FullTask(n * kTasksPerCommit + i, definition))});
  }
  changes.push_back(model::PutClientToken{FullClientToken(n)});
  if (n > 1) changes.push_back(model::DeleteTask{(n - 1) * kTasksPerCommit + 1});
  return changes;
}

// The numbers of the commits whose tokens are there; fails when a commit is there in part.
std::set<int64_t> CommitsIn(Store& store) {
  const absl::StatusOr<model::Records> records = store.Load();
  INFO(records.status());
  REQUIRE(records.ok());
  std::set<int64_t> tasks;
  for (const auto& task : records->tasks) tasks.insert(task->sequence);
  std::set<std::string> tokens;
  for (const auto& token : records->client_tokens) tokens.insert(token.token);
  std::set<int64_t> commits;
  for (int64_t n = 1; n <= kCommits; ++n) {
    const bool there = tokens.contains(FullClientToken(n).token);
    if (there) commits.insert(n);
    const bool next_there = tokens.contains(FullClientToken(n + 1).token);
    for (int64_t i = 1; i <= kTasksPerCommit; ++i) {
      const bool expected = there && !(i == 1 && next_there);
      REQUIRE(tasks.contains(n * kTasksPerCommit + i) == expected);
    }
  }
  return commits;
}

std::unique_ptr<Store> Open(const DataFolder& folder) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
  INFO(store.status());
  REQUIRE(store.ok());
  return *std::move(store);
}

// All commits in order, with a close in the middle, which copies the log into the data file.
// Returns what was acknowledged before the first error.
std::set<int64_t> RunUntilError(const DataFolder& folder) {
  std::set<int64_t> acknowledged;
  for (const int64_t first : {int64_t{1}, kCommits / 2 + 1}) {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
    if (!store.ok()) return acknowledged;
    for (int64_t n = first; n < first + kCommits / 2; ++n) {
      if (!(*store)->Commit(Batch(n)).ok()) return acknowledged;
      acknowledged.insert(n);
    }
  }
  return acknowledged;
}

int64_t OperationsOfWholeRun() {
  FailingDisk disk;
  const DataFolder folder(DataFolder::Kind::kMemory);
  REQUIRE(RunUntilError(folder).size() == kCommits);
  return disk.operations();
}

TEST_CASE("wherever power is lost, what was acknowledged is there and nothing is there in part",
          "[failing_disk]") {
  const int64_t operations = OperationsOfWholeRun();
  CHECK(operations > 2 * kCommits);
  for (int64_t stop = 1; stop <= operations; ++stop) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      INFO("power lost at operation " << stop << " of " << operations << ", seed " << seed);
      FailingDisk disk;
      const DataFolder folder(DataFolder::Kind::kMemory);
      model::Rng rng(seed);
      disk.LosePowerAt(stop);
      const std::set<int64_t> acknowledged = RunUntilError(folder);
      REQUIRE_FALSE(disk.has_power());

      disk.RestorePower(rng);

      const std::unique_ptr<Store> store = Open(folder);
      const std::set<int64_t> found = CommitsIn(*store);
      REQUIRE(std::includes(found.begin(), found.end(), acknowledged.begin(), acknowledged.end()));
      // At most the one that was under way.
      REQUIRE(found.size() <= acknowledged.size() + 1);
      // Committed again, as a client that got no answer would have it.
      for (int64_t n = static_cast<int64_t>(acknowledged.size()) + 1; n <= kCommits; ++n) {
        REQUIRE(store->Commit(Batch(n)).ok());
      }
      REQUIRE(CommitsIn(*store).size() == kCommits);
    }
  }
}

TEST_CASE("whichever write or sync fails, the same batch can be committed again",
          "[failing_disk]") {
  struct Case {
    std::string why;
    int code;
    absl::StatusCode status;
  };
  const auto c = GENERATE(values<Case>({
      {"a write fails", SQLITE_IOERR_WRITE, absl::StatusCode::kUnavailable},
      {"a sync fails", SQLITE_IOERR_FSYNC, absl::StatusCode::kUnavailable},
      {"the disk is full", SQLITE_FULL, absl::StatusCode::kResourceExhausted},
      {"the disk takes no writes", SQLITE_READONLY, absl::StatusCode::kPermissionDenied},
  }));
  INFO(c.why);
  int failures = 0;
  for (int64_t nth = 1;; ++nth) {
    INFO("operation " << nth);
    FailingDisk disk;
    const DataFolder folder(DataFolder::Kind::kMemory);
    const std::unique_ptr<Store> store = Open(folder);
    REQUIRE(store->Commit(Batch(1)).ok());
    const int64_t before = disk.operations();
    disk.FailOperation(nth, c.code);
    for (int64_t n = 2; n <= 3; ++n) {
      const std::set<int64_t> kept = CommitsIn(*store);
      absl::Status committed = store->Commit(Batch(n));
      if (!committed.ok()) {
        ++failures;
        CHECK(committed.code() == c.status);
        CHECK_THAT(std::string(committed.message()), Catch::Contains(folder.File()));
        CHECK(CommitsIn(*store) == kept);
        committed = store->Commit(Batch(n));
      }
      INFO(committed);
      REQUIRE(committed.ok());
    }
    REQUIRE(CommitsIn(*store).size() == 3);
    if (disk.operations() - before < nth) break;  // The failure came to nobody: all were tried.
  }
  CHECK(failures > 4);
}

TEST_CASE("a full disk is named, reads go on, and commits work again when it has room",
          "[failing_disk]") {
  FailingDisk disk;
  const DataFolder folder(DataFolder::Kind::kMemory);
  std::unique_ptr<Store> store = Open(folder);
  REQUIRE(store->Commit(Batch(1)).ok());
  disk.SetFull(true);

  for (int i = 0; i < 3; ++i) {
    const absl::Status full = store->Commit(Batch(2));
    CHECK(full.code() == absl::StatusCode::kResourceExhausted);
    CHECK_THAT(std::string(full.message()), Catch::Contains("the disk is full"));
    CHECK_THAT(std::string(full.message()), Catch::Contains(folder.File()));
  }
  CHECK(CommitsIn(*store) == std::set<int64_t>{1});

  disk.SetFull(false);
  CHECK(store->Commit(Batch(2)).ok());
  CHECK(CommitsIn(*store) == std::set<int64_t>{1, 2});
  store = nullptr;
  CHECK(CommitsIn(*Open(folder)) == std::set<int64_t>{1, 2});
}

TEST_CASE("a server starts on a full disk with all that was committed", "[failing_disk]") {
  FailingDisk disk;
  const DataFolder folder(DataFolder::Kind::kMemory);
  REQUIRE(Open(folder)->Commit(Batch(1)).ok());
  disk.SetFull(true);

  const std::unique_ptr<Store> store = Open(folder);

  CHECK(CommitsIn(*store) == std::set<int64_t>{1});
  CHECK(absl::IsResourceExhausted(store->Commit(Batch(2))));
  disk.SetFull(false);
  CHECK(store->Commit(Batch(2)).ok());
}

TEST_CASE("a commit whose sync fails is not acknowledged", "[failing_disk]") {
  FailingDisk disk;
  const DataFolder folder(DataFolder::Kind::kMemory);
  const std::unique_ptr<Store> store = Open(folder);
  disk.SetSyncFailing(true);

  const absl::Status failed = store->Commit(Batch(1));

  CHECK(failed.code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(failed.message()), Catch::Contains(folder.File()));
  disk.SetSyncFailing(false);
  CHECK(store->Commit(Batch(1)).ok());
}

}  // namespace
}  // namespace berth::storage

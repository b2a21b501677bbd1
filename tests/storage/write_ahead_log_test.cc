// The write-ahead log is bounded, whatever the load and whoever reads.
#include "storage/sqlite/write_ahead_log.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/failing_disk.h"
#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using model::Change;
using namespace testing;  // NOLINT: the samples of this folder's tests

constexpr uintmax_t kPageBytes = 4096 + 24;  // with the log's header of a page
constexpr uintmax_t kCheckpointBytes = sqlite::kCheckpointPages * kPageBytes;
constexpr uintmax_t kRestartBytes = sqlite::kRestartPages * kPageBytes;
constexpr uintmax_t kBatchBytes = 1 << 20;

uintmax_t LogBytes(const DataFolder& folder) {
  return std::filesystem::file_size(folder.File() + "-wal");
}

std::unique_ptr<Store> Open(const DataFolder& folder) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
  REQUIRE(store.ok());
  return *std::move(store);
}

// About kBatchBytes, over the same record each time: the data stays small.
std::vector<Change> BigBatch(int64_t n) {
  model::TaskDefinition definition = FullDefinition(1);
  definition.document = std::make_shared<const std::string>(kBatchBytes, 'a' + n % 26);
  return {model::PutTaskDefinition{Shared(definition)}};
}

TEST_CASE("under constant load the log stays within its limit", "[write_ahead_log]") {
  const DataFolder folder(DataFolder::Kind::kMemory);
  const std::unique_ptr<Store> store = Open(folder);

  for (int64_t n = 0; n < 30; ++n) {
    REQUIRE(store->Commit(BigBatch(n)).ok());
    REQUIRE(LogBytes(folder) <= kCheckpointBytes + 2 * kBatchBytes);
  }
}

TEST_CASE("batches larger than the limit leave it behind no further than two of them",
          "[write_ahead_log]") {
  const DataFolder folder;
  const std::unique_ptr<Store> store = Open(folder);
  std::vector<Change> batch;
  constexpr int kDefinitions = 10;
  for (int64_t sequence = 1; sequence <= kDefinitions; ++sequence) {
    model::TaskDefinition definition = FullDefinition(sequence);
    definition.document = std::make_shared<const std::string>(kBatchBytes, 'x');
    batch.push_back(model::PutTaskDefinition{Shared(definition)});
  }

  for (int n = 0; n < 6; ++n) {
    REQUIRE(store->Commit(batch).ok());
    REQUIRE(LogBytes(folder) <= kCheckpointBytes + 2 * kDefinitions * (kBatchBytes * 11 / 10));
  }
}

TEST_CASE("a reader that stays holds the log back only while it is there, and stops no commit",
          "[write_ahead_log]") {
  const DataFolder folder;
  const std::unique_ptr<Store> store = Open(folder);
  REQUIRE(store->Commit(BigBatch(0)).ok());
  Shell shell(folder.File());
  shell.Query("BEGIN");
  shell.Query("SELECT count(*) FROM tasks");

  for (int64_t n = 0; n < 20; ++n) REQUIRE(store->Commit(BigBatch(n)).ok());
  CHECK(LogBytes(folder) > kCheckpointBytes + 2 * kBatchBytes);
  shell.Query("COMMIT");
  const uintmax_t while_reading = LogBytes(folder);
  for (int64_t n = 0; n < 30; ++n) REQUIRE(store->Commit(BigBatch(n)).ok());

  CHECK(LogBytes(folder) <= while_reading + kCheckpointBytes + 2 * kBatchBytes);
}

// Two connections of which at any moment one is within a transaction, and neither for long.
class ReadersWithoutGap {
 public:
  explicit ReadersWithoutGap(const std::string& file) {
    for (sqlite3*& reader : readers_) {
      REQUIRE(sqlite3_open(file.c_str(), &reader) == SQLITE_OK);
      sqlite3_busy_timeout(reader, 2000);
    }
    // No assertion on this thread: Catch2's are for one alone.
    thread_ = std::thread([this] {
      Run(readers_[0], "BEGIN; SELECT count(*) FROM tasks");
      for (int turn = 0; !stopped_; turn = 1 - turn) {
        Run(readers_[1 - turn], "BEGIN; SELECT count(*) FROM tasks");
        Run(readers_[turn], "COMMIT");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ReadersWithoutGap(const ReadersWithoutGap&) = delete;
  ReadersWithoutGap& operator=(const ReadersWithoutGap&) = delete;
  ~ReadersWithoutGap() {
    stopped_ = true;
    thread_.join();
    for (sqlite3* reader : readers_) sqlite3_close(reader);
  }

  int reads() const { return reads_; }

 private:
  void Run(sqlite3* reader, const char* sql) {
    if (sqlite3_exec(reader, sql, nullptr, nullptr, nullptr) == SQLITE_OK) ++reads_;
  }

  std::array<sqlite3*, 2> readers_ = {};
  std::atomic<bool> stopped_ = false;
  std::atomic<int> reads_ = 0;
  std::thread thread_;
};

TEST_CASE("readers that follow each other without a gap do not keep the log from starting anew",
          "[write_ahead_log]") {
  const DataFolder folder;
  const std::unique_ptr<Store> store = Open(folder);
  REQUIRE(store->Commit(BigBatch(0)).ok());
  const ReadersWithoutGap readers(folder.File());

  uintmax_t largest = 0;
  constexpr int64_t kBatches = 3 * kRestartBytes / kBatchBytes;
  for (int64_t n = 0; n < kBatches; ++n) {
    REQUIRE(store->Commit(BigBatch(n)).ok());
    largest = std::max(largest, LogBytes(folder));
  }

  CHECK(readers.reads() > 0);
  CHECK(largest <= kRestartBytes + kCheckpointBytes + 2 * kBatchBytes);
}

TEST_CASE("while the log cannot be copied nothing more is written, and then all goes on",
          "[write_ahead_log]") {
  FailingDisk disk;
  const DataFolder folder(DataFolder::Kind::kMemory);
  const std::unique_ptr<Store> store = Open(folder);
  int64_t n = 0;
  while (LogBytes(folder) + 2 * kBatchBytes < kCheckpointBytes) {
    REQUIRE(store->Commit(BigBatch(++n)).ok());
  }
  // Somewhere within the next commits the log is copied, which takes more operations than a commit
  // alone; the one after the commit's own fails.
  bool failed = false;
  while (!failed) {
    REQUIRE(n < 20);
    const int64_t before = disk.operations();
    REQUIRE(store->Commit(BigBatch(++n)).ok());
    const int64_t per_commit = disk.operations() - before;
    disk.FailOperation(per_commit + 2, SQLITE_IOERR_WRITE);
    REQUIRE(store->Commit(BigBatch(++n)).ok());
    failed = disk.operations() - before > 2 * per_commit + 1;
  }

  disk.SetSyncFailing(true);
  const uintmax_t stuck = LogBytes(folder);
  for (int i = 0; i < 3; ++i) {
    const absl::Status refused = store->Commit(BigBatch(n + 1));
    CHECK(refused.code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(refused.message()),
               Catch::Contains("cannot copy the write-ahead log into " + folder.File()));
    CHECK(LogBytes(folder) == stuck);
  }
  disk.SetSyncFailing(false);
  CHECK(store->Commit(BigBatch(n + 1)).ok());
}

TEST_CASE("a store that is closed leaves one file with everything in it", "[write_ahead_log]") {
  const DataFolder folder;
  REQUIRE(Open(folder)->Commit(BigBatch(1)).ok());

  CHECK_FALSE(std::filesystem::exists(folder.File() + "-wal"));
  std::filesystem::copy_file(folder.File(), folder.path() / "copy.db");
  CHECK(
      Shell((folder.path() / "copy.db").string()).Query("SELECT count(*) FROM task_definitions") ==
      std::vector<std::string>{"1"});
}

}  // namespace
}  // namespace berth::storage

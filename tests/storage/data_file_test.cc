// Which files the SQLite store opens, and what it says of those it does not.
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "storage/sqlite/migrations.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using Catch::Contains;
using namespace testing;  // NOLINT: the samples of this folder's tests

absl::Status OpenError(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(path);
  REQUIRE_FALSE(store.ok());
  return store.status();
}

TEST_CASE("a second server is kept off a data file, however its path is written", "[data_file]") {
  const DataFolder folder;
  absl::StatusOr<std::unique_ptr<Store>> first = OpenSqliteStore(folder.File());
  REQUIRE(first.ok());
  std::filesystem::create_symlink(folder.File(), folder.path() / "link.db");
  std::filesystem::create_directory(folder.path() / "sub");
  const auto path =
      GENERATE(values<std::string>({"berth.db", "link.db", "./berth.db", "sub/../berth.db"}));
  INFO(path);

  const absl::Status refused = OpenError((folder.path() / path).string());

  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(refused.message()), Contains(folder.File() + " is in use"));
  CHECK_THAT(std::string(refused.message()), Contains(std::to_string(getpid())));

  // The refused one has not broken the lock, and closing the first gives it back.
  CHECK_FALSE(OpenSqliteStore(folder.File()).ok());
  *first = nullptr;
  CHECK(OpenSqliteStore(folder.File()).ok());
}

TEST_CASE("a file of a newer berth is refused and left as it was", "[data_file]") {
  const DataFolder folder;
  REQUIRE(OpenSqliteStore(folder.File()).ok());
  const auto newer = static_cast<int64_t>(sqlite::Migrations().size()) + 1;
  Shell(folder.File()).Query("PRAGMA user_version = " + std::to_string(newer));

  const absl::Status refused = OpenError(folder.File());

  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(refused.message()),
             Contains(folder.File() + " has schema version " + std::to_string(newer)) &&
                 Contains("run the newer berth"));
  CHECK(Shell(folder.File()).Query("PRAGMA user_version") ==
        std::vector<std::string>{std::to_string(newer)});
}

TEST_CASE("another program's database is refused and left as it was", "[data_file]") {
  const auto sql =
      GENERATE(values<std::string>({"CREATE TABLE theirs (x)", "PRAGMA application_id = 7",
                                    "CREATE TABLE theirs (x); PRAGMA user_version = 1"}));
  INFO(sql);
  const DataFolder folder;
  Shell(folder.File()).Query(sql);

  const absl::Status refused = OpenError(folder.File());

  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(refused.message()), Contains(folder.File() + " is an SQLite database of "
                                                                      "another program"));
  CHECK(Shell(folder.File())
            .Query("SELECT count(*) FROM sqlite_schema WHERE name = 'task_records'") ==
        std::vector<std::string>{"0"});
}

TEST_CASE("a file that is no database is refused by name", "[data_file]") {
  const DataFolder folder;
  std::ofstream(folder.File()) << std::string(8192, 'x');

  const absl::Status refused = OpenError(folder.File());

  CHECK(refused.code() == absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(refused.message()),
             Contains(folder.File()) && Contains("not an SQLite database"));
}

TEST_CASE("a path that cannot be a data file is refused by name", "[data_file]") {
  const DataFolder folder;
  struct Case {
    std::string path;
    std::string said;
  };
  const auto c = GENERATE(values<Case>({{"", "it is empty"},
                                        {"missing/berth.db", "its folder is not there"},
                                        {".", "is a folder"}}));
  INFO(c.path);

  const absl::Status refused = OpenError(c.path.empty() ? "" : (folder.path() / c.path).string());

  CHECK_THAT(std::string(refused.message()), Contains(c.said));
}

TEST_CASE("SQLite's special names are plain file names", "[data_file]") {
  const DataFolder folder;
  const auto name = GENERATE(values<std::string>({":memory:", "file:x?mode=memory", "100% ?#.db"}));
  const std::string path = (folder.path() / name).string();

  REQUIRE(OpenSqliteStore(path).ok());

  CHECK(std::filesystem::is_regular_file(path));
}

TEST_CASE("only its owner may read a data file", "[data_file]") {
  const DataFolder folder;
  const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
  REQUIRE(store.ok());
  REQUIRE((*store)->Commit(std::vector<model::Change>{model::PutFamily{FullFamily(1)}}).ok());

  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    INFO(suffix);
    struct stat file = {};
    REQUIRE(stat((folder.File() + suffix).c_str(), &file) == 0);
    CHECK((file.st_mode & 0777) == 0600);
  }
}

TEST_CASE("a commit waits for a shell that writes, and says so when it waits too long",
          "[data_file]") {
  const DataFolder folder;
  const absl::StatusOr<std::unique_ptr<Store>> store =
      OpenSqliteStore(folder.File(), {.busy_wait = absl::Milliseconds(50)});
  REQUIRE(store.ok());
  const std::vector<model::Change> batch = {model::PutFamily{FullFamily(1)}};
  Shell shell(folder.File());
  shell.Query("BEGIN IMMEDIATE");

  const absl::Status busy = (*store)->Commit(batch);

  CHECK(busy.code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(busy.message()),
             Contains(folder.File()) && Contains("another program keeps it locked"));
  shell.Query("ROLLBACK");
  CHECK((*store)->Commit(batch).ok());
}

}  // namespace
}  // namespace berth::storage

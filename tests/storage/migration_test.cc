// Files of every earlier version are upgraded.
//
// fixtures/version_NNNN.sql is a whole file of that version as SQL, made by the berth that had it:
//   sqlite3 berth.db .dump, and the user_version and application_id
// (the hidden test "print the fixture of this version" prints it). A new migration therefore needs
// the fixture of the version before it, which is already there, and one of its own.
#include <fstream>
#include <iostream>
#include <sstream>

#include <catch2/catch.hpp>

#include "absl/strings/str_format.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"
#include "tests/support/source_dir.h"

namespace berth::storage {
namespace {

using namespace testing;  // NOLINT: the samples of this folder's tests

const auto kLatest = static_cast<int64_t>(sqlite::Migrations().size());

std::filesystem::path FixturePath(int64_t version) {
  return berth::testing::SourceDir() / "tests/storage/fixtures" /
         absl::StrFormat("version_%04d.sql", version);
}

std::string Fixture(int64_t version) {
  std::ifstream file(FixturePath(version));
  INFO("there must be a fixture for each version: " << FixturePath(version));
  REQUIRE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void MakeFile(const DataFolder& folder, int64_t version) {
  Shell(folder.File()).Query(Fixture(version));
}

std::vector<std::string> Schema(const DataFolder& folder) {
  return Shell(folder.File())
      .Query("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name");
}

sqlite::Connection Connect(const DataFolder& folder) {
  absl::StatusOr<sqlite::Connection> connection =
      sqlite::Connection::Open(folder.File(), absl::Seconds(1));
  REQUIRE(connection.ok());
  return *std::move(connection);
}

// What a fixture holds, as this berth understands it. Where a later version adds a member, records
// of the versions before it have the member's default: take it back here, by version.
model::Records ExpectedRecords(int64_t version) {
  REQUIRE(version >= 1);
  model::Records records;
  const auto definition = std::make_shared<model::TaskDefinition>(FullDefinition(1));
  records.clusters.push_back(std::make_shared<model::Cluster>(FullCluster(1)));
  records.families.push_back(FullFamily(1));
  records.definitions.push_back(definition);
  records.instances.push_back(std::make_shared<model::ContainerInstance>(FullInstance(1)));
  records.tasks.push_back(std::make_shared<model::Task>(FullTask(1, definition)));
  records.client_tokens.push_back(FullClientToken(1));
  if (version < 2) {
    records.clusters[0]->deleted_at = absl::InfinitePast();
    definition->delete_requested_at = absl::InfinitePast();
    records.instances[0]->registered_by = "";
    records.tasks[0]->protected_until = absl::InfinitePast();
    return records;
  }
  records.account_settings.push_back(FullAccountSetting(1));
  records.access_keys.push_back(std::make_shared<model::AccessKey>(FullAccessKey(1)));
  return records;
}

std::vector<model::Change> ToChanges(const model::Records& records) {
  return {model::PutCluster{records.clusters[0]},
          model::PutFamily{records.families[0]},
          model::PutTaskDefinition{records.definitions[0]},
          model::PutInstance{records.instances[0]},
          model::PutTask{records.tasks[0]},
          model::PutClientToken{records.client_tokens[0]},
          model::PutAccountSetting{records.account_settings[0]},
          model::PutAccessKey{records.access_keys[0]}};
}

TEST_CASE("a file of each version is upgraded with all its records, and can be written",
          "[migration]") {
  for (int64_t version = 1; version <= kLatest; ++version) {
    INFO("from version " << version);
    const DataFolder folder;
    MakeFile(folder, version);

    const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());

    INFO(store.status());
    REQUIRE(store.ok());
    const absl::StatusOr<model::Records> records = (*store)->Load();
    INFO(records.status());
    REQUIRE(records.ok());
    CHECK(Describe(*records) == Describe(ExpectedRecords(version)));
    CHECK((*store)->Commit(ToChanges(ExpectedRecords(kLatest))).ok());
    CHECK(Shell(folder.File()).Query("PRAGMA user_version") ==
          std::vector<std::string>{std::to_string(kLatest)});
  }
}

TEST_CASE("a file that was upgraded has the schema of a new one", "[migration]") {
  const DataFolder fresh;
  REQUIRE(OpenSqliteStore(fresh.File()).ok());
  for (int64_t version = 1; version <= kLatest; ++version) {
    INFO("from version " << version);
    const DataFolder folder;
    MakeFile(folder, version);

    REQUIRE(OpenSqliteStore(folder.File()).ok());

    CHECK(Schema(folder) == Schema(fresh));
  }
}

TEST_CASE("a migration still makes the schema that it made when it was released", "[migration]") {
  for (int64_t version = 1; version <= kLatest; ++version) {
    INFO("version " << version << ": add a migration instead of changing an old one");
    const DataFolder migrated;
    const DataFolder released;
    MakeFile(released, version);
    sqlite::Connection connection = Connect(migrated);

    REQUIRE(sqlite::Migrate(connection, sqlite::Migrations().first(version)).ok());

    CHECK(Schema(migrated) == Schema(released));
  }
}

TEST_CASE("a migration that fails leaves the file at the version before it", "[migration]") {
  const DataFolder folder;
  sqlite::Connection connection = Connect(folder);
  const std::vector<const char*> broken = {
      "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);",
      "ALTER TABLE a ADD COLUMN y TEXT;",
      "UPDATE a SET x = 2; CREATE TABLE b (z INTEGER) STRICT; INSERT INTO missing VALUES (1);"};

  const absl::Status failed = sqlite::Migrate(connection, broken);

  CHECK_THAT(std::string(failed.message()), Catch::Contains("upgrade to schema version 3") &&
                                                Catch::Contains("no such table: missing"));
  Shell shell(folder.File());
  CHECK(shell.Query("PRAGMA user_version") == std::vector<std::string>{"2"});
  CHECK(shell.Query("SELECT x, y FROM a") == std::vector<std::string>{"1|"});
  CHECK(shell.Query("SELECT name FROM sqlite_schema") == std::vector<std::string>{"a"});

  // And goes on from there.
  const std::vector<const char*> mended = {broken[0], broken[1], "UPDATE a SET x = 3;"};
  CHECK(sqlite::Migrate(connection, mended).ok());
  CHECK(shell.Query("SELECT x FROM a") == std::vector<std::string>{"3"});
}

TEST_CASE("a migration that leaves a reference to nothing is taken back", "[migration]") {
  const DataFolder folder;
  sqlite::Connection connection = Connect(folder);
  const std::vector<const char*> steps = {
      "CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT;"
      "CREATE TABLE b (x INTEGER REFERENCES a (x)) STRICT; INSERT INTO b VALUES (5);"};

  const absl::Status failed = sqlite::Migrate(connection, steps);

  CHECK(failed.code() == absl::StatusCode::kDataLoss);
  CHECK(Shell(folder.File()).Query("SELECT count(*) FROM sqlite_schema") ==
        std::vector<std::string>{"0"});
}

TEST_CASE("a file at the latest version is not written to when it is opened", "[migration]") {
  const DataFolder folder;
  REQUIRE(OpenSqliteStore(folder.File()).ok());
  const auto before = std::filesystem::last_write_time(folder.File());

  REQUIRE(OpenSqliteStore(folder.File()).ok());

  CHECK(std::filesystem::last_write_time(folder.File()) == before);
}

// storage_test "print the fixture of this version" > version_NNNN.sql
TEST_CASE("print the fixture of this version", "[.fixture]") {
  const DataFolder folder;
  {
    const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
    REQUIRE(store.ok());
    REQUIRE((*store)->Commit(ToChanges(ExpectedRecords(kLatest))).ok());
  }
  Shell shell(folder.File());
  for (const std::string& sql :
       shell.Query("SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")) {
    std::cout << sql << "\n";
  }
  for (const std::string& table :
       shell.Query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")) {
    // quote() stops at a zero byte, of which the samples have some: such text goes as hex.
    std::string columns;
    for (const std::string& column :
         shell.Query("SELECT name FROM pragma_table_info('" + table + "')")) {
      if (!columns.empty()) columns += " || ', ' || ";
      columns += absl::StrFormat(
          "iif(typeof(%1$s) = 'text' AND instr(%1$s, char(0)) > 0, "
          "'CAST(' || quote(CAST(%1$s AS BLOB)) || ' AS TEXT)', quote(%1$s))",
          column);
    }
    for (const std::string& values : shell.Query("SELECT " + columns + " FROM " + table)) {
      std::cout << "INSERT INTO " << table << " VALUES (" << values << ");\n";
    }
  }
  std::cout << "PRAGMA user_version = " << kLatest << ";\n"
            << "PRAGMA application_id = " << sqlite::kApplicationId << ";\n";
}

}  // namespace
}  // namespace berth::storage

// What an operator's slip or a broken disk has left in a row is named, not obeyed and not fatal.
#include <catch2/catch.hpp>

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using Catch::Contains;
using namespace testing;  // NOLINT: the samples of this folder's tests

struct Case {
  std::string sql;
  std::string row;
  std::string what;
};

TEST_CASE("a row that cannot be read is named with its file and what is wrong", "[damaged_row]") {
  const auto c = GENERATE(values<Case>({
      {"UPDATE task_records SET last_status = 'RUNING'", "row 5 of task_records",
       "last_status is \"RUNING\""},
      {"UPDATE task_records SET desired_status = ''", "row 5 of task_records",
       "desired_status is \"\""},
      {"UPDATE task_records SET stop_code = 'Why'", "row 5 of task_records",
       "stop_code is \"Why\""},
      {"UPDATE task_records SET launch_type = 'EC3'", "row 5 of task_records",
       "launch_type is \"EC3\""},
      {"UPDATE task_records SET definition = 77", "row 5 of task_records",
       "no row 77 in task_definition_records"},
      {"UPDATE task_records SET details = '{'", "row 5 of task_records", "details is not JSON"},
      {"UPDATE task_records SET details = ''", "row 5 of task_records", "details is not JSON"},
      {"UPDATE task_records SET details = '[]'", "row 5 of task_records",
       "details is not an object"},
      {"UPDATE task_records SET details = '{\"containers\": 3}'", "row 5 of task_records",
       "details.containers is not an array"},
      {"UPDATE task_records SET details = '{\"containers\": [3]}'", "row 5 of task_records",
       "details.containers[0] is not an object"},
      {"UPDATE task_records SET details = '{\"containers\": [{\"exit_code\": \"0\"}]}'",
       "row 5 of task_records", "details.containers[0].exit_code is not a whole number"},
      {"UPDATE task_records SET details = '{\"containers\": [{\"exit_code\": 1e30}]}'",
       "row 5 of task_records", "details.containers[0].exit_code is not a whole number"},
      {"UPDATE task_records SET details = '{\"containers\": [{\"last_status\": \"UP\"}]}'",
       "row 5 of task_records", "details.containers[0].last_status is \"UP\""},
      {"UPDATE task_records SET details = '{\"containers\": [{\"gpu_ids\": [1]}]}'",
       "row 5 of task_records", "gpu_ids has an element that is not a string"},
      {"UPDATE task_records SET details = '{\"containers\": [{\"network_bindings\": "
       "[{\"protocol\": \"sctp\"}]}]}'",
       "row 5 of task_records", "network_bindings[0].protocol is \"sctp\""},
      {"UPDATE task_records SET details = '{\"connectivity\": 1}'", "row 5 of task_records",
       "details.connectivity is neither true nor false"},
      {"UPDATE task_records SET details = '{\"client_token\": null}'", "row 5 of task_records",
       "details.client_token is not a string"},
      {"UPDATE task_records SET details = replace(hex(zeroblob(200000)), '00', '[')",
       "row 5 of task_records", "details is not JSON"},
      {"DELETE FROM task_definition_records", "row 5 of task_records",
       "no row 1 in task_definition_records"},
      {"UPDATE task_definition_records SET status = 'GONE'", "row 1 of task_definition_records",
       "status is \"GONE\""},
      {"UPDATE task_definition_records SET tags = '{}'", "row 1 of task_definition_records",
       "tags is not an array"},
      {"UPDATE container_instance_records SET status = 'UP'", "row 1 of container_instance_records",
       "status is \"UP\""},
      {"UPDATE container_instance_records SET details = '{\"reserved_tcp_ports\": [\"22\"]}'",
       "row 1 of container_instance_records",
       "reserved_tcp_ports has an element that is not a whole number"},
      {"UPDATE container_instance_records SET details = '{\"version_info\": []}'",
       "row 1 of container_instance_records", "details.version_info is not an object"},
      {"UPDATE cluster_records SET status = 'x'", "row 1 of cluster_records", "status is \"x\""},
      {"UPDATE cluster_records SET tags = '[1]'", "row 1 of cluster_records", "is not an object"},
      {"UPDATE client_token_records SET tasks = '[1]'", "row 1 of client_token_records",
       "tasks has an element that is not a string"},
      {"INSERT INTO client_token_records SELECT 9, cluster, token, '', '[]', 0 "
       "FROM client_token_records",
       "row 9 of client_token_records", "an earlier row"},
      {"UPDATE access_key_records SET role = 'root'", "row 1 of access_key_records",
       "role is \"root\""},
  }));
  INFO(c.sql);
  const DataFolder folder;
  const auto definition = Shared(FullDefinition(1));
  {
    const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
    REQUIRE(store.ok());
    REQUIRE((*store)
                ->Commit(std::vector<model::Change>{model::PutCluster{Shared(FullCluster(1))},
                                                    model::PutTaskDefinition{definition},
                                                    model::PutInstance{Shared(FullInstance(1))},
                                                    model::PutTask{Shared(FullTask(5, definition))},
                                                    model::PutClientToken{FullClientToken(1)},
                                                    model::PutAccessKey{Shared(FullAccessKey(1))}})
                .ok());
  }
  Shell(folder.File()).Query(c.sql);

  const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
  const absl::Status status = store.ok() ? (*store)->Load().status() : store.status();

  CHECK(status.code() == absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()),
             Contains(folder.File()) && Contains(c.row) && Contains(c.what));
}

TEST_CASE("a row of the wrong type is refused by the table itself", "[damaged_row]") {
  const DataFolder folder;
  REQUIRE(OpenSqliteStore(folder.File()).ok());
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(folder.File().c_str(), &db) == SQLITE_OK);

  CHECK(sqlite3_exec(db, "INSERT INTO family_records VALUES ('f', 'many')", nullptr, nullptr,
                     nullptr) == SQLITE_CONSTRAINT);

  sqlite3_close(db);
}

}  // namespace
}  // namespace berth::storage

// `sqlite3 berth.db` is a way to look at a cluster, while the server runs.
#include <fstream>

#include <catch2/catch.hpp>

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"
#include "tests/support/source_dir.h"

namespace berth::storage {
namespace {

using Rows = std::vector<std::string>;
using namespace testing;  // NOLINT: the samples of this folder's tests

// The one that registered FullInstance.
model::AccessKey GoodKey() {
  model::AccessKey key = FullAccessKey(2);
  key.id = "AKIAAGENT";
  key.user = "operator";
  key.role = model::KeyRole::kAdmin;
  key.revoked_at = absl::InfinitePast();
  return key;
}

// One instance of two GPUs: a stopped task that used both, and a running one on GPU-1.
class SampleCluster {
 public:
  SampleCluster() : store_(Open()) {
    auto definition = Shared(FullDefinition(3));
    model::Task running = PlainTask(2, definition);
    running.containers[0].gpu_ids = {{.value = "GPU-1"}};
    REQUIRE(
        store_
            ->Commit(std::vector<model::Change>{
                model::PutCluster{Shared(FullCluster(1))}, model::PutFamily{FullFamily(1)},
                model::PutTaskDefinition{definition}, model::PutInstance{Shared(FullInstance(1))},
                model::PutTask{Shared(FullTask(1, definition))}, model::PutTask{Shared(running)},
                model::PutClientToken{FullClientToken(1)},
                model::PutAccountSetting{FullAccountSetting(1)},
                model::PutAccessKey{Shared(FullAccessKey(1))},
                model::PutAccessKey{Shared(GoodKey())}})
            .ok());
  }

  Rows Query(const std::string& sql) { return Shell(folder_.File()).Query(sql); }

 private:
  std::unique_ptr<Store> Open() {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder_.File());
    REQUIRE(store.ok());
    return *std::move(store);
  }

  DataFolder folder_;
  std::unique_ptr<Store> store_;
};

TEST_CASE("the views show statuses as ECS spells them and times that can be read",
          "[operator_queries]") {
  SampleCluster cluster;

  CHECK(cluster.Query("SELECT id, definition, last_status, stop_code, gpu_ids, created_at, "
                      "started_at, stopped_at FROM tasks") ==
        Rows{"00000000000000000000000000000001|train:3|STOPPED|InfrastructureHealth|GPU-1,GPU-2|"
             "2026-09-21T14:13:30.123Z|2026-09-21T14:13:34.123Z|2026-09-21T14:13:37.123Z",
             "00000000000000000000000000000002|train:3|RUNNING||GPU-1|2026-09-21T14:13:20.123Z|"
             "2026-09-21T14:13:22.123Z|"});
  CHECK(cluster.Query("SELECT name, last_status, health_status, exit_code, gpu_ids "
                      "FROM containers") ==
        Rows{"main|STOPPED|UNHEALTHY|137|GPU-1,GPU-2", "side|PENDING|UNKNOWN|0|GPU-1",
             "|PENDING|UNKNOWN||", "main|RUNNING|UNKNOWN||GPU-1"});
  CHECK(cluster.Query("SELECT cluster, status, cpu_units, memory_mib, gpus, agent_version, run_by, "
                      "registered_at FROM container_instances") ==
        Rows{"default|DRAINING|65536|262144|2|0.1.0|emulated|2026-09-21T14:13:24.123Z"});
  CHECK(cluster.Query("SELECT id, memory_mib FROM gpus") == Rows{"GPU-1|22587", "GPU-2|0"});
  CHECK(cluster.Query("SELECT definition, status, document ->> '$.memory', delete_requested_at "
                      "FROM task_definitions") ==
        Rows{"train:3|DELETE_IN_PROGRESS|2.50 GB|2026-09-21T14:13:51.123Z"});
  CHECK(cluster.Query("SELECT name, status, created_at, deleted_at, tags ->> '$[0].key' "
                      "FROM clusters") ==
        Rows{"cluster-1|INACTIVE|2026-09-21T14:13:21.123Z|2026-09-21T14:13:50.123Z|team"});
  CHECK(cluster.Query("SELECT name, last_revision FROM families") == Rows{"family-1|101"});
  CHECK(cluster.Query("SELECT token, json_array_length(tasks), created_at FROM client_tokens") ==
        Rows{"token-1|2|2026-09-21T14:13:40.123Z"});
  CHECK(cluster.Query("SELECT protected_until FROM tasks WHERE protected_until IS NOT NULL") ==
        Rows{"2026-09-21T14:13:52.123Z"});
  CHECK(cluster.Query("SELECT registered_by FROM container_instances") == Rows{"AKIAAGENT"});
  CHECK(cluster.Query("SELECT name, value FROM account_settings") == Rows{"setting-1|enabled"});
  CHECK(cluster.Query("SELECT id, role, created_at, revoked_at FROM access_keys") ==
        Rows{"AKIA0000000000000001|agent|2026-09-21T14:13:53.123Z|2026-09-21T14:13:54.123Z",
             "AKIAAGENT|admin|2026-09-21T14:13:53.123Z|"});
}

TEST_CASE("no view shows the secret of an access key", "[operator_queries]") {
  SampleCluster cluster;

  CHECK(cluster.Query("SELECT count(*) FROM access_keys") == Rows{"2"});
  for (const std::string& row : cluster.Query("SELECT * FROM access_keys")) {
    CHECK_THAT(row, !Catch::Contains(FullAccessKey(1).sealed_secret));
  }
}

TEST_CASE("every view can be read whole", "[operator_queries]") {
  SampleCluster cluster;
  const Rows views = cluster.Query("SELECT name FROM sqlite_schema WHERE type = 'view'");

  CHECK(views.size() == 10);
  for (const std::string& view : views) {
    INFO(view);
    CHECK_FALSE(cluster.Query("SELECT * FROM " + view).empty());
  }
}

TEST_CASE("a task row is a few hundred bytes", "[operator_queries]") {
  SampleCluster cluster;
  const Rows columns = cluster.Query("SELECT name FROM pragma_table_info('task_records')");
  std::string sum = "0";
  for (const std::string& column : columns) sum += " + ifnull(length(" + column + "), 0)";

  const Rows bytes = cluster.Query("SELECT " + sum + " FROM task_records WHERE sequence = 2");

  REQUIRE(bytes.size() == 1);
  CHECK(std::stoi(bytes[0]) < 700);
}

// The ```sql blocks of the folder's README.
std::vector<std::string> ReadmeQueries() {
  const std::filesystem::path readme = berth::testing::SourceDir() / "storage/README.md";
  std::ifstream file(readme);
  REQUIRE(file.is_open());
  std::vector<std::string> queries;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```sql") {
      inside = true;
      queries.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      queries.back() += line + "\n";
    }
  }
  return queries;
}

TEST_CASE("the queries in the README work", "[operator_queries]") {
  SampleCluster cluster;
  const std::vector<std::string> queries = ReadmeQueries();

  REQUIRE(queries.size() == 4);
  // What runs where.
  CHECK(cluster.Query(queries[0]) ==
        Rows{"00000000000000000000000000000002|train:3|RUNNING|000000000000000000000000000003e9|"
             "GPU-1|2026-09-21T14:13:22.123Z"});
  // How the GPUs are used.
  CHECK(cluster.Query(queries[1]) == Rows{"000000000000000000000000000003e9|GPU-1|22587|1",
                                          "000000000000000000000000000003e9|GPU-2|0|0"});
  // Why tasks stopped.
  CHECK(cluster.Query(queries[2]).size() == 1);
  // Which access keys are good.
  CHECK(cluster.Query(queries[3]) == Rows{"AKIAAGENT|operator|admin|2026-09-21T14:13:53.123Z|1"});
}

}  // namespace
}  // namespace berth::storage

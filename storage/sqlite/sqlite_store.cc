#include "storage/sqlite/sqlite_store.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "storage/sqlite/client_token_index.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/file_lock.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/row.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/sqlite/tables.h"
#include "storage/sqlite/write_ahead_log.h"

namespace berth::storage {
namespace sqlite {
namespace {

using model::Change;
using model::Records;

// Prepared once, kept under a name.
struct TableStatements {
  Statement put;
  Statement select;
  Statement remove;

  static absl::StatusOr<TableStatements> Prepare(Connection& connection, const TableSql& sql);
};

absl::StatusOr<TableStatements> TableStatements::Prepare(Connection& connection,
                                                         const TableSql& sql) {
  absl::StatusOr<Statement> put = connection.Prepare(sql.put);
  if (!put.ok()) return put.status();
  absl::StatusOr<Statement> select = connection.Prepare(sql.select);
  if (!select.ok()) return select.status();
  // Without SQL: an empty statement, which nothing runs.
  absl::StatusOr<Statement> remove = connection.Prepare(sql.remove == nullptr ? "" : sql.remove);
  if (!remove.ok()) return remove.status();
  return TableStatements{
      .put = *std::move(put), .select = *std::move(select), .remove = *std::move(remove)};
}

struct Statements {
  TableStatements cluster;
  TableStatements family;
  TableStatements definition;
  TableStatements instance;
  TableStatements task;
  TableStatements client_token;
  TableStatements account_setting;
  TableStatements access_key;

  static absl::StatusOr<Statements> Prepare(Connection& connection);
};

absl::StatusOr<Statements> Statements::Prepare(Connection& connection) {
  absl::StatusOr<TableStatements> cluster = TableStatements::Prepare(connection, kClusterSql);
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<TableStatements> family = TableStatements::Prepare(connection, kFamilySql);
  if (!family.ok()) return family.status();
  absl::StatusOr<TableStatements> definition = TableStatements::Prepare(connection, kDefinitionSql);
  if (!definition.ok()) return definition.status();
  absl::StatusOr<TableStatements> instance = TableStatements::Prepare(connection, kInstanceSql);
  if (!instance.ok()) return instance.status();
  absl::StatusOr<TableStatements> task = TableStatements::Prepare(connection, kTaskSql);
  if (!task.ok()) return task.status();
  absl::StatusOr<TableStatements> token = TableStatements::Prepare(connection, kClientTokenSql);
  if (!token.ok()) return token.status();
  absl::StatusOr<TableStatements> setting =
      TableStatements::Prepare(connection, kAccountSettingSql);
  if (!setting.ok()) return setting.status();
  absl::StatusOr<TableStatements> key = TableStatements::Prepare(connection, kAccessKeySql);
  if (!key.ok()) return key.status();
  return Statements{.cluster = *std::move(cluster),
                    .family = *std::move(family),
                    .definition = *std::move(definition),
                    .instance = *std::move(instance),
                    .task = *std::move(task),
                    .client_token = *std::move(token),
                    .account_setting = *std::move(setting),
                    .access_key = *std::move(key)};
}

// Calls `take` for each row; the first error of either ends it.
template <class Take>
absl::Status ForEachRow(Statement& select, Take take) {
  while (true) {
    const absl::StatusOr<bool> row = select.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    if (absl::Status taken = take(select); !taken.ok()) {
      select.Reset();
      return taken;
    }
  }
}

template <class Record, class Read>
absl::Status ReadAll(Statement& select, std::vector<Record>& records, Read read) {
  return ForEachRow(select, [&](const Statement& row) -> absl::Status {
    absl::StatusOr<Record> record = read(row);
    if (!record.ok()) return record.status();
    records.push_back(*std::move(record));
    return absl::OkStatus();
  });
}

class SqliteStore final : public Store {
 public:
  SqliteStore(FileLock lock, Connection connection, Statements statements, absl::Duration busy_wait)
      : lock_(std::move(lock)),
        connection_(std::move(connection)),
        statements_(std::move(statements)),
        log_(connection_.handle(), busy_wait) {}

  // Reads which client tokens there are. Requires: nothing was committed yet.
  absl::Status IndexClientTokens();

  absl::StatusOr<Records> Load() override;
  absl::Status Commit(std::span<const Change> changes) override;

 private:
  absl::Status CommitTransaction(std::span<const Change> changes);
  absl::Status ReadRecords(Records& records);

  absl::Status Apply(const model::PutCluster& change);
  absl::Status Apply(const model::DeleteCluster& change);
  absl::Status Apply(const model::PutFamily& change);
  absl::Status Apply(const model::PutTaskDefinition& change);
  absl::Status Apply(const model::DeleteTaskDefinition& change);
  absl::Status Apply(const model::PutInstance& change);
  absl::Status Apply(const model::DeleteInstance& change);
  absl::Status Apply(const model::PutTask& change);
  absl::Status Apply(const model::DeleteTask& change);
  absl::Status Apply(const model::PutClientToken& change);
  absl::Status Apply(const model::DeleteClientToken& change);
  absl::Status Apply(const model::PutAccountSetting& change);
  absl::Status Apply(const model::DeleteAccountSetting& change);
  absl::Status Apply(const model::PutAccessKey& change);
  static absl::Status Remove(Statement& statement, int64_t sequence);

  // The error of a COMMIT that failed for a reference, with the row that has it.
  absl::Status NameDanglingRow(const absl::Status& error);
  // The status with the file's name, for errors about rows.
  absl::Status InFile(const absl::Status& status) const;

  // In this order: what is declared later goes first.
  FileLock lock_;
  Connection connection_;
  Statements statements_;
  WriteAheadLog log_;
  ClientTokenIndex client_tokens_;
};

absl::Status SqliteStore::InFile(const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kDataLoss) return status;
  return absl::DataLossError(
      absl::StrFormat("%s: %s: correct the row with the sqlite3 shell, or restore a backup",
                      FileOf(connection_.handle()), std::string(status.message())));
}

absl::Status SqliteStore::IndexClientTokens() {
  return InFile(ForEachRow(statements_.client_token.select, [&](const Statement& row) {
    const absl::StatusOr<ClientTokenRow> found = ReadClientToken(row);
    if (!found.ok()) return found.status();
    if (client_tokens_.Add(found->token.cluster, found->token.token, found->sequence)) {
      return absl::OkStatus();
    }
    return absl::DataLossError(
        absl::StrFormat("row %d of client_token_records has a cluster and token that an earlier "
                        "row has too",
                        found->sequence));
  }));
}

absl::StatusOr<Records> SqliteStore::Load() {
  // One transaction, so that all tables are of one moment.
  absl::StatusOr<Transaction> transaction =
      Transaction::Begin(connection_, Transaction::Kind::kRead);
  if (!transaction.ok()) return transaction.status();
  Records records;
  if (absl::Status read = ReadRecords(records); !read.ok()) return InFile(read);
  if (absl::Status ended = transaction->Commit(); !ended.ok()) return ended;
  return records;
}

absl::Status SqliteStore::ReadRecords(Records& records) {
  absl::Status status = ReadAll(statements_.cluster.select, records.clusters, ReadCluster);
  if (!status.ok()) return status;
  status = ReadAll(statements_.family.select, records.families, ReadFamily);
  if (!status.ok()) return status;
  status = ReadAll(statements_.definition.select, records.definitions, ReadDefinition);
  if (!status.ok()) return status;
  status = ReadAll(statements_.instance.select, records.instances, ReadInstance);
  if (!status.ok()) return status;

  DefinitionsBySequence definitions;
  definitions.reserve(records.definitions.size());
  for (const auto& definition : records.definitions) {
    definitions.emplace(definition->sequence, definition);
  }
  status = ReadAll(statements_.task.select, records.tasks,
                   [&](const Statement& row) { return ReadTask(row, definitions); });
  if (!status.ok()) return status;

  status = ReadAll(statements_.client_token.select, records.client_tokens,
                   [](const Statement& row) -> absl::StatusOr<model::ClientToken> {
                     absl::StatusOr<ClientTokenRow> found = ReadClientToken(row);
                     if (!found.ok()) return found.status();
                     return std::move(found->token);
                   });
  if (!status.ok()) return status;
  status =
      ReadAll(statements_.account_setting.select, records.account_settings, ReadAccountSetting);
  if (!status.ok()) return status;
  return ReadAll(statements_.access_key.select, records.access_keys, ReadAccessKey);
}

absl::Status SqliteStore::Commit(std::span<const Change> changes) {
  if (changes.empty()) return absl::OkStatus();
  if (absl::Status ready = log_.BeforeCommit(); !ready.ok()) return ready;
  if (absl::Status committed = CommitTransaction(changes); !committed.ok()) {
    client_tokens_.Undo();
    return committed;
  }
  client_tokens_.Keep();
  log_.AfterCommit();
  return absl::OkStatus();
}

absl::Status SqliteStore::CommitTransaction(std::span<const Change> changes) {
  absl::StatusOr<Transaction> transaction =
      Transaction::Begin(connection_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  for (const Change& change : changes) {
    absl::Status applied =
        std::visit([this](const auto& change_of_kind) { return Apply(change_of_kind); }, change);
    if (!applied.ok()) return applied;
  }
  absl::Status committed = transaction->Commit();
  if (absl::IsFailedPrecondition(committed)) return NameDanglingRow(committed);
  return committed;
}

absl::Status SqliteStore::NameDanglingRow(const absl::Status& error) {
  // The transaction is still open, so the rows are there to be looked at.
  const absl::StatusOr<int64_t> row =
      connection_.QueryInt("SELECT rowid FROM pragma_foreign_key_check('task_records') LIMIT 1");
  if (!row.ok()) return error;
  return absl::FailedPreconditionError(absl::StrFormat(
      "cannot commit to %s: the task of sequence %d would refer to a task definition that is not "
      "there",
      FileOf(connection_.handle()), *row));
}

absl::Status SqliteStore::Apply(const model::PutCluster& change) {
  BERTH_CHECK(change.record != nullptr);
  WriteCluster(statements_.cluster.put, *change.record);
  return statements_.cluster.put.Run();
}

absl::Status SqliteStore::Apply(const model::DeleteCluster& change) {
  return Remove(statements_.cluster.remove, change.sequence);
}

absl::Status SqliteStore::Apply(const model::PutFamily& change) {
  WriteFamily(statements_.family.put, change.record);
  return statements_.family.put.Run();
}

absl::Status SqliteStore::Apply(const model::PutTaskDefinition& change) {
  BERTH_CHECK(change.record != nullptr);
  WriteDefinition(statements_.definition.put, *change.record);
  return statements_.definition.put.Run();
}

absl::Status SqliteStore::Apply(const model::DeleteTaskDefinition& change) {
  return Remove(statements_.definition.remove, change.sequence);
}

absl::Status SqliteStore::Apply(const model::PutInstance& change) {
  BERTH_CHECK(change.record != nullptr);
  WriteInstance(statements_.instance.put, *change.record);
  return statements_.instance.put.Run();
}

absl::Status SqliteStore::Apply(const model::DeleteInstance& change) {
  return Remove(statements_.instance.remove, change.sequence);
}

absl::Status SqliteStore::Apply(const model::PutTask& change) {
  BERTH_CHECK(change.record != nullptr);
  Statement& put = statements_.task.put;
  WriteTask(put, *change.record);
  if (absl::Status written = put.Run(); !written.ok()) return written;
  if (put.rows_changed() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "cannot commit to %s: sequence %d of task %s belongs to another task, or to a run of another "
      "task definition",
      FileOf(connection_.handle()), change.record->sequence, change.record->id.value));
}

absl::Status SqliteStore::Apply(const model::DeleteTask& change) {
  return Remove(statements_.task.remove, change.sequence);
}

absl::Status SqliteStore::Apply(const model::PutClientToken& change) {
  const model::ClientToken& token = change.record;
  WriteClientToken(statements_.client_token.put, client_tokens_.Assign(token.cluster, token.token),
                   token);
  return statements_.client_token.put.Run();
}

absl::Status SqliteStore::Apply(const model::DeleteClientToken& change) {
  const std::optional<int64_t> sequence = client_tokens_.Release(change.cluster, change.token);
  if (!sequence) return absl::OkStatus();
  return Remove(statements_.client_token.remove, *sequence);
}

absl::Status SqliteStore::Apply(const model::PutAccountSetting& change) {
  WriteAccountSetting(statements_.account_setting.put, change.record);
  return statements_.account_setting.put.Run();
}

absl::Status SqliteStore::Apply(const model::DeleteAccountSetting& change) {
  Statement& remove = statements_.account_setting.remove;
  RowWriter(remove).Text(change.principal_arn).Text(change.name);
  return remove.Run();
}

absl::Status SqliteStore::Apply(const model::PutAccessKey& change) {
  BERTH_CHECK(change.record != nullptr);
  WriteAccessKey(statements_.access_key.put, *change.record);
  return statements_.access_key.put.Run();
}

absl::Status SqliteStore::Remove(Statement& statement, int64_t sequence) {
  statement.BindInt(1, sequence);
  return statement.Run();
}

// Absolute and without links, so that one file has one lock however it is spelled.
absl::StatusOr<std::string> ResolvePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(path, error);
  if (path.empty() || error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the data file's path \"%s\" cannot be used: %s", path,
                        path.empty() ? "it is empty" : error.message()));
  }
  if (!std::filesystem::is_directory(absolute.parent_path(), error)) {
    return absl::NotFoundError(
        absl::StrFormat("the data file %s cannot be made: its folder is not "
                        "there",
                        absolute.string()));
  }
  if (std::filesystem::is_directory(absolute, error)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the data file %s is a folder", absolute.string()));
  }
  return absolute.string();
}

absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& given_path,
                                            const SqliteOptions& options) {
  const absl::StatusOr<std::string> path = ResolvePath(given_path);
  if (!path.ok()) return path.status();
  absl::StatusOr<FileLock> lock = FileLock::Acquire(*path);
  if (!lock.ok()) return lock.status();
  absl::StatusOr<Connection> connection = Connection::Open(*path, options.busy_wait);
  if (!connection.ok()) return connection.status();
  if (absl::Status migrated = Migrate(*connection, Migrations()); !migrated.ok()) return migrated;
  // Not before: a migration may have to take a table apart.
  if (absl::Status on = connection->Execute("PRAGMA foreign_keys = ON"); !on.ok()) return on;
  absl::StatusOr<Statements> statements = Statements::Prepare(*connection);
  if (!statements.ok()) return statements.status();

  auto store = std::make_unique<SqliteStore>(*std::move(lock), *std::move(connection),
                                             *std::move(statements), options.busy_wait);
  if (absl::Status indexed = store->IndexClientTokens(); !indexed.ok()) return indexed;
  return store;
}

}  // namespace
}  // namespace sqlite

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path,
                                                       SqliteOptions options) {
  return sqlite::Open(path, options);
}

}  // namespace berth::storage

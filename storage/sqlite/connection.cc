#include "storage/sqlite/connection.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include "storage/sqlite/sqlite_error.h"

namespace berth::storage::sqlite {
namespace {

constexpr mode_t kFileMode = 0600;

// Beyond this the write-ahead log is cut back once it has been copied into the data file.
constexpr int64_t kLogBytesKept = int64_t{64} << 20;
constexpr int64_t kPageCacheKib = int64_t{32} << 10;

// SQLite would make the file readable for everybody; its -wal and -shm take over the mode.
absl::Status MakeFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (file < 0) {
    const std::string cause =
        absl::StrFormat("cannot open the data file %s: %s", path, std::strerror(errno));
    return errno == EACCES || errno == EROFS ? absl::PermissionDeniedError(cause)
                                             : absl::UnavailableError(cause);
  }
  close(file);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Connection> Connection::Open(const std::string& path, absl::Duration busy_wait) {
  if (absl::Status made = MakeFile(path); !made.ok()) return made;
  sqlite3* db = nullptr;
  // No mutex: a store is used by one thread at a time.
  const int code = sqlite3_open_v2(
      path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (db == nullptr) return absl::ResourceExhaustedError("no memory to open " + path);
  Connection connection(db);
  if (code != SQLITE_OK) return SqliteError(db, code, "open");
  sqlite3_extended_result_codes(db, 1);
  if (absl::Status configured = connection.Configure(busy_wait); !configured.ok()) {
    return configured;
  }
  return connection;
}

absl::Status Connection::Configure(absl::Duration busy_wait) {
  sqlite3_busy_timeout(handle(), static_cast<int>(absl::ToInt64Milliseconds(busy_wait)));
  const absl::StatusOr<std::string> mode = QueryText("PRAGMA journal_mode = WAL");
  if (!mode.ok()) return mode.status();
  if (*mode != "wal") {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s lies on a file system that cannot hold a write-ahead log (got journal "
                        "mode %s): move it to a local disk",
                        FileOf(handle()), *mode));
  }
  const std::string pragmas = absl::StrFormat(
      "PRAGMA synchronous = FULL;"
      "PRAGMA journal_size_limit = %d;"
      "PRAGMA cache_size = -%d;",
      kLogBytesKept, kPageCacheKib);
  return Execute(pragmas.c_str());
}

absl::Status Connection::Execute(const char* sql) {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(handle(), code, "write to");
  return absl::OkStatus();
}

absl::StatusOr<Statement> Connection::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(handle(), code, "use");
  return Statement(statement);
}

absl::StatusOr<int64_t> Connection::QueryInt(std::string_view sql) {
  absl::StatusOr<Statement> statement = Prepare(sql);
  if (!statement.ok()) return statement.status();
  const absl::StatusOr<bool> row = statement->Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::InternalError(absl::StrFormat("no row for: %s", sql));
  return statement->Int(0);
}

absl::StatusOr<std::string> Connection::QueryText(std::string_view sql) {
  absl::StatusOr<Statement> statement = Prepare(sql);
  if (!statement.ok()) return statement.status();
  const absl::StatusOr<bool> row = statement->Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::InternalError(absl::StrFormat("no row for: %s", sql));
  return std::string(statement->Text(0));
}

absl::StatusOr<Transaction> Transaction::Begin(Connection& connection, Kind kind) {
  // IMMEDIATE takes the write lock here, where waiting for it is simple, not at the first write.
  if (absl::Status begun = connection.Execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
      !begun.ok()) {
    return begun;
  }
  return Transaction(connection.handle());
}

Transaction::Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}

Transaction::~Transaction() {
  // SQLite has rolled back by itself after some errors (disk full, I/O). Where rolling back fails,
  // the next BEGIN does too, and its error is returned.
  if (db_ != nullptr && sqlite3_get_autocommit(db_) == 0) {
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

absl::Status Transaction::Commit() {
  const int code = sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(db_, code, "commit to");
  db_ = nullptr;
  return absl::OkStatus();
}

}  // namespace berth::storage::sqlite

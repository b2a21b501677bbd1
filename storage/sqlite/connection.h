// One connection to an SQLite file, set up as Berth needs it, and transactions on it.
//
// WAL lets an operator read with the sqlite3 shell while the server writes; synchronous=FULL makes
// every commit wait for the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/sqlite/statement.h"

namespace berth::storage::sqlite {

class Connection {
 public:
  // Makes the file if there is none; only its owner may read it, since it holds what task
  // definitions carry in their environments. Requires: `path` is absolute.
  static absl::StatusOr<Connection> Open(const std::string& path, absl::Duration busy_wait);

  // One or more statements without rows.
  absl::Status Execute(const char* sql);
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  // The first column of the first row.
  absl::StatusOr<int64_t> QueryInt(std::string_view sql);
  absl::StatusOr<std::string> QueryText(std::string_view sql);

  sqlite3* handle() const { return db_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };

  explicit Connection(sqlite3* db) : db_(db) {}
  absl::Status Configure(absl::Duration busy_wait);

  std::unique_ptr<sqlite3, Close> db_;
};

// Rolls back when it goes without a successful Commit.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };

  static absl::StatusOr<Transaction> Begin(Connection& connection, Kind kind);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  absl::Status Commit();

 private:
  explicit Transaction(sqlite3* db) : db_(db) {}

  sqlite3* db_;  // null once it has ended
};

}  // namespace berth::storage::sqlite

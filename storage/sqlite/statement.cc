#include "storage/sqlite/statement.h"

#include <utility>

#include "storage/sqlite/sqlite_error.h"

namespace berth::storage::sqlite {

void Statement::BindInt(int parameter, int64_t value) {
  Remember(sqlite3_bind_int64(statement_.get(), parameter, value));
}

void Statement::BindText(int parameter, std::string_view value) {
  // An empty view may have no pointer, and SQLite takes a null pointer for NULL.
  const char* text = value.data() == nullptr ? "" : value.data();
  Remember(sqlite3_bind_text64(statement_.get(), parameter, text, value.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8));
}

void Statement::BindNull(int parameter) {
  Remember(sqlite3_bind_null(statement_.get(), parameter));
}

void Statement::Remember(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

absl::StatusOr<bool> Statement::Step() {
  const int bound = std::exchange(bind_error_, SQLITE_OK);
  const int code = bound == SQLITE_OK ? sqlite3_step(statement_.get()) : bound;
  if (code == SQLITE_ROW) return true;

  // The status is made first: resetting replaces the connection's last error.
  sqlite3* db = sqlite3_db_handle(statement_.get());
  const absl::Status status =
      code == SQLITE_DONE
          ? absl::OkStatus()
          : SqliteError(db, code, sqlite3_stmt_readonly(statement_.get()) ? "read" : "write to");
  sqlite3_reset(statement_.get());  // Repeats the error that `status` already tells.
  if (!status.ok()) return status;
  return false;
}

absl::Status Statement::Run() {
  while (true) {
    const absl::StatusOr<bool> row = Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
  }
}

void Statement::Reset() { sqlite3_reset(statement_.get()); }

int64_t Statement::rows_changed() const {
  return sqlite3_changes64(sqlite3_db_handle(statement_.get()));
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::ColumnName(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? "" : name;
}

}  // namespace berth::storage::sqlite

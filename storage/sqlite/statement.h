// One prepared SQL statement, finalised when it goes.
//
// Binding never fails on the spot: the first failure is kept and comes out of the next Step or Run,
// so that a row of bindings reads as one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <sqlite3.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace berth::storage::sqlite {

class Statement {
 public:
  // Takes over `statement`.
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Parameters are counted from 1. Text is copied.
  void BindInt(int parameter, int64_t value);
  void BindText(int parameter, std::string_view value);
  void BindNull(int parameter);

  // True: there is a row to read. False: the end, and the statement may be used again.
  absl::StatusOr<bool> Step();
  // For a statement without rows: to the end.
  absl::Status Run();
  // Ends the reading of rows before the last one.
  void Reset();
  // Rows that the last Run wrote or deleted.
  int64_t rows_changed() const;

  // The current row; columns are counted from 0. A value of another type is converted as SQLite
  // does; the tables are STRICT, so there is none in a sound file.
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string_view Text(int column) const;  // until the next Step
  std::string_view ColumnName(int column) const;

 private:
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  void Remember(int code);

  std::unique_ptr<sqlite3_stmt, Finalise> statement_;
  int bind_error_ = SQLITE_OK;
};

}  // namespace berth::storage::sqlite

// Writing and reading one row, value by value, in the order in which its SQL names the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "storage/sqlite/statement.h"

namespace berth::storage::sqlite {

class RowWriter {
 public:
  explicit RowWriter(Statement& statement) : statement_(statement) {}

  RowWriter& Int(int64_t value);
  RowWriter& Text(std::string_view value);
  // NULL when empty: a column that is not set shows as such.
  RowWriter& TextOrNull(std::string_view value);
  // NULL for InfinitePast. Nanoseconds; times beyond the years 1678 and 2262 become those.
  RowWriter& Time(absl::Time value);
  RowWriter& Null();

 private:
  Statement& statement_;
  int next_ = 1;
};

// Column 0 is the key, by which errors name the row. The first error is kept; what is read after it
// is of no use.
class RowReader {
 public:
  RowReader(const Statement& statement, std::string_view table);

  int64_t Int();
  std::string Text();  // empty when NULL
  std::optional<std::string> OptionalText();
  absl::Time Time();

  // A word of an enumeration, read by the model's own parser.
  template <class Enum>
  Enum Word(std::optional<Enum> (*parse)(std::string_view)) {
    const std::string_view text = statement_.Text(next_);
    const std::optional<Enum> value = parse(text);
    if (!value) Fail(absl::StrFormat("%s is \"%s\"", statement_.ColumnName(next_), text));
    ++next_;
    return value.value_or(Enum{});
  }

  // Says what is wrong with the row, unless something already is.
  void Fail(std::string_view what);
  void FailIf(const absl::Status& status);
  const absl::Status& status() const { return status_; }

 private:
  const Statement& statement_;
  std::string_view table_;
  int next_ = 0;
  absl::Status status_;
};

}  // namespace berth::storage::sqlite

#include "storage/sqlite/row.h"

namespace berth::storage::sqlite {

RowWriter& RowWriter::Int(int64_t value) {
  statement_.BindInt(next_++, value);
  return *this;
}

RowWriter& RowWriter::Text(std::string_view value) {
  statement_.BindText(next_++, value);
  return *this;
}

RowWriter& RowWriter::TextOrNull(std::string_view value) {
  return value.empty() ? Null() : Text(value);
}

RowWriter& RowWriter::Time(absl::Time value) {
  return value == absl::InfinitePast() ? Null() : Int(absl::ToUnixNanos(value));
}

RowWriter& RowWriter::Null() {
  statement_.BindNull(next_++);
  return *this;
}

RowReader::RowReader(const Statement& statement, std::string_view table)
    : statement_(statement), table_(table) {}

int64_t RowReader::Int() { return statement_.Int(next_++); }

std::string RowReader::Text() { return std::string(statement_.Text(next_++)); }

std::optional<std::string> RowReader::OptionalText() {
  if (statement_.IsNull(next_)) {
    ++next_;
    return std::nullopt;
  }
  return Text();
}

absl::Time RowReader::Time() {
  if (statement_.IsNull(next_)) {
    ++next_;
    return absl::InfinitePast();
  }
  return absl::FromUnixNanos(Int());
}

void RowReader::Fail(std::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::DataLossError(
      absl::StrFormat("row %s of %s cannot be read: %s", statement_.Text(0), table_, what));
}

void RowReader::FailIf(const absl::Status& status) {
  if (!status.ok()) Fail(std::string(status.message()));
}

}  // namespace berth::storage::sqlite

// Rows of a trace's CSV, by column names. For the readers of the simulator alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

namespace berth::simulator {

// Amounts of CPU and memory that sums over a whole trace cannot overflow.
inline constexpr int64_t kAmountMax = int64_t{1} << 38;

absl::Status Malformed(int64_t line, std::string_view what);

// Takes the next line off the text, without its end.
std::string_view TakeLine(std::string_view& text);

// An error where the line has what would be taken for part of a name: quotation marks, control
// characters, bytes that are not UTF-8.
absl::Status CheckLine(int64_t line, std::string_view text);

// The fields of one line, in a vector that is used for all.
void Split(std::string_view line, std::vector<std::string_view>& fields);

// One line, asked by column.
class Row {
 public:
  Row(int64_t line, const std::vector<std::string_view>& names) : line_(line), names_(names) {}

  std::vector<std::string_view>& fields() { return fields_; }
  const std::vector<std::string_view>& fields() const { return fields_; }

  // What is not empty.
  absl::StatusOr<std::string> Name(size_t column) const;
  // A whole number from 0 to `max`.
  absl::StatusOr<int64_t> Integer(size_t column, int64_t max) const;

  int64_t line() const { return line_; }
  void NextLine() { ++line_; }

 private:
  int64_t line_;
  const std::vector<std::string_view>& names_;
  std::vector<std::string_view> fields_ = {};
};

// What every node and task has, in the first three of the columns wanted.
struct Amounts {
  std::string name = {};
  int64_t cpu = 0;  // in the format's unit
  int64_t memory_mib = 0;
};
absl::StatusOr<Amounts> ReadAmounts(const Row& row, const std::vector<size_t>& columns);

// Of the first line: the columns' names, and where those that are wanted stand. The last `optional`
// of them may be missing (npos).
struct Header {
  std::vector<std::string_view> names = {};
  std::vector<size_t> columns = {};
};
absl::StatusOr<Header> TakeHeader(std::string_view& text,
                                  const std::vector<std::string_view>& wanted, size_t optional);
bool HasColumn(std::string_view text, std::string_view name);

// Reads the header, then calls `read(Row, columns) -> absl::Status` for each line that is not
// empty. columns[i] is where wanted[i] stands.
template <class Read>
absl::Status ForEachRow(std::string_view text, const std::vector<std::string_view>& wanted,
                        size_t optional, int64_t rows_max, Read read) {
  const absl::StatusOr<Header> header = TakeHeader(text, wanted, optional);
  if (!header.ok()) return header.status();
  Row row(2, header->names);
  absl::flat_hash_set<std::string> seen;
  for (; !text.empty(); row.NextLine()) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) continue;
    if (absl::Status status = CheckLine(row.line(), line); !status.ok()) return status;
    Split(line, row.fields());
    if (row.fields().size() != header->names.size()) {
      return Malformed(row.line(), absl::StrFormat("%d fields under %d column names",
                                                   row.fields().size(), header->names.size()));
    }
    const std::string_view name = row.fields()[header->columns[0]];
    if (!seen.emplace(name).second) {
      return Malformed(row.line(), absl::StrFormat("the name '%s' comes twice", name));
    }
    if (static_cast<int64_t>(seen.size()) > rows_max) {
      return Malformed(row.line(), absl::StrFormat("more than %d of them", rows_max));
    }
    if (absl::Status status = read(row, header->columns); !status.ok()) return status;
  }
  if (seen.empty()) return absl::InvalidArgumentError("there is only the line of column names");
  return absl::OkStatus();
}

}  // namespace berth::simulator

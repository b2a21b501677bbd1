#include "simulator/csv_rows.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "model/utf8.h"

namespace berth::simulator {
namespace {

std::vector<std::string_view> TakeNames(std::string_view& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string_view> names;
  Split(TakeLine(text), names);
  return names;
}

}  // namespace

absl::Status Malformed(int64_t line, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", line, what));
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void Split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

absl::Status CheckLine(int64_t line, std::string_view text) {
  if (text.find('"') != std::string_view::npos) {
    return Malformed(line, "a quotation mark: fields are not quoted here");
  }
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return absl::OkStatus();
  const auto is_no_text = [](char32_t c) {
    return c < U' ' || c == 0x7F || c >= model::kStrayByte;
  };
  const std::u32string characters = model::DecodeUtf8(text);
  if (std::any_of(characters.begin(), characters.end(), is_no_text)) {
    return Malformed(line, "a byte that is no UTF-8 text");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Row::Name(size_t column) const {
  if (fields_[column].empty()) {
    return Malformed(line_, absl::StrFormat("%s is empty", names_[column]));
  }
  return std::string(fields_[column]);
}

absl::StatusOr<int64_t> Row::Integer(size_t column, int64_t max) const {
  const std::string_view field = fields_[column];
  int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || value < 0 || value > max) {
    return Malformed(line_, absl::StrFormat("%s is '%s', not a whole number from 0 to %d",
                                            names_[column], field.substr(0, 40), max));
  }
  return value;
}

absl::StatusOr<Amounts> ReadAmounts(const Row& row, const std::vector<size_t>& columns) {
  absl::StatusOr<std::string> name = row.Name(columns[0]);
  if (!name.ok()) return name.status();
  const absl::StatusOr<int64_t> cpu = row.Integer(columns[1], kAmountMax);
  if (!cpu.ok()) return cpu.status();
  const absl::StatusOr<int64_t> memory = row.Integer(columns[2], kAmountMax);
  if (!memory.ok()) return memory.status();
  return Amounts{.name = *std::move(name), .cpu = *cpu, .memory_mib = *memory};
}

absl::StatusOr<Header> TakeHeader(std::string_view& text,
                                  const std::vector<std::string_view>& wanted, size_t optional) {
  Header header{.names = TakeNames(text)};
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::find(header.names.begin(), header.names.end(), wanted[i]);
    if (found == header.names.end() && i + optional < wanted.size()) {
      return Malformed(
          1, absl::StrFormat("no column %s; the first line names the columns", wanted[i]));
    }
    header.columns.push_back(found == header.names.end()
                                 ? std::string_view::npos
                                 : static_cast<size_t>(found - header.names.begin()));
  }
  return header;
}

bool HasColumn(std::string_view text, std::string_view name) {
  const std::vector<std::string_view> names = TakeNames(text);
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace berth::simulator

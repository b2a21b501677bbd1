#include "simulator/openb.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "placement/fleet/node.h"

namespace berth::simulator {
namespace {

// Amounts of CPU and memory that sums over a whole trace cannot overflow.
constexpr int64_t kAmountMax = int64_t{1} << 38;

absl::Status Malformed(int64_t line, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", line, what));
}

// Takes the next line off the text, without its end.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The fields of one line, in a vector that is used for all.
void Split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

// One line, asked by column.
class Row {
 public:
  Row(int64_t line, const std::vector<std::string_view>& names) : line_(line), names_(names) {}

  std::vector<std::string_view>& fields() { return fields_; }
  const std::vector<std::string_view>& fields() const { return fields_; }

  absl::StatusOr<std::string> Name(size_t column) const {
    if (fields_[column].empty()) {
      return Malformed(line_, absl::StrFormat("%s is empty", names_[column]));
    }
    return std::string(fields_[column]);
  }

  absl::StatusOr<int64_t> Integer(size_t column, int64_t max) const {
    const std::string_view field = fields_[column];
    int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || value < 0 || value > max) {
      return Malformed(line_, absl::StrFormat("%s is '%s', not a whole number from 0 to %d",
                                              names_[column], field.substr(0, 40), max));
    }
    return value;
  }

  int64_t line() const { return line_; }
  void NextLine() { ++line_; }

 private:
  int64_t line_;
  const std::vector<std::string_view>& names_;
  std::vector<std::string_view> fields_ = {};
};

// Reads the header, then calls `read(Row, columns) -> absl::Status` for each line that is not
// empty. columns[i] is where wanted[i] stands; the last `optional` of them may be missing (npos).
template <class Read>
absl::Status ForEachRow(std::string_view text, const std::vector<std::string_view>& wanted,
                        size_t optional, int64_t rows_max, Read read) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string_view> names;
  Split(TakeLine(text), names);
  std::vector<size_t> columns;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), wanted[i]);
    if (found == names.end() && i + optional < wanted.size()) {
      return Malformed(
          1, absl::StrFormat("no column %s; the first line names the columns", wanted[i]));
    }
    columns.push_back(found == names.end() ? std::string_view::npos
                                           : static_cast<size_t>(found - names.begin()));
  }
  Row row(2, names);
  absl::flat_hash_set<std::string> seen;
  for (; !text.empty(); row.NextLine()) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) continue;
    Split(line, row.fields());
    if (row.fields().size() != names.size()) {
      return Malformed(row.line(), absl::StrFormat("%d fields under %d column names",
                                                   row.fields().size(), names.size()));
    }
    const std::string_view name = row.fields()[columns[0]];
    if (!seen.emplace(name).second) {
      return Malformed(row.line(), absl::StrFormat("the name '%s' comes twice", name));
    }
    if (static_cast<int64_t>(seen.size()) > rows_max) {
      return Malformed(row.line(), absl::StrFormat("more than %d of them", rows_max));
    }
    if (absl::Status status = read(row, columns); !status.ok()) return status;
  }
  if (seen.empty()) return absl::InvalidArgumentError("there is only the line of column names");
  return absl::OkStatus();
}

// What nodes and tasks have in their first four columns.
struct Amounts {
  std::string name = {};
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int gpus = 0;
};

absl::StatusOr<Amounts> ReadAmounts(const Row& row, const std::vector<size_t>& columns) {
  absl::StatusOr<std::string> name = row.Name(columns[0]);
  if (!name.ok()) return name.status();
  const absl::StatusOr<int64_t> cpu = row.Integer(columns[1], kAmountMax);
  if (!cpu.ok()) return cpu.status();
  const absl::StatusOr<int64_t> memory = row.Integer(columns[2], kAmountMax);
  if (!memory.ok()) return memory.status();
  const absl::StatusOr<int64_t> gpus = row.Integer(columns[3], placement::kDevicesMax);
  if (!gpus.ok()) return gpus.status();
  return Amounts{.name = *std::move(name),
                 .cpu_milli = *cpu,
                 .memory_mib = *memory,
                 .gpus = static_cast<int>(*gpus)};
}

}  // namespace

absl::StatusOr<std::vector<TraceNode>> ReadTraceNodes(std::string_view csv) {
  std::vector<TraceNode> nodes;
  const auto read = [&](const Row& row, const std::vector<size_t>& columns) -> absl::Status {
    absl::StatusOr<Amounts> amounts = ReadAmounts(row, columns);
    if (!amounts.ok()) return amounts.status();
    absl::StatusOr<std::string> model = row.Name(columns[4]);
    if (!model.ok()) return model.status();
    nodes.push_back({.name = std::move(amounts->name),
                     .cpu_milli = amounts->cpu_milli,
                     .memory_mib = amounts->memory_mib,
                     .gpus = amounts->gpus,
                     .model = *std::move(model)});
    return absl::OkStatus();
  };
  const absl::Status status =
      ForEachRow(csv, {"sn", "cpu_milli", "memory_mib", "gpu", "model"}, 0, kTraceNodesMax, read);
  if (!status.ok()) return status;
  return nodes;
}

absl::StatusOr<std::vector<TraceTask>> ReadTraceTasks(std::string_view csv) {
  std::vector<TraceTask> tasks;
  const auto read = [&](const Row& row, const std::vector<size_t>& columns) -> absl::Status {
    absl::StatusOr<Amounts> amounts = ReadAmounts(row, columns);
    if (!amounts.ok()) return amounts.status();
    const absl::StatusOr<int64_t> milli = row.Integer(columns[4], kMilliPerGpu);
    if (!milli.ok()) return milli.status();
    TraceTask task = {.name = std::move(amounts->name),
                      .cpu_milli = amounts->cpu_milli,
                      .memory_mib = amounts->memory_mib,
                      .gpus = amounts->gpus};
    if (task.gpus > 0) {
      if (*milli == 0) return Malformed(row.line(), "num_gpu without gpu_milli");
      if (task.gpus > 1 && *milli != kMilliPerGpu) {
        return Malformed(row.line(),
                         absl::StrFormat("%d GPUs of %d milli: several GPUs are whole ones, of %d",
                                         task.gpus, *milli, kMilliPerGpu));
      }
      task.gpu_milli = *milli;
      if (columns[5] != std::string_view::npos) {
        task.gpu_models = std::string(row.fields()[columns[5]]);
      }
    }
    tasks.push_back(std::move(task));
    return absl::OkStatus();
  };
  const absl::Status status =
      ForEachRow(csv, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"}, 1,
                 kTraceTasksMax, read);
  if (!status.ok()) return status;
  return tasks;
}

}  // namespace berth::simulator

#include "agent/mps/daemon_record.h"

#include <fstream>

#include "absl/status/status.h"
#include "agent/json_parts.h"

namespace berth::agent {

namespace {

constexpr int64_t kFormat = 1;
constexpr int64_t kModeMax = static_cast<int64_t>(ComputeMode::kExclusiveProcess);

}  // namespace

std::string EncodeMpsDaemonRecord(const MpsDaemonRecord& record) {
  json::Builder out;
  out.Object();
  out.Member("format", kFormat);
  out.Member("bootId", record.boot_id);
  out.Member("pipeDirectory", record.pipe_directory);
  out.Member("computeModeBefore", static_cast<int64_t>(record.mode_before));
  if (record.daemon) {
    out.Member("pid", static_cast<int64_t>(record.daemon->pid));
    out.Member("startTicks", static_cast<int64_t>(record.daemon->start_ticks));
  }
  out.EndObject();
  return out.Text();
}

absl::StatusOr<MpsDaemonRecord> DecodeMpsDaemonRecord(std::string_view text) {
  json::Document document;
  const absl::Status parsed = ParseStateDocument(text, kFormat, document);
  if (!parsed.ok()) return parsed;
  MpsDaemonRecord record;
  record.boot_id = json::StringOr(document, "bootId");
  record.pipe_directory = json::StringOr(document, "pipeDirectory");
  const int64_t mode = json::FindInt(document, "computeModeBefore").value_or(-1);
  if (record.pipe_directory.empty() || mode < 0 || mode > kModeMax) {
    return absl::DataLossError("pipeDirectory or computeModeBefore is missing or unknown");
  }
  record.mode_before = static_cast<ComputeMode>(mode);
  const std::optional<int64_t> pid = json::FindInt(document, "pid");
  const std::optional<int64_t> start = json::FindInt(document, "startTicks");
  if (pid && start) {
    record.daemon =
        ProcessId{.pid = static_cast<pid_t>(*pid), .start_ticks = static_cast<uint64_t>(*start)};
  }
  return record;
}

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace berth::agent

#include "api/access/audit_log.h"

#include <algorithm>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/json_writer.h"

namespace berth::api {
namespace {

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string DroppedLine(uint64_t count) {
  JsonWriter json;
  json.BeginObject();
  json.String("time", TimeText(absl::Now()));
  json.Int("dropped", static_cast<int64_t>(count));
  json.String("reason", "entries that could not be written in time");
  json.EndObject();
  return json.Take();
}

}  // namespace

// spdlog's file with rotation; it throws.
class AuditLog::File {
 public:
  File(const std::string& path, const AuditLimits& limits)
      : sink_(path, limits.file_bytes_max, limits.files_max, false, OwnerOnly()) {
    sink_.set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
  }

  void Append(const std::string& line) {
    sink_.log(spdlog::details::log_msg("audit", spdlog::level::info, line));
  }
  void Flush() { sink_.flush(); }

 private:
  static spdlog::file_event_handlers OwnerOnly() {
    spdlog::file_event_handlers handlers;
    handlers.after_open = [](const spdlog::filename_t&, std::FILE* file) {
      if (::fchmod(::fileno(file), S_IRUSR | S_IWUSR) != 0) {
        spdlog::warn("cannot keep the audit log from others: {}", std::strerror(errno));
      }
    };
    return handlers;
  }

  spdlog::sinks::rotating_file_sink_st sink_;
};

std::string FormatAuditEntry(const AuditEntry& entry, size_t resources_max) {
  JsonWriter json;
  json.BeginObject();
  json.String("time", TimeText(entry.time));
  json.String("requestId", entry.request_id);
  json.OptionalString("principal", entry.principal);
  json.OptionalString("accessKeyId", entry.access_key);
  json.OptionalString("sourceAddress", entry.source);
  json.String("action", entry.action);
  const size_t shown = std::min(entry.resources.size(), resources_max);
  json.BeginArray("resources");
  for (size_t i = 0; i < shown; ++i) json.String(entry.resources[i]);
  json.EndArray();
  if (shown < entry.resources.size()) {
    json.Int("moreResources", static_cast<int64_t>(entry.resources.size() - shown));
  }
  json.Int("status", entry.status);
  json.String("code", entry.code);
  json.Key("ms");
  json.Double(static_cast<double>(absl::ToInt64Microseconds(entry.took)) / 1000);
  json.EndObject();
  return json.Take();
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path,
                                                         const AuditLimits& limits) {
  try {
    return std::unique_ptr<AuditLog>(new AuditLog(std::make_unique<File>(path, limits), limits));
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrFormat("cannot open the audit log %s: %s", path, error.what()));
  }
}

AuditLog::AuditLog(std::unique_ptr<File> file, const AuditLimits& limits)
    : limits_(limits), file_(std::move(file)), thread_([this] { Run(); }) {}

AuditLog::~AuditLog() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    arrived_.Signal();
  }
  thread_.join();
}

void AuditLog::Add(AuditEntry entry) {
  absl::MutexLock lock(&mutex_);
  if (queue_.size() >= limits_.queue_max) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  queue_.push_back(std::move(entry));
  if (queue_.size() == 1) arrived_.Signal();
}

void AuditLog::Run() {
  while (true) {
    std::deque<AuditEntry> entries;
    bool last = false;
    {
      absl::MutexLock lock(&mutex_);
      while (queue_.empty() && !stopping_) arrived_.Wait(&mutex_);
      entries.swap(queue_);
      last = stopping_;
    }
    Write(entries);
    if (last) return;
  }
}

void AuditLog::Write(const std::deque<AuditEntry>& entries) {
  size_t written = 0;
  try {
    for (const AuditEntry& entry : entries) {
      file_->Append(FormatAuditEntry(entry, limits_.resources_max));
      ++written;
    }
    const uint64_t dropped = dropped_.load(std::memory_order_relaxed);
    if (dropped != reported_drops_) {
      file_->Append(DroppedLine(dropped - reported_drops_));
      reported_drops_ = dropped;
      Drop(0, "the queue was full");
    }
    file_->Flush();
  } catch (const std::exception& error) {
    Drop(entries.size() - written, error.what());
  }
}

void AuditLog::Drop(size_t count, const std::string& why) {
  dropped_.fetch_add(count, std::memory_order_relaxed);
  const absl::Time now = absl::Now();
  if (now - warned_at_ < limits_.warning_interval) return;
  warned_at_ = now;
  spdlog::error("the audit log lost {} entries since the start: {}", dropped(), why);
}

}  // namespace berth::api

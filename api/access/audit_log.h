// Who did what, when, from where, and with what answer: DIR/audit.log, one JSON object a line.
// Calls are queued and written by a thread of its own; when the disk cannot keep up, entries that
// find the queue full are counted, and the next line that is written says how many are missing.
//
// Thread-safe. The file is for its owner alone (0600), and is rotated by size: audit.1.log is the
// one before.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/access/audit_limits.h"

namespace berth::api {

struct AuditEntry {
  absl::Time time = absl::InfinitePast();
  std::string request_id = {};
  std::string principal = {};   // ARN; empty when the caller could not be established
  std::string access_key = {};  // its id; as claimed when the caller could not be established
  std::string source = {};      // address
  std::string action = {};      // "ecs:RunTask"
  std::vector<std::string> resources = {};  // ARNs
  unsigned status = 0;
  std::string code = {};  // the error's type; "OK"
  absl::Duration took = absl::ZeroDuration();
};

class AuditLog {
 public:
  // Appends to the file. An error names it.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path,
                                                        const AuditLimits& limits = {});
  // Writes what is queued.
  ~AuditLog();

  void Add(AuditEntry entry);
  // Entries that were never written, since the start.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  class File;
  AuditLog(std::unique_ptr<File> file, const AuditLimits& limits);

  void Run();
  void Write(const std::deque<AuditEntry>& entries);
  void Drop(size_t count, const std::string& why);

  const AuditLimits limits_;
  const std::unique_ptr<File> file_;             // the thread's own
  uint64_t reported_drops_ = 0;                  // the thread's own
  absl::Time warned_at_ = absl::InfinitePast();  // the thread's own
  std::atomic<uint64_t> dropped_ = 0;

  absl::Mutex mutex_;
  absl::CondVar arrived_;  // or stopping
  std::deque<AuditEntry> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// One line, without its end.
std::string FormatAuditEntry(const AuditEntry& entry, size_t resources_max);

}  // namespace berth::api

#include "storage/sqlite/write_ahead_log.h"

#include "storage/sqlite/sqlite_error.h"

namespace berth::storage::sqlite {
namespace {

int RememberPages(void* pages, sqlite3* /*db*/, const char* /*schema*/, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

void SetBusyWait(sqlite3* db, absl::Duration wait) {
  sqlite3_busy_timeout(db, static_cast<int>(absl::ToInt64Milliseconds(wait)));
}

}  // namespace

WriteAheadLog::WriteAheadLog(sqlite3* db, absl::Duration busy_wait)
    : db_(db), busy_wait_(busy_wait) {
  sqlite3_wal_hook(db_, RememberPages, &pages_);  // Takes the place of SQLite's own checkpoints.
}

WriteAheadLog::~WriteAheadLog() { sqlite3_wal_hook(db_, nullptr, nullptr); }

absl::Status WriteAheadLog::BeforeCommit() {
  if (!failure_.ok()) failure_ = Checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  return failure_;
}

void WriteAheadLog::AfterCommit() {
  if (pages_ < pages_before_) {  // The log was copied whole and began anew.
    next_checkpoint_ = kCheckpointPages;
    next_restart_ = kRestartPages;
  }
  pages_before_ = pages_;
  if (pages_ >= next_restart_) {
    next_restart_ = pages_ + kRestartPages;
    next_checkpoint_ = pages_ + kCheckpointPages;
    failure_ = Checkpoint(SQLITE_CHECKPOINT_RESTART);
  } else if (pages_ >= next_checkpoint_) {
    next_checkpoint_ = pages_ + kCheckpointPages;
    failure_ = Checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  }
}

absl::Status WriteAheadLog::Checkpoint(int mode) {
  SetBusyWait(db_, kReaderWait);  // RESTART alone makes use of it.
  const int code = sqlite3_wal_checkpoint_v2(db_, "main", mode, nullptr, nullptr);
  SetBusyWait(db_, busy_wait_);
  // A reader is in the way: the rest is copied next time.
  if (code == SQLITE_OK || (code & kPrimaryCodeMask) == SQLITE_BUSY) return absl::OkStatus();
  return SqliteError(db_, code, "copy the write-ahead log into");
}

}  // namespace berth::storage::sqlite

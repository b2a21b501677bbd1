// Keeps the write-ahead log short, by copying it into the data file every few megabytes.
//
// SQLite's own way copies what it can after every commit beyond a limit, drops the errors, and lets
// the log grow for as long as readers follow each other without a gap. This one tries again only
// after so many more pages, waits for readers now and then, and reports a log that cannot be copied
// before it grows further.
#pragma once

#include <sqlite3.h>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace berth::storage::sqlite {

// In pages of 4 KiB.
inline constexpr int kCheckpointPages = 2048;  // 8 MiB: copy what no reader is in the way of
inline constexpr int kRestartPages = 16384;    // 64 MiB: also wait for readers to go
// Not as long as for a commit: a forgotten shell in a transaction must not slow the cluster down.
inline constexpr absl::Duration kReaderWait = absl::Milliseconds(100);

class WriteAheadLog {
 public:
  // `busy_wait` is the connection's, which waiting for readers replaces for a moment.
  WriteAheadLog(sqlite3* db, absl::Duration busy_wait);
  WriteAheadLog(const WriteAheadLog&) = delete;
  WriteAheadLog& operator=(const WriteAheadLog&) = delete;
  ~WriteAheadLog();

  // Before a transaction. An error says that the log can still not be copied, and nothing more
  // should be written.
  absl::Status BeforeCommit();
  // After a successful one, which is durable whether or not the log can be copied.
  void AfterCommit();

 private:
  absl::Status Checkpoint(int mode);

  sqlite3* db_;
  absl::Duration busy_wait_;
  int pages_ = 0;                           // in the log, as of the last commit
  int pages_before_ = 0;                    // and as of the one before
  int next_checkpoint_ = kCheckpointPages;  // when the log has this many pages
  int next_restart_ = kRestartPages;
  absl::Status failure_;  // of the last checkpoint
};

}  // namespace berth::storage::sqlite

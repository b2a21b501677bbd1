// Keeps a second server off a data file.
//
// The lock is on a file of its own, DATA.lock, that is never removed. SQLite's exclusive mode would
// also shut out the operator's sqlite3 shell, and a second descriptor on the data file itself would
// drop SQLite's own locks when it is closed. The kernel gives the lock back however the process
// ends.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace berth::storage::sqlite {

class FileLock {
 public:
  static absl::StatusOr<FileLock> Acquire(const std::string& data_file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;
};

}  // namespace berth::storage::sqlite

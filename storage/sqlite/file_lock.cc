#include "storage/sqlite/file_lock.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace berth::storage::sqlite {
namespace {

constexpr mode_t kFileMode = 0600;

// The process that holds the lock, as it wrote itself down; 0 when it could not.
int64_t HolderOf(int file) {
  char text[32] = {};
  if (pread(file, text, sizeof(text) - 1, 0) <= 0) return 0;
  return std::strtoll(text, nullptr, 10);
}

void WriteHolder(int file) {
  const std::string text = absl::StrFormat("%d\n", getpid());
  // Only for the other server's error message: on a full disk the lock holds without it.
  if (ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Acquire(const std::string& data_file) {
  const std::string path = data_file + ".lock";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (file < 0) {
    const std::string cause =
        absl::StrFormat("cannot open the lock file %s: %s", path, std::strerror(errno));
    return errno == EACCES || errno == EROFS ? absl::PermissionDeniedError(cause)
                                             : absl::UnavailableError(cause);
  }
  FileLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return absl::UnavailableError(
          absl::StrFormat("cannot lock %s: %s", path, std::strerror(errno)));
    }
    return absl::FailedPreconditionError(
        absl::StrFormat("the data file %s is in use by another server (process %d): stop that one, "
                        "or choose another data folder",
                        data_file, HolderOf(file)));
  }
  WriteHolder(file);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace berth::storage::sqlite

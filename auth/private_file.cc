#include "auth/private_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace berth::auth {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  bool ok() const { return value_ >= 0; }

 private:
  const int value_;
};

absl::Status Fails(const char* what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrFormat("cannot %s %s: %s", what, path, std::strerror(errno)));
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ReadPrivateFile(const std::string& path,
                                                           size_t bytes_max) {
  // Not blocking: a pipe in its place must not hang the start.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.ok()) {
    if (errno == ENOENT) return std::nullopt;
    return Fails("open", path);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Fails("look at", path);
  if (!S_ISREG(status.st_mode)) {
    return absl::FailedPreconditionError(absl::StrFormat("%s is no plain file", path));
  }
  if ((status.st_mode & kOthers) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s has mode %04o: others than its owner may read or change it. Run chmod 600 on it, and "
        "think of who may have read it",
        path, status.st_mode & 07777));
  }
  std::string text(bytes_max + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fails("read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > bytes_max) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is larger than %d bytes", path, bytes_max));
  }
  text.resize(size);
  return std::optional<std::string>(std::move(text));
}

absl::Status WritePrivateFile(const std::string& path, std::string_view text) {
  const std::string next = path + ".new";
  ::unlink(next.c_str());  // what a crash left; the open below tells of anything else
  {
    const Descriptor file(
        ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.ok()) return Fails("make", next);
    if (!WriteAll(file.get(), text) || ::fsync(file.get()) != 0) return Fails("write", next);
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return Fails("put in place", path);
  const Descriptor folder(::open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok() || ::fsync(folder.get()) != 0) return Fails("make durable", path);
  return absl::OkStatus();
}

}  // namespace berth::auth

#include "agent/state_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace berth::agent {

namespace {

namespace fs = std::filesystem;

constexpr char kUnfinished[] = ".new";
constexpr size_t kReadPieceBytes = 16 * 1024;

absl::Status Failed(std::string_view what, std::string_view path, int error) {
  return absl::UnavailableError(
      absl::StrFormat("cannot %s %s: %s", what, path, std::strerror(error)));
}

absl::Status WriteAndSync(const std::string& path, const std::string& text, bool sync) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return Failed("create", path, errno);
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(file);
      return Failed("write", path, error);
    }
    written += static_cast<size_t>(n);
  }
  if (sync && ::fsync(file) != 0) {
    const int error = errno;
    ::close(file);
    return Failed("sync", path, error);
  }
  if (::close(file) != 0) return Failed("close", path, errno);
  return absl::OkStatus();
}

// A rename is durable only when the directory is.
absl::Status SyncDirectory(const std::string& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return Failed("open", path, errno);
  const int result = ::fsync(directory);
  const int error = errno;
  ::close(directory);
  return result == 0 ? absl::OkStatus() : Failed("sync", path, error);
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, const std::string& text, bool sync) {
  const std::string unfinished = path + kUnfinished;
  absl::Status written = WriteAndSync(unfinished, text, sync);
  if (!written.ok()) {
    ::unlink(unfinished.c_str());  // On a full disk it would take up the last of the room.
    return written;
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return Failed("replace", path, errno);
  return sync ? SyncDirectory(fs::path(path).parent_path()) : absl::OkStatus();
}

StateFiles::StateFiles(std::string directory, std::shared_ptr<net::thread_pool> disk,
                       DiskSettings settings)
    : directory_(std::move(directory)), disk_(std::move(disk)), settings_(settings) {}

absl::Status StateFiles::Open() {
  std::error_code error;
  fs::create_directories(directory_ + "/tasks", error);
  if (error) {
    return absl::UnavailableError(absl::StrFormat("cannot create the data directory %s/tasks: %s",
                                                  directory_, error.message()));
  }
  if (::access((directory_ + "/tasks").c_str(), W_OK) != 0) {
    return Failed("write to", directory_ + "/tasks", errno);
  }
  return absl::OkStatus();
}

bool StateFiles::AreGone() const {
  std::error_code ignored;
  return !fs::exists(directory_ + "/tasks", ignored);
}

net::awaitable<absl::Status> StateFiles::WriteHere(std::string path, std::string text) {
  co_return ReplaceFile(path, text, settings_.sync);
}

net::awaitable<absl::Status> StateFiles::RemoveHere(std::string path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) co_return Failed("remove", path, errno);
  co_return absl::OkStatus();
}

net::awaitable<absl::Status> StateFiles::Write(std::string name, std::string text) {
  std::string path = directory_ + "/" + name;
  co_return co_await net::co_spawn(disk_->get_executor(),
                                   WriteHere(std::move(path), std::move(text)), net::use_awaitable);
}

net::awaitable<absl::Status> StateFiles::Remove(std::string name) {
  std::string path = directory_ + "/" + name;
  co_return co_await net::co_spawn(disk_->get_executor(), RemoveHere(std::move(path)),
                                   net::use_awaitable);
}

absl::StatusOr<std::string> StateFiles::Read(const std::string& name) const {
  const std::string path = directory_ + "/" + name;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::string();
  if (file < 0) return Failed("open", path, errno);
  std::string text;
  std::array<char, kReadPieceBytes> piece;
  while (true) {
    const ssize_t n = ::read(file, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    const int error = n < 0 ? errno : 0;
    if (n <= 0) ::close(file);
    if (n < 0) return Failed("read", path, error);
    if (n == 0) return text;
    text.append(piece.data(), static_cast<size_t>(n));
  }
}

std::vector<std::string> StateFiles::TaskFiles() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_ + "/tasks", error)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(kUnfinished)) {
      fs::remove(entry.path(), error);
    } else if (name.ends_with(".json")) {
      names.push_back("tasks/" + name);
    }
  }
  if (error) spdlog::error("cannot list {}/tasks: {}", directory_, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

void StateFiles::SetAside(const std::string& name, const std::string& why) const {
  const std::string path = directory_ + "/" + name;
  const std::string aside = path + ".corrupt";
  spdlog::error("{} cannot be used and is set aside as {}: {}", path, aside, why);
  std::error_code error;
  fs::rename(path, aside, error);
  if (error) spdlog::error("cannot rename {}: {}", path, error.message());
}

}  // namespace berth::agent

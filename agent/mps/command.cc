#include "agent/mps/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace berth::agent {

namespace {

constexpr size_t kOutputBytesMax = 64 * 1024;
constexpr absl::Duration kReapEvery = absl::Milliseconds(2);

absl::Status Failed(const std::string& what, int error) {
  return absl::UnavailableError(absl::StrFormat("cannot %s: %s", what, std::strerror(error)));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { Close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  void Close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

std::vector<std::string> EnvironmentOf(const Command& command) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!absl::StartsWith(*entry, "CUDA_")) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.environment) {
    all.push_back(absl::StrCat(name, "=", value));
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::StatusOr<pid_t> Spawned(const Command& command, int in, int out, short group_flag) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group_flag));
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = EnvironmentOf(command);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, command.arguments.front().c_str(), &actions, &attributes,
                                Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Failed("run " + command.arguments.front(), error);
  return pid;
}

// Until the other end is closed, or the time is over; false then.
bool ReadAll(int from, absl::Time deadline, std::string& output) {
  std::array<char, 4096> piece;
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return false;
    pollfd poller = {.fd = from, .events = POLLIN, .revents = 0};
    if (::poll(&poller, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t n = ::read(from, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    const size_t room = kOutputBytesMax - output.size();
    output.append(piece.data(), std::min(room, static_cast<size_t>(n)));
  }
}

}  // namespace

absl::StatusOr<CommandResult> RunCommand(const Command& command, const std::string& input,
                                         absl::Duration limit) {
  // A file, for a pipe would give SIGPIPE when the program ends without reading.
  const File in(::memfd_create("input", MFD_CLOEXEC));
  if (in.get() < 0) return Failed("make a file in memory", errno);
  if (::pwrite(in.get(), input.data(), input.size(), 0) != static_cast<ssize_t>(input.size())) {
    return Failed("write to a file in memory", errno);
  }
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Failed("make a pipe", errno);
  const File from(ends[0]);
  File to(ends[1]);
  const absl::Time deadline = absl::Now() + limit;
  const absl::StatusOr<pid_t> pid = Spawned(command, in.get(), to.get(), POSIX_SPAWN_SETPGROUP);
  to.Close();
  if (!pid.ok()) return pid.status();

  CommandResult result;
  result.timed_out = !ReadAll(from.get(), deadline, result.output);
  int status = 0;
  while (!result.timed_out && ::waitpid(*pid, &status, WNOHANG) == 0) {
    if (absl::Now() >= deadline) result.timed_out = true;
    absl::SleepFor(kReapEvery);
  }
  if (result.timed_out) {
    ::kill(-*pid, SIGKILL);
    ::waitpid(*pid, &status, 0);
  } else if (WIFEXITED(status)) {
    result.exit_status = WEXITSTATUS(status);
  }
  return result;
}

absl::StatusOr<pid_t> StartDetached(const Command& command, const std::string& output_file) {
  const File in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const File out(::open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (in.get() < 0 || out.get() < 0) return Failed("open " + output_file, errno);
  return Spawned(command, in.get(), out.get(), POSIX_SPAWN_SETSID);
}

}  // namespace berth::agent

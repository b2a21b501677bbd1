#include "agent/mps/process.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace berth::agent {

namespace {

// Of /proc/PID/stat, counted after the name in parentheses, which may hold blanks itself.
constexpr size_t kStateField = 0;
constexpr size_t kStartTimeField = 19;

std::string FileOf(pid_t pid, const std::string& name) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/", name));
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

}  // namespace

std::optional<ProcessId> FindProcess(pid_t pid) {
  if (pid <= 0) return std::nullopt;
  const std::string stat = FileOf(pid, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields =
      absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
  ProcessId found{.pid = pid};
  if (fields.size() <= kStartTimeField) return std::nullopt;
  if (fields[kStateField] == "Z") {
    ::waitpid(pid, nullptr, WNOHANG);
    return std::nullopt;
  }
  if (!absl::SimpleAtoi(fields[kStartTimeField], &found.start_ticks)) {
    return std::nullopt;
  }
  return found;
}

bool IsAlive(const ProcessId& process) {
  const std::optional<ProcessId> found = FindProcess(process.pid);
  return found && *found == process;
}

bool IsInContainer(pid_t pid, const std::string& container_id) {
  return !container_id.empty() && absl::StrContains(FileOf(pid, "cgroup"), container_id);
}

}  // namespace berth::agent

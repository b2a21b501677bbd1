// Files that survive a crash: written beside, synced, renamed into place.
//
// DATA/instance.json says who this instance is, DATA/tasks/ID.json how far one task has come.
// Writing is done on a thread of its own, so that a slow disk does not hold up the agent's loop;
// reading is done once, at start. A file that cannot be understood is set aside as NAME.corrupt and
// logged.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/thread_pool.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/net.h"

namespace berth::agent {

struct DiskSettings {
  // A simulated fleet keeps its files over a kill of the process, not of the machine.
  bool sync = true;
};

// Writes beside, then renames. Blocking; any thread.
absl::Status ReplaceFile(const std::string& path, const std::string& text, bool sync);

class StateFiles {
 public:
  StateFiles(std::string directory, std::shared_ptr<net::thread_pool> disk, DiskSettings settings);

  // Makes the directories. Errors name the path.
  absl::Status Open();
  // Somebody has removed the directories; nothing can be written until they are made again.
  bool AreGone() const;

  // Writes one after the other, in order of call.
  net::awaitable<absl::Status> Write(std::string name, std::string text);
  net::awaitable<absl::Status> Remove(std::string name);

  // Nothing when there is no such file.
  absl::StatusOr<std::string> Read(const std::string& name) const;
  // Names under `directory`/tasks, as Write takes them. Leftovers of broken writes are removed.
  std::vector<std::string> TaskFiles() const;
  void SetAside(const std::string& name, const std::string& why) const;

  static std::string TaskFile(const std::string& task_id) { return "tasks/" + task_id + ".json"; }

 private:
  net::awaitable<absl::Status> WriteHere(std::string path, std::string text);
  net::awaitable<absl::Status> RemoveHere(std::string path);

  std::string directory_;
  std::shared_ptr<net::thread_pool> disk_;
  DiskSettings settings_;
};

}  // namespace berth::agent

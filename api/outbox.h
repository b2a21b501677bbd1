// What one container instance was sent and has not acknowledged: payloads, oldest first, which are
// sent again with the same messageId when its agent connects again; and the one counter behind
// seqNum and timeline (agent-protocol.md 2.5, 2.7).
//
// Kept in memory alone: after a restart the same follows from the tasks (scheduler::ConnectAgent).
// Thread-safe: the session that was replaced may still use it beside the one that replaced it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "model/ids.h"

namespace berth::api {

// One message to an agent, ready for the wire. Shared by the outbox and the session that writes it.
using MessageText = std::shared_ptr<const std::string>;

class Outbox {
 public:
  enum class Kind { kStart, kStop };

  // What the text of a new payload is made from.
  struct Stamp {
    std::string message_id = {};
    int64_t number = 0;
  };
  using Encode = std::function<std::string(const Stamp&)>;

  // Numbers continue from here, unless they are beyond it already. Microseconds since the epoch, so
  // that they grow over restarts of the server too.
  void CountFrom(int64_t number);
  int64_t NextNumber();

  // Adds a payload and returns its text, or null when the same is waiting already. A stop takes the
  // place of the start that it makes pointless.
  MessageText Add(Kind kind, const model::TaskId& task, const Encode& encode);

  struct Acknowledged {
    Kind kind;
    model::TaskId task;
  };
  // Removes the payload; nothing when no such one waits.
  std::optional<Acknowledged> Acknowledge(std::string_view message_id);

  // What is to be sent again on a new connection, oldest first. Starts of tasks that should no
  // longer run and stops of tasks that have stopped are dropped: an agent that has forgotten a task
  // would run it again.
  using Tasks = absl::flat_hash_set<model::TaskId>;
  std::vector<MessageText> Resend(const Tasks& should_run, const Tasks& should_stop);

  size_t size() const;

 private:
  struct Entry {
    Kind kind;
    model::TaskId task;
    std::string message_id;
    MessageText text;
  };

  mutable absl::Mutex mutex_;
  int64_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth::api

// The committer: one thread that makes decided changes durable in groups, then carries out the
// effects and releases the replies that waited for them. While one transaction is synced the next
// gathers.
//
// If the store fails, the same batch is tried again until it works; health() tells why meanwhile.
#pragma once

#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/limits.h"
#include "api/loop_job.h"
#include "api/metrics.h"
#include "storage/store.h"

namespace berth::api {

// Who carries out effects. Called on the committer's or the loop's thread, in the order of the
// decisions for any one task; it must be quick and must not call back into the loop but to enqueue.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  virtual void Deliver(scheduler::Effect effect) = 0;
  // A change that is now durable; before the effects that came with it.
  virtual void Observe(const model::Change& change) = 0;
};

class Committer {
 public:
  // `durable_change` is the number of the newest change that the store already has. All outlive it.
  Committer(storage::Store& store, EffectSink& effects, Metrics& metrics, const LoopLimits& limits,
            uint64_t durable_change);
  ~Committer() { Stop(); }

  // From the loop's thread, in order. `newest_change` is the number of the last of the changes. The
  // job is released once everything that it changed or saw is durable: at once when it already is.
  void Add(LoopJob* job, LoopJob::Decided decided, uint64_t newest_change);

  // OK, or what the store said when it last failed and has not worked since.
  absl::Status health() const;
  // So much waits to be committed that no more should be decided. Never while the store fails:
  // nothing is added then, and reads go on.
  bool IsFull() const;
  // Blocks until it is not full, or `deadline`.
  void AwaitRoom(absl::Time deadline);
  // Answers those that have waited too long for a store that hangs or fails.
  void RefuseOverdue(absl::Time now);

  // Commits what was added, trying a failing store once more, and refuses the replies that still
  // wait. Nothing may be added afterwards.
  void Stop();

 private:
  struct Waiter {
    LoopJob* job;
    absl::Time deadline;
  };
  struct Batch {
    std::vector<model::Change> changes = {};
    std::vector<scheduler::Effect> effects = {};
    std::vector<Waiter> waiters = {};
    uint64_t newest_change = 0;
  };

  void Run();
  // False when it gave up because of Stop.
  bool CommitUntilItWorks();
  void Complete();
  void Abandon();
  Batch* CoveringBatch(uint64_t change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Full() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return uncommitted_ >= limits_.uncommitted_changes_max && health_.ok() && !stopping_;
  }

  storage::Store& store_;
  EffectSink& effects_;
  Metrics& metrics_;
  const LoopLimits limits_;

  mutable absl::Mutex mutex_;
  absl::CondVar added_;     // or stopping
  absl::CondVar progress_;  // a commit worked or failed
  std::deque<Batch> gathering_ ABSL_GUARDED_BY(mutex_);
  // Its changes belong to the committer's thread while it commits; the rest is guarded.
  Batch in_flight_;
  bool committing_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t durable_ ABSL_GUARDED_BY(mutex_);
  size_t uncommitted_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status health_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace berth::api

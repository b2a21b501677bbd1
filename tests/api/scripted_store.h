// A store for tests: keeps batches in memory, and fails or waits when told to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "storage/store.h"

namespace berth::api {

class ScriptedStore : public storage::Store {
 public:
  using Batch = std::vector<model::Change>;

  absl::StatusOr<model::Records> Load() override { return model::Records{}; }

  absl::Status Commit(std::span<const model::Change> changes) override {
    absl::MutexLock lock(&mutex_);
    ++attempts_;
    waiting_ = true;
    mutex_.Await(absl::Condition(
        +[](ScriptedStore* self) { return !self->held_ || self->let_through_ > 0; }, this));
    waiting_ = false;
    if (let_through_ > 0) --let_through_;
    if (!failure_.empty()) return absl::InternalError(failure_);
    batches_.emplace_back(changes.begin(), changes.end());
    return absl::OkStatus();
  }

  // From now on every commit waits, until LetThrough or Release.
  void Hold() {
    absl::MutexLock lock(&mutex_);
    held_ = true;
  }
  void LetThrough(int commits) {
    absl::MutexLock lock(&mutex_);
    let_through_ += commits;
  }
  void Release() {
    absl::MutexLock lock(&mutex_);
    held_ = false;
  }
  // Every commit fails with `why`; empty: works again.
  void FailWith(std::string why) {
    absl::MutexLock lock(&mutex_);
    failure_ = std::move(why);
  }

  // Blocks until a commit is held.
  void AwaitCommit() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&waiting_));
  }
  // Blocks until that many commits were tried since the start.
  void AwaitAttempts(int attempts) {
    absl::MutexLock lock(&mutex_);
    const auto tried = [this, attempts] { return attempts_ >= attempts; };
    mutex_.Await(absl::Condition(&tried));
  }
  int attempts() const {
    absl::MutexLock lock(&mutex_);
    return attempts_;
  }
  std::vector<size_t> batch_sizes() const {
    absl::MutexLock lock(&mutex_);
    std::vector<size_t> sizes;
    for (const Batch& batch : batches_) sizes.push_back(batch.size());
    return sizes;
  }
  std::vector<Batch> batches() const {
    absl::MutexLock lock(&mutex_);
    return batches_;
  }

 private:
  mutable absl::Mutex mutex_;
  bool held_ = false;
  bool waiting_ = false;
  int let_through_ = 0;
  int attempts_ = 0;
  std::string failure_;
  std::vector<Batch> batches_;
};

}  // namespace berth::api

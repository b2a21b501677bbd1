#include "api/command_pump.h"

namespace berth::api {

void CommandPump::Give(std::unique_ptr<LoopJob> job) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return;
  backlog_.push_back(std::move(job));
  Fill();
}

void CommandPump::TakeBack(std::unique_ptr<LoopJob> job) {
  absl::MutexLock lock(&mutex_);
  --in_flight_;
  if (stopped_) return;
  backlog_.push_back(std::move(job));
  Rest();
}

void CommandPump::Finished() {
  absl::MutexLock lock(&mutex_);
  --in_flight_;
  Fill();
}

void CommandPump::Fill() {
  while (!stopped_ && !resting_ && in_flight_ < limits_.in_flight_max && !backlog_.empty()) {
    if (!loop_.Enqueue(backlog_.front().get())) {
      Rest();
      return;
    }
    // The loop's now, until it is released.
    static_cast<void>(backlog_.front().release());
    backlog_.pop_front();
    ++in_flight_;
  }
}

void CommandPump::Rest() {
  if (resting_) return;
  resting_ = true;
  timer_.expires_after(absl::ToChronoNanoseconds(limits_.retry_delay));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    absl::MutexLock lock(&mutex_);
    resting_ = false;
    Fill();
  });
}

size_t CommandPump::backlog() const {
  absl::MutexLock lock(&mutex_);
  return backlog_.size();
}

void CommandPump::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
  backlog_.clear();
}

}  // namespace berth::api

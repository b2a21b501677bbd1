// Ends what waits on a stream after a while: the connection stays open, so that an answer can still
// be sent once Disarm or another Arm has restored it. For one stream, on its executor.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "absl/time/time.h"
#include "transport/net.h"
#include "transport/stream.h"

namespace berth::transport {

class Deadline {
 public:
  explicit Deadline(const Stream& stream)
      : timer_(stream.get_executor()), state_(std::make_shared<State>(stream)) {}
  ~Deadline() { ++state_->generation; }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Replaces the one before.
  void Arm(absl::Duration wait) {
    Disarm();
    timer_.expires_after(absl::ToChronoNanoseconds(wait));
    timer_.async_wait([state = state_, generation = state_->generation](auto error) {
      // A wait that ended before it was replaced may be heard of only now.
      if (error || state->generation != generation) return;
      state->expired = true;
      state->stream.Expire();
    });
  }
  void Disarm() {
    ++state_->generation;
    state_->expired = false;
    state_->stream.Restore();
  }
  bool expired() const { return state_->expired; }

 private:
  struct State {
    explicit State(const Stream& of) : stream(of) {}
    Stream stream;
    uint64_t generation = 0;
    bool expired = false;
  };
  net::steady_timer timer_;
  std::shared_ptr<State> state_;
};

}  // namespace berth::transport

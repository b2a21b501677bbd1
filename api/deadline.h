// Ends what waits on a socket after a while, by cancelling it: the socket stays open, so that an
// answer can still be sent. For one socket, on its executor.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/time/time.h"
#include "api/net.h"

namespace berth::api {

class Deadline {
 public:
  // The socket outlives it.
  explicit Deadline(net::ip::tcp::socket& socket)
      : timer_(socket.get_executor()), state_(std::make_shared<State>()) {
    state_->socket = &socket;
  }
  ~Deadline() { state_->socket = nullptr; }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Replaces the one before.
  void Arm(absl::Duration wait) {
    Disarm();
    timer_.expires_after(absl::ToChronoNanoseconds(wait));
    timer_.async_wait([state = state_, generation = state_->generation](auto error) {
      // A wait that ended before it was replaced may be heard of only now.
      if (error || state->socket == nullptr || state->generation != generation) return;
      state->expired = true;
      boost::system::error_code ignored;  // Nothing waits then.
      state->socket->cancel(ignored);
    });
  }
  void Disarm() {
    ++state_->generation;
    state_->expired = false;
  }
  bool expired() const { return state_->expired; }

 private:
  struct State {
    net::ip::tcp::socket* socket = nullptr;
    uint64_t generation = 0;
    bool expired = false;
  };
  net::steady_timer timer_;
  std::shared_ptr<State> state_;
};

}  // namespace berth::api

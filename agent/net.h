// Names of the network library that every file of agent/ uses.
#pragma once

#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "absl/time/time.h"

namespace berth::agent {

namespace net = boost::asio;

// Sleeps for `duration`. A cancelled timer (the process is ending) returns early.
inline net::awaitable<void> Sleep(absl::Duration duration) {
  net::steady_timer timer(co_await net::this_coro::executor);
  timer.expires_after(absl::ToChronoNanoseconds(duration));
  boost::system::error_code error;
  co_await timer.async_wait(net::redirect_error(net::use_awaitable, error));
}

}  // namespace berth::agent

// Starting a coroutine that nobody awaits. Its exceptions end here, in the log.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "agent/net.h"

namespace berth::agent {

void LogStray(std::string_view what, const std::exception_ptr& exception);

// `what` names the coroutine in the log; it must outlive it (a literal).
inline void Spawn(const net::any_io_executor& executor, std::string_view what,
                  net::awaitable<void> coroutine) {
  net::co_spawn(executor, std::move(coroutine), [what](const std::exception_ptr& exception) {
    if (exception) LogStray(what, exception);
  });
}

}  // namespace berth::agent

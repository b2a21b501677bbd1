#include "agent/spawn.h"

#include <spdlog/spdlog.h>

namespace berth::agent {

void LogStray(std::string_view what, const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    spdlog::error("{} ended with an exception: {}", what, error.what());
  } catch (...) {
    spdlog::error("{} ended with an unknown exception", what);
  }
}

}  // namespace berth::agent

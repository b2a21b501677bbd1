// BERTH_CHECK: for what can only be false if we are wrong.
//
// It aborts, in release builds too: a restart begins from what was committed, which is good, while
// going on would write the mistake down. What comes from outside is never checked with it; that
// gets an absl::Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace berth::model {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace berth::model

#define BERTH_CHECK(condition)                                     \
  do {                                                             \
    if (!(condition)) {                                            \
      ::berth::model::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                              \
  } while (false)

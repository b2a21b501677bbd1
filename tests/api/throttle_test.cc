#include "api/access/throttle.h"

#include <catch2/catch.hpp>

namespace berth::api {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

ThrottleLimits Small() {
  ThrottleLimits limits;
  limits.rates = {{{2, 3}, {0, 0}, {1, 1}}};
  limits.buckets_max = 2;
  return limits;
}

int Admitted(Throttle& throttle, const std::string& who, int calls, absl::Time now,
             CallClass call_class = CallClass::kMutate) {
  int admitted = 0;
  for (int i = 0; i < calls; ++i) admitted += throttle.Admit(who, call_class, now);
  return admitted;
}

}  // namespace

TEST_CASE("a burst is let through, and then so many a second", "[throttle]") {
  Throttle throttle(Small());

  CHECK(Admitted(throttle, "a", 10, kStart) == 3);
  CHECK(Admitted(throttle, "a", 10, kStart + absl::Milliseconds(499)) == 0);
  CHECK(Admitted(throttle, "a", 10, kStart + absl::Milliseconds(500)) == 1);
  CHECK(Admitted(throttle, "a", 10, kStart + absl::Seconds(60)) == 3);
}

TEST_CASE("callers and classes are counted apart", "[throttle]") {
  Throttle throttle(Small());

  CHECK(Admitted(throttle, "a", 10, kStart) == 3);
  CHECK(Admitted(throttle, "b", 10, kStart) == 3);
  CHECK(Admitted(throttle, "a", 10, kStart, CallClass::kRead) == 10);
  CHECK(throttle.buckets() == 2);
}

TEST_CASE("a clock that is set back fills no bucket twice", "[throttle]") {
  Throttle throttle(Small());
  CHECK(Admitted(throttle, "a", 10, kStart) == 3);

  CHECK(Admitted(throttle, "a", 10, kStart - absl::Hours(1)) == 0);
  CHECK(Admitted(throttle, "a", 10, kStart) == 0);
}

TEST_CASE("callers beyond the limit share a bucket until others have been idle", "[throttle]") {
  Throttle throttle(Small());
  CHECK(Admitted(throttle, "a", 3, kStart) == 3);
  CHECK(Admitted(throttle, "b", 3, kStart) == 3);

  CHECK(Admitted(throttle, "c", 2, kStart) == 2);
  CHECK(Admitted(throttle, "d", 2, kStart) == 1);
  CHECK(throttle.buckets() == 2);

  CHECK(Admitted(throttle, "e", 5, kStart + absl::Seconds(2)) == 3);
  CHECK(throttle.buckets() == 1);
}

TEST_CASE("actions have classes by what they do", "[throttle]") {
  CHECK(ClassOf("DescribeTasks") == CallClass::kRead);
  CHECK(ClassOf("ListTasks") == CallClass::kRead);
  CHECK(ClassOf("GetTaskProtection") == CallClass::kRead);
  CHECK(ClassOf("SubmitTaskStateChange") == CallClass::kAgent);
  CHECK(ClassOf("DiscoverPollEndpoint") == CallClass::kAgent);
  CHECK(ClassOf("RunTask") == CallClass::kMutate);
  CHECK(ClassOf("-") == CallClass::kMutate);
}

}  // namespace berth::api

// How often one caller may call: a bucket of tokens for each access key (with --auth none, for each
// address) and class of calls. Generous: it is there so that one client that runs wild does not
// take the server from the others, not to meter anybody. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace berth::api {

enum class CallClass { kMutate, kRead, kAgent };
inline constexpr size_t kCallClasses = 3;
std::string_view ToString(CallClass call_class);

// By the action's name. One that is unknown counts as mutating.
CallClass ClassOf(std::string_view action);

struct RateLimit {
  double per_second = 0;  // 0: unlimited
  double burst = 0;       // at least 1 where there is a limit
};

struct ThrottleLimits {
  // In the order of CallClass.
  std::array<RateLimit, kCallClasses> rates = {
      {{10'000, 20'000}, {20'000, 40'000}, {50'000, 100'000}}};
  // Callers beyond so many share one bucket for each class until others have been idle.
  size_t buckets_max = 10'000;
  absl::Duration sweep_interval = absl::Seconds(1);
};

class Throttle {
 public:
  explicit Throttle(const ThrottleLimits& limits) : limits_(limits) {}

  // Takes a token of the caller's; false when there is none: the call is to be refused.
  bool Admit(const std::string& caller, CallClass call_class, absl::Time now);

  size_t buckets() const;

 private:
  struct Bucket {
    double tokens = 0;
    absl::Time filled_at = absl::InfinitePast();
  };
  using Key = std::pair<std::string, int>;

  // The tokens that the bucket holds by now.
  static double TokensAt(const Bucket& bucket, const RateLimit& rate, absl::Time now);
  Bucket& FindBucket(const std::string& caller, CallClass call_class, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Forgets the buckets that are full again: a new one would be the same.
  void Sweep(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ThrottleLimits limits_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Key, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  std::array<Bucket, kCallClasses> shared_ ABSL_GUARDED_BY(mutex_);
  absl::Time swept_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace berth::api

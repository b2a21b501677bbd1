#include "api/access/throttle.h"

#include <algorithm>

#include "api/access/authorize.h"

namespace berth::api {

std::string_view ToString(CallClass call_class) {
  switch (call_class) {
    case CallClass::kMutate:
      return "mutate";
    case CallClass::kRead:
      return "read";
    case CallClass::kAgent:
      return "agent";
  }
  return "";
}

CallClass ClassOf(std::string_view action) {
  if (IsAgentReport(action)) return CallClass::kAgent;
  return IsReadAction(action) ? CallClass::kRead : CallClass::kMutate;
}

double Throttle::TokensAt(const Bucket& bucket, const RateLimit& rate, absl::Time now) {
  if (bucket.filled_at == absl::InfinitePast()) return rate.burst;
  const double since = std::max(0.0, absl::ToDoubleSeconds(now - bucket.filled_at));
  return std::min(rate.burst, bucket.tokens + since * rate.per_second);
}

Throttle::Bucket& Throttle::FindBucket(const std::string& caller, CallClass call_class,
                                       absl::Time now) {
  Key key(caller, static_cast<int>(call_class));
  const auto found = buckets_.find(key);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= limits_.buckets_max) {
    if (now - swept_at_ >= limits_.sweep_interval) Sweep(now);
    if (buckets_.size() >= limits_.buckets_max) return shared_[static_cast<size_t>(call_class)];
  }
  return buckets_[std::move(key)];
}

void Throttle::Sweep(absl::Time now) {
  swept_at_ = now;
  absl::erase_if(buckets_, [&](const auto& entry) {
    const RateLimit& rate = limits_.rates[static_cast<size_t>(entry.first.second)];
    return TokensAt(entry.second, rate, now) >= rate.burst;
  });
}

bool Throttle::Admit(const std::string& caller, CallClass call_class, absl::Time now) {
  const RateLimit& rate = limits_.rates[static_cast<size_t>(call_class)];
  if (rate.per_second <= 0) return true;
  absl::MutexLock lock(&mutex_);
  Bucket& bucket = FindBucket(caller, call_class, now);
  const double tokens = TokensAt(bucket, rate, now);
  const bool admitted = tokens >= 1;
  bucket.tokens = admitted ? tokens - 1 : tokens;
  // Never back: a clock that is set back must not fill buckets twice.
  bucket.filled_at = std::max(bucket.filled_at, now);
  return admitted;
}

size_t Throttle::buckets() const {
  absl::MutexLock lock(&mutex_);
  return buckets_.size();
}

}  // namespace berth::api

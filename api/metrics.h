// What /metrics shows, in the Prometheus text format: counters that all threads add to, and gauges
// that are read when asked for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "placement/fragmentation_figures.h"

namespace berth::api {

// Counts of values in buckets with fixed upper bounds.
template <size_t kBuckets>
class Histogram {
 public:
  explicit Histogram(std::array<double, kBuckets> bounds) : bounds_(bounds) {}

  void Add(double value) {
    size_t bucket = 0;
    while (bucket < kBuckets && value > bounds_[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    // In millionths, because atomic<double> cannot be added to everywhere.
    sum_micros_.fetch_add(static_cast<uint64_t>(value * 1e6), std::memory_order_relaxed);
  }

  const std::array<double, kBuckets>& bounds() const { return bounds_; }
  uint64_t count(size_t bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  double sum() const { return static_cast<double>(sum_micros_.load()) / 1e6; }

 private:
  const std::array<double, kBuckets> bounds_;
  std::array<std::atomic<uint64_t>, kBuckets + 1> counts_ = {};
  std::atomic<uint64_t> sum_micros_ = 0;
};

// What is read at the moment of asking.
struct Gauges {
  size_t queue_length = 0;
  size_t connections = 0;
  size_t connected_agents = 0;
  bool store_works = true;
  size_t throttle_buckets = 0;
  uint64_t audit_entries_dropped = 0;
  struct Cluster {
    std::string name = {};
    int64_t instances = 0;
    int64_t running_tasks = 0;
    int64_t pending_tasks = 0;
    placement::FragmentationFigures fragmentation = {};
  };
  std::vector<Cluster> clusters = {};
};

class Metrics {
 public:
  // `action` and `code` come from fixed sets, never from the caller's text.
  void CountRequest(std::string_view action, std::string_view code, absl::Duration took);
  // `call_class` is ToString of a CallClass.
  void CountThrottled(std::string_view call_class);
  void CountCommit(size_t changes, absl::Duration took);
  void CountFailedCommit() { failed_commits_.fetch_add(1, std::memory_order_relaxed); }

  std::string Render(const Gauges& gauges) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, uint64_t> requests_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t, std::less<>> throttled_ ABSL_GUARDED_BY(mutex_) = {
      {"agent", 0}, {"mutate", 0}, {"read", 0}};
  Histogram<11> request_seconds_{
      {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0}};
  Histogram<9> commit_seconds_{{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 5.0}};
  Histogram<7> commit_changes_{{1, 4, 16, 64, 256, 1024, 4096}};
  std::atomic<uint64_t> failed_commits_ = 0;
};

}  // namespace berth::api

#include "simulator/arrivals.h"

#include <bit>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "simulator/go_random.h"

namespace berth::simulator {
namespace {

// The original draws these before it shuffles the tasks, and before it orders the nodes.
constexpr int kDiscardedFirst = 1;
constexpr int kDiscardedBeforeNodes = 10;

// Those of 0..n-1 that have not been removed, by rank. A Fenwick tree of counts.
class Remaining {
 public:
  explicit Remaining(size_t n) : counts_(n + 1), top_(std::bit_floor(n)) {
    for (size_t i = 1; i <= n; ++i) {
      counts_[i] += 1;
      const size_t above = i + (i & -i);
      if (above <= n) counts_[above] += counts_[i];
    }
  }

  // Which one has so many before it; it is removed.
  size_t Remove(int64_t before) {
    size_t position = 0;
    for (size_t step = top_; step > 0; step /= 2) {
      if (position + step >= counts_.size() || counts_[position + step] > before) continue;
      position += step;
      before -= counts_[position];
    }
    for (size_t i = position + 1; i < counts_.size(); i += i & -i) --counts_[i];
    return position;
  }

 private:
  std::vector<int64_t> counts_;
  size_t top_;
};

int64_t MilliOf(const Trace& trace, int32_t task) {
  return trace.tasks[task].gpus * trace.tasks[task].gpu_milli;
}

// Adds copies of tasks, drawn with replacement, until the next would ask for too much.
absl::Status Inflate(const Trace& trace, GoRandom& random, Arrivals& arrivals) {
  int64_t asked = trace.gpu_milli_asked;
  for (int32_t copy = 0;; ++copy) {
    const auto task = static_cast<int32_t>(random.Intn(std::ssize(trace.tasks)));
    // One GPU's worth, however many it asks for: as published.
    if ((asked + trace.tasks[task].gpu_milli) * 10 > kArrivedTenthsMax * trace.gpu_milli) break;
    if (std::ssize(arrivals.tasks) >= kArrivalsMax) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "after %d tasks the GPUs are still not all asked for: hardly any task asks for one",
          kArrivalsMax));
    }
    arrivals.tasks.push_back(task);
    arrivals.copies.push_back(copy);
    asked += MilliOf(trace, task);
  }
  return absl::OkStatus();
}

// Removes tasks, drawn from those that are left, until they do not ask for too much.
void Deflate(const Trace& trace, GoRandom& random, Arrivals& arrivals) {
  int64_t asked = trace.gpu_milli_asked;
  Remaining remaining(arrivals.tasks.size());
  std::vector<bool> removed(arrivals.tasks.size());
  int64_t left = std::ssize(arrivals.tasks);
  while (asked * 10 > kArrivedTenthsMax * trace.gpu_milli) {
    const size_t arrival = remaining.Remove(random.Intn(left--));
    removed[arrival] = true;
    asked -= MilliOf(trace, arrivals.tasks[arrival]);
  }
  std::vector<int32_t> kept;
  for (size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) kept.push_back(arrivals.tasks[i]);
  }
  arrivals.tasks = std::move(kept);
  arrivals.copies.assign(arrivals.tasks.size(), Arrivals::kOriginal);
}

// Those that arrive before too much is asked for.
void KeepFirst(const Trace& trace, Arrivals& arrivals) {
  int64_t asked = 0;
  size_t kept = 0;
  while (kept < arrivals.tasks.size()) {
    asked += MilliOf(trace, arrivals.tasks[kept]);
    if (asked * 10 > kArrivedTenthsMax * trace.gpu_milli) break;
    ++kept;
  }
  arrivals.tasks.resize(kept);
  arrivals.copies.resize(kept);
}

}  // namespace

absl::StatusOr<Arrivals> DrawArrivals(const Trace& trace, int64_t seed) {
  GoRandom random(seed);
  for (int i = 0; i < kDiscardedFirst; ++i) random.Next();

  Arrivals arrivals;
  arrivals.tasks.resize(trace.tasks.size());
  std::iota(arrivals.tasks.begin(), arrivals.tasks.end(), 0);
  for (int64_t i = std::ssize(arrivals.tasks) - 1; i > 0 && !trace.timed; --i) {
    std::swap(arrivals.tasks[i], arrivals.tasks[random.IntnForShuffle(i + 1)]);
  }
  arrivals.copies.assign(arrivals.tasks.size(), Arrivals::kOriginal);

  if (trace.gpu_milli_asked * 10 < kArrivedTenthsMax * trace.gpu_milli) {
    if (absl::Status status = Inflate(trace, random, arrivals); !status.ok()) return status;
  } else if (trace.timed) {
    KeepFirst(trace, arrivals);
  } else {
    Deflate(trace, random, arrivals);
  }

  for (int i = 0; i < kDiscardedBeforeNodes; ++i) random.Next();
  std::vector<int32_t> index_of_node(trace.nodes.size());
  for (size_t i = 0; i < index_of_node.size(); ++i) {
    const auto j = static_cast<size_t>(random.Intn(static_cast<int64_t>(i) + 1));
    index_of_node[i] = index_of_node[j];
    index_of_node[j] = static_cast<int32_t>(i);
  }
  arrivals.node_order.resize(index_of_node.size());
  for (size_t node = 0; node < index_of_node.size(); ++node) {
    arrivals.node_order[index_of_node[node]] = static_cast<int32_t>(node);
  }
  return arrivals;
}

std::string ArrivalName(const Trace& trace, const Arrivals& arrivals, size_t arrival) {
  const std::string& name = trace.tasks[arrivals.tasks[arrival]].name;
  if (arrivals.copies[arrival] == Arrivals::kOriginal) return name;
  return absl::StrFormat("%s-tuned-%d", name, arrivals.copies[arrival]);
}

}  // namespace berth::simulator

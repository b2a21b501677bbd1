#include "simulator/experiment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "placement/fleet/fleet.h"
#include "placement/fleet/fragmentation.h"
#include "simulator/arrivals.h"
#include "simulator/fnv.h"

namespace berth::simulator {
namespace {

using placement::Fleet;
using placement::FleetChoice;
using placement::NodeView;

constexpr int kCurvePoints = kArrivedTenthsMax * 10 + 1;

// What is measured after each arrival, gathered by the per cent that had arrived.
class Curve {
 public:
  explicit Curve(int64_t capacity)
      : capacity_(static_cast<double>(capacity)), sums_(kCurvePoints + 1) {}

  void Add(int64_t arrived_milli, int64_t used_milli, double fragmentation) {
    const double percent = capacity_ / 100;
    // To even where it stands in the middle, and allocation to two decimals: as published.
    const auto arrived =
        static_cast<size_t>(std::nearbyint(static_cast<double>(arrived_milli) / percent));
    if (arrived >= sums_.size()) return;
    const double idle = capacity_ - static_cast<double>(used_milli);
    Sum& sum = sums_[arrived];
    ++sum.count;
    sum.values.alloc_pct += std::round(static_cast<double>(used_milli) / percent * 100) / 100;
    sum.values.frag_pct_of_capacity += fragmentation / percent;
    sum.values.frag_pct_of_idle += idle > 0 ? 100 * fragmentation / idle : 0;
  }

  // Where there was no arrival, what its neighbours have: as published. A cluster so small that
  // they have none either stands as it last did.
  CurvePoint At(size_t arrived) const {
    Sum sum = sums_[arrived];
    if (sum.count == 0) {
      if (arrived > 0) sum += sums_[arrived - 1];
      sum += sums_[arrived + 1];
    }
    while (sum.count == 0 && arrived > 0) sum = sums_[--arrived];
    const auto count = static_cast<double>(std::max<int64_t>(1, sum.count));
    return {.alloc_pct = sum.values.alloc_pct / count,
            .frag_pct_of_capacity = sum.values.frag_pct_of_capacity / count,
            .frag_pct_of_idle = sum.values.frag_pct_of_idle / count};
  }

 private:
  struct Sum {
    int64_t count = 0;
    CurvePoint values = {};

    void operator+=(const Sum& other) {
      count += other.count;
      values.alloc_pct += other.values.alloc_pct;
      values.frag_pct_of_capacity += other.values.frag_pct_of_capacity;
      values.frag_pct_of_idle += other.values.frag_pct_of_idle;
    }
  };

  double capacity_;
  std::vector<Sum> sums_;
};

// The fragmentation of a whole fleet, node by node as they change.
class ClusterFragmentation {
 public:
  explicit ClusterFragmentation(const placement::TaskMix& mix) : mix_(mix) {}

  void Update(const NodeView& view) {
    if (static_cast<size_t>(view.slot) >= nodes_.size()) nodes_.resize(view.slot + 1);
    const double now =
        placement::Fragmentation(view.node.cpu_left, view.node.model, view.devices, mix_);
    total_ += now - nodes_[view.slot];
    nodes_[view.slot] = now;
  }
  double total() const { return total_; }

 private:
  const placement::TaskMix& mix_;
  std::vector<double> nodes_ = {};
  double total_ = 0;
};

void AddDecision(Fnv& decisions, const std::optional<FleetChoice>& choice) {
  std::array<char, 16> line;
  char* end =
      std::to_chars(line.data(), line.data() + line.size() - 1, choice ? choice->slot : -1).ptr;
  *end++ = '\n';
  decisions.Add({line.data(), static_cast<size_t>(end - line.data())});
}

}  // namespace

absl::StatusOr<RunResult> RunExperiment(const Trace& trace, placement::GpuPolicyKind policy,
                                        int64_t seed, MixSource mix) {
  const absl::StatusOr<Arrivals> arrivals = DrawArrivals(trace, seed);
  if (!arrivals.ok()) return arrivals.status();

  placement::GpuPolicyInputs inputs = {.mix = trace.mix, .seed = static_cast<uint64_t>(seed)};
  if (mix == MixSource::kTrace) inputs.known_mix = trace.counted_shapes;
  Fleet fleet(placement::MakeGpuPolicy(policy, inputs));
  ClusterFragmentation fragmentation(trace.mix);
  // A node's slot is its index, so that equal scores go to the lowest.
  for (const int32_t node : arrivals->node_order) {
    fragmentation.Update(fleet.view(fleet.Add(trace.resources[node])));
  }
  std::vector<placement::ShapeId> shapes;
  for (const placement::TaskShape& shape : trace.shapes) shapes.push_back(fleet.Intern(shape));

  RunResult result = {.policy = std::string(ToString(policy)),
                      .seed = seed,
                      .arrived = std::ssize(arrivals->tasks)};
  Curve curve(trace.gpu_milli);
  Fnv decisions;
  int64_t arrived_milli = 0;
  int64_t used_milli = 0;
  for (const int32_t task : arrivals->tasks) {
    const int32_t number = trace.shape_of_task[task];
    const int64_t milli = GpuMilli(trace.shapes[number], trace.milli_per_gpu);
    fleet.NoteArrival(shapes[number]);
    const std::optional<FleetChoice> choice = fleet.Choose(shapes[number]);
    arrived_milli += milli;
    if (choice) {
      fleet.Take(choice->slot, shapes[number], choice->devices);
      fragmentation.Update(fleet.view(choice->slot));
      used_milli += milli;
    } else {
      ++result.failed;
    }
    AddDecision(decisions, choice);
    curve.Add(arrived_milli, used_milli, fragmentation.total());
  }
  for (int percent = 0; percent < kCurvePoints; ++percent)
    result.curve.push_back(curve.At(percent));
  result.alloc_pct_at_100 = result.curve[100].alloc_pct;
  result.alloc_pct_at_130 = result.curve[kArrivedTenthsMax * 10].alloc_pct;
  result.decision_hash = absl::StrFormat("%016x", decisions.hash());
  return result;
}

}  // namespace berth::simulator

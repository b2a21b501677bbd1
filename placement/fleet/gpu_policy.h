// Which node a task goes to, and which of its devices: the one interface of all GPU policies.
//
// A policy scores placing a shape on a node that has room for it; the highest score is chosen, the
// lowest slot among equals. It sees integers only and keeps whatever it needs of each node, which
// NodeChanged tells it. A score may depend on the node (its CPU left, its devices in any order, its
// model and the kinds of its tasks), on the shape but for its memory, and on the policy's own
// inputs, and on nothing else: the fleet keeps scores, also for other nodes that are alike, and
// asks again for all when `epoch` has changed. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "model/rng.h"
#include "placement/fleet/node.h"
#include "placement/fleet/task_mix.h"

namespace berth::placement {

// Scores of one form: floor((offset - key) / step), of a shape's offset and a node's key. The best
// of them is found by an index of keys (room_index.h).
class KeyedScores {
 public:
  virtual int64_t step() const = 0;
  virtual int64_t Key(const NodeView& view) const = 0;
  // Nothing where this shape's scores have another form.
  virtual std::optional<int64_t> Offset(const TaskShape& shape) const = 0;

 protected:
  ~KeyedScores() = default;
};

class GpuPolicy {
 public:
  virtual ~GpuPolicy() = default;

  // Requires of both: IsFeasible(view.node, shape).
  virtual int64_t Score(const NodeView& view, ShapeId id, const TaskShape& shape) = 0;
  virtual DeviceSet ChooseDevices(const NodeView& view, ShapeId id, const TaskShape& shape) = 0;
  // The same scores by their keys, where all are of that form. What it returns never changes.
  virtual const KeyedScores* keyed() const { return nullptr; }
  // Whether working a score out costs more than remembering it.
  virtual bool is_costly() const { return false; }

  // A node was added, or something is left of it that was not before, or the other way round. Comes
  // before any score of that node is asked for.
  virtual void NodeChanged(const NodeView&) {}
  // A shape is known by this number from now on; a number may come again with another shape.
  virtual void ShapeAdded(ShapeId, const TaskShape&) {}
  // A task of this shape came, wherever it will go; called before it is placed. For policies that
  // learn the mix.
  virtual void TaskArrived(ShapeId, const TaskShape&) {}
  // Changes when scores do that no NodeChanged announced: prices, the task mix. The fleet then
  // drops every score it keeps.
  virtual uint64_t epoch() const { return 0; }
  // A policy that draws uniformly among the nodes with room, instead of the best, gives its source.
  virtual model::Rng* draws() { return nullptr; }
};

enum class GpuPolicyKind {
  kRandom,
  kFirstFit,
  kWorstFit,
  kBestFit,
  kDotProduct,
  kGpuPacking,
  kGpuClustering,
  kFgd,
  kWorth,  // Berth's own
};

// In the order above; the names that users type: "best-fit".
const std::vector<GpuPolicyKind>& GpuPolicyKinds();
std::string_view ToString(GpuPolicyKind kind);
std::optional<GpuPolicyKind> GpuPolicyKindFrom(std::string_view name);

// What policies measure against. The trace's are the published experiment's constants; a server
// takes the largest node it has, and a typical device.
struct FleetScale {
  int64_t node_cpu = 128000;
  int64_t node_units = 8000;
  int64_t device_units = 1000;
};

struct GpuPolicyInputs {
  FleetScale scale = {};
  TaskMix mix = {};   // fgd
  std::vector<CountedShape> known_mix = {};  // worth: what tasks will ask for; empty: it learns
  uint64_t seed = 0;  // random
};

std::unique_ptr<GpuPolicy> MakeGpuPolicy(GpuPolicyKind kind, const GpuPolicyInputs& inputs);

// Device choices that several policies share. All require: IsFeasible(view.node, shape).
// What the shape gets when a sharing task takes the device with the least left that suffices, the
// lowest number among equals, and one with whole devices the smallest idle ones.
DeviceSet TightestDevices(const NodeView& view, const TaskShape& shape);
// The same for whole devices alone.
DeviceSet SmallestIdleDevices(std::span<const DeviceState> devices, int count);

}  // namespace berth::placement

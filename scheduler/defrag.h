// Commands about fragmentation: which tasks to move, and how fragmented clusters are. Questions, as
// Explain and Plan are; a header of their own, since only those who ask need it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "placement/cluster_fragmentation.h"
#include "placement/defrag.h"
#include "scheduler/commands.h"
#include "scheduler/decide.h"

namespace berth::scheduler {

inline constexpr int64_t kDefragWorstMax = 10;

// Which tasks to move, so that a task finds room or less GPU memory is fragmented. Stops and starts
// nothing. Tasks that are protected or on their way to STOPPED are not moved; those that are keep
// the constraints of their definition.
struct Defrag {
  struct Reply {
    std::shared_ptr<const model::TaskDefinition> definition = {};  // null: none was asked for
    std::string group = {};
    placement::DefragPlan plan = {};
    std::vector<model::TaskRecord> moved = {};  // the tasks of plan.moves
    // The most fragmented instances as things are, at most kDefragWorstMax.
    std::vector<placement::FragmentedInstance> worst = {};
    int64_t typical_tasks = 0;  // the placements that the mix was learned from
  };
  model::ClusterName cluster = {};
  // A RunTask whose `count` tasks are to find room, 1 to placement::kDefragCountMax; the same may
  // be left out as for a Plan.
  std::optional<RunTask> task = std::nullopt;
  int64_t moves_max = placement::kDefragMovesDefault;  // 0 to placement::kDefragMovesMax
};

// Costs what changed since it was last asked, but for now and then a look at every instance
// (placement/cluster_fragmentation.h).
struct ReadFragmentation {
  struct Row {
    model::ClusterName cluster = {};
    placement::FragmentationFigures figures = {};
  };
  struct Reply {
    std::vector<Row> rows = {};  // of those that are ACTIVE
  };
  std::vector<model::ClusterName> clusters = {};
};

Outcome<Defrag::Reply> Decide(State&, const Defrag&, Context);
Outcome<ReadFragmentation::Reply> Decide(State&, const ReadFragmentation&, Context);

template <>
inline constexpr bool kReadsOnly<Defrag> = true;
template <>
inline constexpr bool kReadsOnly<ReadFragmentation> = true;

}  // namespace berth::scheduler

// Which tasks to move so that a demand finds room, or so that less GPU memory is fragmented.
// A plan and no more: nothing in Berth carries it out. To move a task is to stop it and to run it
// again, so its old place is free before it takes the new one.
//
// The engine checks a plan before it is handed out: the moves are made one after the other on the
// inventory, where each must find its place free and its own rules met; then the demand is placed
// as RunTask would place it. All is undone again.
//
// Bounded by counts, not by time, so that equal inputs give equal plans: the limits below. What a
// plan to make room leaves out is which of several places a moved task could take: it takes the one
// that the engine would give it. Plans to lower fragmentation are made move by move, each the one
// that lowers it most; two moves that help only together are not found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "placement/cluster_fragmentation.h"
#include "placement/demand.h"
#include "placement/inventory.h"
#include "placement/place.h"
#include "placement/remedy.h"
#include "placement/rules.h"

namespace berth::placement {

inline constexpr int64_t kDefragMovesDefault = 5;
inline constexpr int64_t kDefragMovesMax = 20;
inline constexpr int64_t kDefragCountMax = 100;
// For one demand so many instances are considered, those closest to a fit; to lower fragmentation
// so many, those with the most of it.
inline constexpr int64_t kDefragInstancesMax = 64;
// So many tasks of one instance, the smallest; of equal ones no more than there may be moves.
inline constexpr int64_t kDefragTasksMax = 64;
// Looks at an instance, over all: a check counts as one, a placement with rules as many as there
// are instances. The cluster's loop waits for them: about 0.1 s (benchmarks/defrag_benchmark.cc).
inline constexpr int64_t kDefragLooksMax = 150'000;
// A move that lowers fragmentation by less is not worth a restart.
inline constexpr int64_t kDefragGainMinMib = 1;

struct DefragMove {
  std::string task = {};  // as the holder was named
  model::InstanceId from = {};
  std::vector<model::GpuId> from_gpus = {};
  model::InstanceId to = {};  // perhaps the same instance, with another GPU
  std::vector<model::GpuId> to_gpus = {};
};

struct DefragPlan {
  enum class Outcome {
    kNoMoveNeeded,  // the demand fits as it is; nothing is fragmented
    kMoves,
    kNoPlan,  // within the limits
  };
  Outcome outcome = Outcome::kNoPlan;
  // A limit cut the search short: there may be a plan where there is none here, or a better one.
  bool limited = false;
  std::vector<DefragMove> moves = {};  // in the order in which they can be made
  // Where the demand's tasks then go: all of them, or without a plan those that fit without moves.
  std::vector<Placement> places = {};
  FragmentationFigures before = {};
  FragmentationFigures after = {};  // the moves; the demand is not placed yet
};
// NO_MOVE_NEEDED, MOVES, NO_PLAN
std::string_view ToString(DefragPlan::Outcome outcome);

struct DefragDemand {
  Demand demand = {};
  Rules rules = {};
  std::string group = {};
  int64_t count = 1;  // so many tasks; 1 to kDefragCountMax
};

// The fewest moves that make all of it fit, task by task: for the second task the fewest after the
// first one's. `movable`: those tasks of an instance that may be moved, with the rules that they
// keep; protected ones and those that are ending are not among them.
//
// Requires: 0 <= moves_max <= kDefragMovesMax. `inventory` is as it was when it returns.
DefragPlan PlanRoom(const DefragDemand& wanted, int64_t moves_max, HoldersOn movable,
                    ClusterFragmentation& fragmentation, Inventory& inventory);

// At most so many moves, each the one that lowers the cluster's fragmentation most.
DefragPlan PlanLessFragmentation(int64_t moves_max, HoldersOn movable,
                                 ClusterFragmentation& fragmentation, Inventory& inventory);

}  // namespace berth::placement

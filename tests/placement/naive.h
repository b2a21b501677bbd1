// The oracle: placement done in the obvious way. It keeps the tasks of each instance, works out
// what is left from them each time it is asked, looks at every instance and every GPU, and takes
// the best. It shares no code with the engine; the two must always agree.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/container_instance.h"
#include "placement/explanation.h"
#include "placement/place.h"

namespace berth::placement::naive {

struct Instance {
  model::ContainerInstance record = {};
  bool eligible = false;
  std::map<int64_t, Reservation> tasks = {};  // by task number
  int64_t running_tasks = 0;                  // as the engine was told
};

using Cluster = std::map<model::InstanceId, Instance>;

// As DescribeContainerInstances shows it.
InstanceState StateOf(const Instance& instance);

// What keeps the demand off the instance; nothing when it fits.
std::optional<Dimension> FindShortfall(const Demand& demand, const Instance& instance);

std::optional<Placement> Place(const Demand& demand, const Cluster& cluster);

// The same rules as the engine's, with each query as a function of this file's instances.
struct Rules {
  std::vector<std::function<bool(const Instance&)>> member_of = {};
  bool distinct_instance = false;
  std::vector<Strategy> strategies = {};
};

int64_t CountTasks(const Instance& instance, const std::string& group);
std::optional<std::string> AttributeValue(const Instance& instance, const std::string& name);

// As above, then the constraints.
std::optional<Dimension> FindShortfall(const Demand& demand, const Instance& instance,
                                       const Rules& rules, const std::string& group);
// Every place as good as the best by the rules: one, but for random, which may choose any of them.
std::vector<Placement> FindBest(const Demand& demand, const Cluster& cluster, const Rules& rules,
                                const std::string& group);
// The same with another order among what the rules leave equal: the lowest first. Of equal ones
// all, by id. Each with the GPUs that it would get without.
using Preference = std::function<std::pair<int64_t, int64_t>(const Instance&)>;
std::vector<Placement> FindBest(const Demand& demand, const Cluster& cluster, const Rules& rules,
                                const std::string& group, const Preference& preference);

// Whatever is promised to more than one task, or beyond what there is; in words. Instances that
// registered anew with less than they hold are for the caller to leave out.
std::vector<std::string> FindOverCommitments(const Instance& instance);

}  // namespace berth::placement::naive

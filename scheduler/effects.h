// Effects: what the core wants done outside. They are carried out only after the changes that came
// with them are durable.
#pragma once

#include <string>
#include <variant>

#include "model/ids.h"
#include "model/task.h"

namespace berth::scheduler {

// Send the task to its instance's agent.
struct StartTaskOnAgent {
  model::TaskRecord task;
};

// Tell the agent that the task should be STOPPED. Also for tasks that the server does not know but
// an agent reports as alive.
struct StopTaskOnAgent {
  model::ClusterName cluster;
  model::InstanceId instance;
  model::TaskId task;
};

// The instance is no longer part of the cluster: close its channel.
struct CloseAgentChannel {
  model::ClusterName cluster;
  model::InstanceId instance;
};

using Effect = std::variant<StartTaskOnAgent, StopTaskOnAgent, CloseAgentChannel>;

}  // namespace berth::scheduler

// Stands in for the agents of instances that were registered as emulated: no container runs, but
// tasks are accepted, reach RUNNING and, when they should stop, STOPPED, by the same commands into
// the core as a real agent's reports. Their containers' runtime ids say that they are not real.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "api/agent_hub.h"
#include "model/ids.h"
#include "model/task.h"
#include "scheduler/effects.h"

namespace berth::api {

class CommandPump;

class EmulatedAgents final : public AgentLink {
 public:
  // Outlives it.
  explicit EmulatedAgents(CommandPump& pump) : pump_(pump) {}

  // Takes up an instance after a restart: what it should start and stop, and what it runs.
  void Resume(const model::ClusterName& cluster, const model::InstanceId& instance);

  size_t running() const;

  // AgentLink:
  void Deliver(scheduler::Effect effect) override;
  void Replaced() override {}
  void GoAway() override {}
  void KeyRevoked(const std::string&) override {}

 private:
  void Start(const model::TaskRecord& task);
  void Stop(const model::ClusterName& cluster, const model::TaskId& task);
  void Forget(const model::InstanceId& instance);
  std::vector<model::NetworkBinding> BindPorts(const model::Task& task, size_t container);

  CommandPump& pump_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<model::TaskId, model::TaskRecord> running_ ABSL_GUARDED_BY(mutex_);
  // The next port for mappings that leave the choice to the agent.
  absl::flat_hash_map<model::InstanceId, int64_t> next_port_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth::api
